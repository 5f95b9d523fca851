//! The table of open connections, and the state of each.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use futures_util::task::AtomicWaker;
use tokio::sync::Notify;

use super::ConnectionLimits;

/// The open connections of a server, on all its listeners.
#[derive(Debug)]
pub(in crate::server) struct Connections {
    pub(super) limits: ConnectionLimits,
    /// A std mutex: it is held only for lookups.
    table: Mutex<ConnectionTable>,
    /// Notified when a connection has been closed.
    pub(super) closed: Notify,
}

/// By number: the oldest comes first.
#[derive(Debug, Default)]
struct ConnectionTable {
    next: u64,
    /// Connections that no known caller has used.
    unauthenticated: BTreeMap<u64, Weak<Connection>>,
    authenticated: BTreeMap<u64, Weak<Connection>>,
}

impl ConnectionTable {
    fn connection_count(&self) -> usize {
        self.unauthenticated.len() + self.authenticated.len()
    }

    /// The connection that a new one replaces: the oldest of unknown callers, otherwise the one that has
    /// been idle for longest. None if known callers are busy on all of them.
    fn connection_to_evict(&self) -> Option<Arc<Connection>> {
        let mut strangers = self.unauthenticated.values().filter_map(Weak::upgrade);
        if let Some(oldest) = strangers.find(|connection| !connection.is_connection_closing()) {
            return Some(oldest);
        }
        let known = self.authenticated.values().filter_map(Weak::upgrade);
        let quiet = known.filter(|connection| !connection.is_connection_closing());
        let quiet = quiet.filter_map(|connection| Some((connection.idle_since()?, connection)));
        quiet.min_by_key(|(since, _)| *since).map(|(_, connection)| connection)
    }
}

impl Connections {
    pub(in crate::server) fn new(limits: ConnectionLimits) -> Arc<Self> {
        Arc::new(Self { limits, table: Mutex::default(), closed: Notify::new() })
    }

    /// A slot for a new connection. If all are used, another connection is closed for it. None if known
    /// callers are busy on every one.
    pub(super) async fn admit_connection(self: &Arc<Self>) -> Option<Arc<Connection>> {
        loop {
            let closed = self.closed.notified();
            {
                let mut table = self.lock_table();
                if table.connection_count() < self.limits.max {
                    return Some(self.add_connection(&mut table));
                }
                let victim = table.connection_to_evict()?;
                drop(table);
                victim.close_connection();
            }
            closed.await;
        }
    }

    /// Closes a connection that is not needed, to free its descriptor.
    pub(super) fn evict_connection(&self) {
        let victim = self.lock_table().connection_to_evict();
        if let Some(victim) = victim {
            victim.close_connection();
        }
    }

    fn add_connection(self: &Arc<Self>, table: &mut ConnectionTable) -> Arc<Connection> {
        table.next += 1;
        let connection = Arc::new(Connection {
            number: table.next,
            connections: self.clone(),
            is_known: AtomicBool::new(false),
            is_closing: AtomicBool::new(false),
            task: AtomicWaker::new(),
            state: Mutex::new(ConnectionActivity::new(Instant::now())),
        });
        table.unauthenticated.insert(connection.number, Arc::downgrade(&connection));
        connection
    }

    fn lock_table(&self) -> MutexGuard<'_, ConnectionTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One open connection. Its slot is free when the last reference is gone.
#[derive(Debug)]
pub(in crate::server) struct Connection {
    number: u64,
    connections: Arc<Connections>,
    is_known: AtomicBool,
    is_closing: AtomicBool,
    /// Wakes the task that reads from it and writes to it.
    task: AtomicWaker,
    /// A std mutex: it is held for a few assignments.
    state: Mutex<ConnectionActivity>,
}

#[derive(Debug)]
struct ConnectionActivity {
    opened: Instant,
    /// Requests whose answers are not complete.
    requests: u32,
    /// At least one whole request has arrived.
    served: bool,
    /// HTTP/2: frames other than requests do not keep the connection open.
    multiplexed: bool,
    quiet_since: Instant,
    /// When the first byte of the next request arrived.
    head_since: Option<Instant>,
    /// Since when the other side has not read what it was sent.
    blocked_since: Option<Instant>,
    /// When the limits are checked next, unless an event comes earlier.
    alarm: Instant,
}

impl ConnectionActivity {
    fn new(now: Instant) -> Self {
        Self {
            opened: now,
            requests: 0,
            served: false,
            multiplexed: false,
            quiet_since: now,
            head_since: None,
            blocked_since: None,
            alarm: now,
        }
    }

    /// When to check the connection again, unless an event comes earlier. By then it is over its time
    /// limit, or it was busy in between.
    fn time_limit_deadline(&self, limits: &ConnectionLimits, now: Instant) -> Instant {
        let ConnectionLimits { header_timeout, idle_timeout, .. } = *limits;
        let reading = match (self.requests, self.served, self.head_since) {
            (1.., _, _) => now + idle_timeout,
            (0, false, _) => self.opened + header_timeout,
            (0, true, Some(head)) => head + header_timeout,
            (0, true, None) => self.quiet_since + idle_timeout,
        };
        let writing = self.blocked_since.map(|since| since + idle_timeout);
        writing.map_or(reading, |writing| writing.min(reading))
    }
}

impl Connection {
    pub(super) fn connection_limits(&self) -> &ConnectionLimits {
        &self.connections.limits
    }

    /// Records that a known caller uses it.
    pub(super) fn mark_connection_authenticated(self: &Arc<Self>) {
        if self.is_known.swap(true, Ordering::Relaxed) {
            return;
        }
        let mut table = self.connections.lock_table();
        if let Some(connection) = table.unauthenticated.remove(&self.number) {
            table.authenticated.insert(self.number, connection);
        }
    }

    /// Closes it: the task that reads from it is woken and ends it.
    pub(super) fn close_connection(&self) {
        self.is_closing.store(true, Ordering::Release);
        self.task.wake();
    }

    pub(super) fn is_connection_closing(&self) -> bool {
        self.is_closing.load(Ordering::Acquire)
    }

    pub(super) fn register_waker(&self, task: &std::task::Waker) {
        self.task.register(task);
    }

    /// When it will be over its time limit, judged by its current state. The caller checks again then, or
    /// when the alarm that is already set goes off.
    pub(super) fn time_limit_deadline(&self, now: Instant, alarm: Option<Instant>) -> Instant {
        let mut state = self.lock_activity();
        let deadline = state.time_limit_deadline(self.connection_limits(), now);
        state.alarm = alarm.map_or(deadline, |alarm| alarm.min(deadline));
        deadline
    }

    pub(super) fn on_bytes_received(&self) {
        let mut state = self.lock_activity();
        if state.requests == 0 && state.served && !state.multiplexed && state.head_since.is_none() {
            state.head_since = Some(Instant::now());
        }
    }

    pub(super) fn set_write_blocked(&self, blocked: bool) {
        let mut state = self.lock_activity();
        match (blocked, state.blocked_since) {
            (true, None) => state.blocked_since = Some(Instant::now()),
            (false, Some(_)) => state.blocked_since = None,
            (true, Some(_)) | (false, None) => {}
        }
    }

    /// Records a request, which lasts until the guard is dropped.
    pub(super) fn begin_request(self: &Arc<Self>, multiplexed: bool) -> RequestGuard {
        let mut state = self.lock_activity();
        state.requests += 1;
        state.served = true;
        state.multiplexed = multiplexed;
        state.head_since = None;
        RequestGuard(self.clone())
    }

    /// None while an answer is not complete.
    fn idle_since(&self) -> Option<Instant> {
        let state = self.lock_activity();
        (state.requests == 0).then_some(state.quiet_since)
    }

    fn lock_activity(&self) -> MutexGuard<'_, ConnectionActivity> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let mut table = self.connections.lock_table();
        table.unauthenticated.remove(&self.number);
        table.authenticated.remove(&self.number);
        drop(table);
        self.connections.closed.notify_waiters();
    }
}

/// A request that is under way.
#[derive(Debug)]
pub(super) struct RequestGuard(Arc<Connection>);

impl Drop for RequestGuard {
    fn drop(&mut self) {
        let mut state = self.0.lock_activity();
        state.requests = state.requests.saturating_sub(1);
        if state.requests == 0 {
            let now = Instant::now();
            state.quiet_since = now;
            // The reading task need not check again after a request, and would check too late.
            let is_late = state.time_limit_deadline(self.0.connection_limits(), now) < state.alarm;
            drop(state);
            if is_late {
                self.0.task.wake();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const LIMITS: ConnectionLimits = ConnectionLimits {
        max: 2,
        header_timeout: Duration::from_secs(1),
        body_timeout: Duration::from_secs(2),
        idle_timeout: Duration::from_secs(5),
    };

    /// Proves X5.
    #[test]
    fn deadline_follows_what_the_connection_does() {
        let begin = Instant::now();
        let after = |seconds| begin + Duration::from_secs(seconds);
        let mut state = ConnectionActivity::new(begin);
        let seen = |state: &ConnectionActivity| state.time_limit_deadline(&LIMITS, after(100));
        assert_eq!(seen(&state), after(1), "nothing came yet");
        (state.requests, state.served) = (1, true);
        assert_eq!(seen(&state), after(105), "a request is not idle, however long it takes");
        (state.requests, state.quiet_since) = (0, after(10));
        assert_eq!(seen(&state), after(15), "between two requests");
        state.head_since = Some(after(11));
        assert_eq!(seen(&state), after(12), "half a head");
        state.head_since = None;
        state.requests = 1;
        state.blocked_since = Some(after(20));
        assert_eq!(seen(&state), after(25), "it does not read what it is sent");
    }

    /// Proves X5.
    #[tokio::test]
    async fn new_connection_evicts_the_oldest_unauthenticated_one() {
        let connections = Connections::new(LIMITS);
        let known = connections.admit_connection().await.unwrap();
        known.mark_connection_authenticated();
        let stranger = connections.admit_connection().await.unwrap();
        let (new, ()) = tokio::join!(connections.admit_connection(), async {
            assert!(stranger.is_connection_closing() && !known.is_connection_closing());
            drop(stranger);
        });
        let new = new.unwrap();
        new.mark_connection_authenticated();
        // If all callers are known, the idle connection is closed; a busy one never is.
        let (busy, also) = (known.begin_request(false), new.begin_request(false));
        assert!(connections.admit_connection().await.is_none());
        drop(also);
        let (third, ()) = tokio::join!(connections.admit_connection(), async {
            assert!(new.is_connection_closing());
            drop(new);
        });
        assert!(third.is_some() && !known.is_connection_closing());
        drop(busy);
    }
}
