//! Protocol sessions of the older revisions: how many there are, and whose they are.
//!
//! Each session costs some memory until it has been silent for hours. Their number is therefore limited,
//! for one caller and for all callers: a new session replaces the least recently used one. The client of
//! that one gets the answer that the session does not exist, and opens a new one. Runs are not affected.
//!
//! A session belongs to the caller that opened it. The id that a client sees ends with a code over the id
//! and the caller. Another caller that sends it gets the answer that the session does not exist.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use axum::http::HeaderValue;

use data_encoding::HEXLOWER;
use hmac::{Hmac, KeyInit as _, Mac as _};
use rmcp::transport::streamable_http_server::session::{SessionManager as _, local::LocalSessionManager};
use sha2::Sha256;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use trackway_domain::{Caller, ErrorCode};

use crate::refusal::ToolRefusal;

/// A session is some 55 KB: together they stay below 30 MB.
///
/// Limit (MCP): protocol sessions of all callers.
const SESSIONS_MAX: usize = 512;

/// One caller cannot use up the sessions of the others.
///
/// Limit (MCP): protocol sessions of one caller.
const SESSIONS_OF_CALLER_MAX: usize = 128;

/// A call is in memory until it is answered, and a call that waits for a user stays after its client
/// disconnects. Answered calls are not kept, so nothing else of a session grows.
///
/// Limit (MCP): calls of one protocol session under way at once.
pub(super) const CALLS_OF_SESSION_MAX: usize = 32;

/// Twice the largest accepted call with everything that it may contain.
///
/// Limit (MCP): bytes of the calls of one protocol session under way at once.
pub(super) const SESSION_BYTES_MAX: u32 = 4 * 1024 * 1024;

/// The header that names a protocol session.
pub(super) const SESSION_ID_HEADER: &str = "mcp-session-id";

/// Knows which caller owns a session id. Sessions end with the process, and so does the key.
pub(super) struct ProtocolSessions {
    /// None if the operating system gave no random numbers: then no caller owns a session.
    key: Option<[u8; 32]>,
    manager: Arc<LocalSessionManager>,
    /// A std mutex: it is locked only for a lookup.
    open: Mutex<OpenProtocolSessions>,
}

/// The sessions that are open, by id.
#[derive(Default)]
struct OpenProtocolSessions {
    /// Counts uses: the session with the lowest number is the least recently used one.
    uses: u64,
    sessions: HashMap<String, OpenProtocolSession>,
}

struct OpenProtocolSession {
    caller: Caller,
    used: u64,
    calls: SessionCallLimit,
}

/// The calls and bytes that a session may still have under way.
#[derive(Debug, Clone)]
pub(crate) struct SessionCallLimit {
    calls: Arc<Semaphore>,
    bytes: Arc<Semaphore>,
}

/// Capacity for one call, released on drop.
#[derive(Debug)]
pub(crate) struct CallPermit {
    _call: OwnedSemaphorePermit,
    _bytes: OwnedSemaphorePermit,
}

impl SessionCallLimit {
    fn new() -> Self {
        Self {
            calls: Arc::new(Semaphore::new(CALLS_OF_SESSION_MAX)),
            bytes: Arc::new(Semaphore::new(SESSION_BYTES_MAX as usize)),
        }
    }

    /// Capacity for a call of this size. A call that is larger than the whole capacity takes all of it; the
    /// reader of the call reports that it is too large.
    pub(crate) fn acquire_call_permit(&self, bytes: usize) -> Result<CallPermit, ToolRefusal> {
        let bytes = u32::try_from(bytes).map_or(SESSION_BYTES_MAX, |it| it.min(SESSION_BYTES_MAX));
        let call = self.calls.clone().try_acquire_owned();
        let bytes = self.bytes.clone().try_acquire_many_owned(bytes);
        match (call, bytes) {
            (Ok(call), Ok(bytes)) => Ok(CallPermit { _call: call, _bytes: bytes }),
            _ => {
                let message = format!(
                    "this session has too many calls that are not answered yet: at most \
                     {CALLS_OF_SESSION_MAX}, and {SESSION_BYTES_MAX} bytes of them"
                );
                let next = "Wait for the answer to one of them, then send the same call again.";
                let refusal = ToolRefusal::new(ErrorCode::InvalidRequest, message, next);
                Err(ToolRefusal { retryable: true, ..refusal })
            }
        }
    }
}

impl OpenProtocolSessions {
    /// Adds a session. Returns the sessions that must be closed for it.
    fn insert_session_and_evict_oldest(&mut self, id: &str, caller: &Caller) -> Vec<String> {
        self.uses += 1;
        let calls = SessionCallLimit::new();
        let session = OpenProtocolSession { caller: caller.clone(), used: self.uses, calls };
        self.sessions.insert(id.to_owned(), session);
        let is_own = |session: &OpenProtocolSession| session.caller == *caller;
        let own = self.sessions.values().filter(|session| is_own(session)).count();
        let mut gone = Vec::new();
        if own > SESSIONS_OF_CALLER_MAX {
            gone.extend(self.remove_least_recently_used_session(is_own));
        }
        if self.sessions.len() > SESSIONS_MAX {
            gone.extend(self.remove_least_recently_used_session(|_| true));
        }
        gone
    }

    fn remove_least_recently_used_session(
        &mut self,
        is_removable: impl Fn(&OpenProtocolSession) -> bool,
    ) -> Option<String> {
        let all = self.sessions.iter().filter(|(_, session)| is_removable(session));
        let oldest = all.min_by_key(|(_, session)| session.used).map(|(id, _)| id.clone())?;
        self.sessions.remove(&oldest);
        Some(oldest)
    }

    fn touch_or_remove_session(&mut self, id: &str, ends_session: bool) -> Option<SessionCallLimit> {
        self.uses += 1;
        if ends_session {
            self.sessions.remove(id);
            return None;
        }
        let session = self.sessions.get_mut(id)?;
        session.used = self.uses;
        Some(session.calls.clone())
    }
}

impl ProtocolSessions {
    pub(super) fn new(manager: Arc<LocalSessionManager>) -> Self {
        let mut key = [0; 32];
        let key = match getrandom::fill(&mut key) {
            Ok(()) => Some(key),
            Err(error) => {
                tracing::error!(%error, "no random numbers; clients with sessions are refused");
                None
            }
        };
        Self { key, manager, open: Mutex::default() }
    }

    /// Registers an opened session. Closes the sessions that it replaces.
    pub(super) async fn register_session(&self, id: &str, caller: &Caller) {
        let gone = self.lock_open_sessions().insert_session_and_evict_oldest(id, caller);
        for id in gone {
            // A session that has already ended needs no close.
            let _ = self.manager.close_session(&id.into()).await;
        }
    }

    /// Marks a session as used, or ends it. Returns its capacity for calls.
    pub(super) fn touch_or_end_session(
        &self,
        id: &HeaderValue,
        ends_session: bool,
    ) -> Option<SessionCallLimit> {
        self.lock_open_sessions().touch_or_remove_session(id.to_str().ok()?, ends_session)
    }

    fn lock_open_sessions(&self) -> MutexGuard<'_, OpenProtocolSessions> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The form of the id that this caller sees.
    pub(super) fn sign_session_id(&self, id: &str, caller: &Caller) -> Option<String> {
        let code = self.session_id_mac(id, caller)?.finalize().into_bytes();
        Some(format!("{id}.{}", HEXLOWER.encode(&code)))
    }

    /// The id, if this caller opened the session.
    pub(super) fn verify_session_id<'a>(&self, public_id: &'a str, caller: &Caller) -> Option<&'a str> {
        let (id, code) = public_id.rsplit_once('.')?;
        let code = HEXLOWER.decode(code.as_bytes()).ok()?;
        self.session_id_mac(id, caller)?.verify_slice(&code).ok()?;
        Some(id)
    }

    fn session_id_mac(&self, id: &str, caller: &Caller) -> Option<Hmac<Sha256>> {
        let mut mac = Hmac::<Sha256>::new_from_slice(self.key.as_ref()?).ok()?;
        for part in [id, &*caller.tenant, &*caller.user] {
            // Each part comes with its length, so that two different lists never give the same bytes.
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part.as_bytes());
        }
        Some(mac)
    }
}

/// Debug output does not contain the key.
impl fmt::Debug for ProtocolSessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sessions").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves X6: no caller uses up the sessions, or the memory, of the others.
    #[test]
    fn least_recently_used_session_is_evicted() {
        let (ann, bob) = (Caller::new("t", "ann"), Caller::new("t", "bob"));
        let mut open = OpenProtocolSessions::default();
        assert!(open.insert_session_and_evict_oldest("bob", &bob).is_empty());
        for number in 0..SESSIONS_OF_CALLER_MAX {
            assert!(open.insert_session_and_evict_oldest(&format!("ann {number}"), &ann).is_empty());
        }
        open.touch_or_remove_session("ann 0", false);
        assert_eq!(open.insert_session_and_evict_oldest("one more", &ann), ["ann 1"]);
        open.touch_or_remove_session("ann 2", true);
        assert!(open.insert_session_and_evict_oldest("instead", &ann).is_empty());
        let others = (0..).map(|number| Caller::new("t", format!("user {number}").as_str()));
        for (number, other) in others.enumerate().take(2 * SESSIONS_MAX) {
            open.insert_session_and_evict_oldest(&format!("other {number}"), &other);
        }
        assert_eq!(open.sessions.len(), SESSIONS_MAX);
        assert!(open.sessions.contains_key(&format!("other {}", 2 * SESSIONS_MAX - 1)));
    }
}
