//! Protocol sessions of the older revisions belong to whoever opened them. What a client gets to see of
//! a session's id ends with a code over the id and the caller: somebody else who sends it is told that
//! there is no such session. Nothing is remembered for that, so nothing has to be forgotten.

use std::fmt;

use data_encoding::HEXLOWER;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use trackway_domain::Caller;

/// The header that names a protocol session.
pub(super) const HEADER: &str = "mcp-session-id";

/// Knows whose session an id is. Sessions end with the process, and so does the key.
pub(super) struct Sessions {
    /// None where the operating system gave no random numbers: then no session is anybody's.
    key: Option<[u8; 32]>,
}

impl Sessions {
    pub(super) fn new() -> Self {
        let mut key = [0; 32];
        match getrandom::fill(&mut key) {
            Ok(()) => Self { key: Some(key) },
            Err(error) => {
                tracing::error!(%error, "no random numbers; clients with sessions are refused");
                Self { key: None }
            }
        }
    }

    /// What this caller gets to see of the id.
    pub(super) fn shown(&self, id: &str, caller: &Caller) -> Option<String> {
        let code = self.mac(id, caller)?.finalize().into_bytes();
        Some(format!("{id}.{}", HEXLOWER.encode(&code)))
    }

    /// The id, where this caller opened the session.
    pub(super) fn opened<'a>(&self, shown: &'a str, caller: &Caller) -> Option<&'a str> {
        let (id, code) = shown.rsplit_once('.')?;
        let code = HEXLOWER.decode(code.as_bytes()).ok()?;
        self.mac(id, caller)?.verify_slice(&code).ok()?;
        Some(id)
    }

    fn mac(&self, id: &str, caller: &Caller) -> Option<Hmac<Sha256>> {
        let mut mac = Hmac::<Sha256>::new_from_slice(self.key.as_ref()?).ok()?;
        for part in [id, &*caller.tenant, &*caller.user] {
            // With its length, so that no two lists of parts are the same bytes.
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part.as_bytes());
        }
        Some(mac)
    }
}

/// Without the key.
impl fmt::Debug for Sessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sessions").finish_non_exhaustive()
    }
}
