//! The open connections of a server: how many there may be, and which are closed when.
//!
//! A connection must send a whole request soon after it was opened, and again after each idle time. An
//! idle connection is closed, which frees its slot. If all slots are used, a new connection replaces the
//! oldest one that no known caller has used. So unknown callers cannot lock known callers out, however
//! many connections they open.

mod connection_table;
mod guarded_listener;
mod guarded_stream;
mod request_tracking;

use std::time::Duration;

pub(super) use connection_table::{Connection, Connections};
pub(super) use guarded_listener::GuardedListener;
pub(crate) use request_tracking::mark_caller_authenticated;
pub(super) use request_tracking::{ConnectionInfo, connection_info, track_requests};

/// Time limits of clients, and how many connections there may be at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// Open connections. The descriptor limit of the process also bounds this.
    pub max: usize,
    /// From the first byte of a request, or the opening of the connection, to the end of its head.
    pub header_timeout: Duration,
    /// From the end of a request's head to the end of its body.
    pub body_timeout: Duration,
    /// How long a connection may be idle between two requests, or not read its answer. A connection with
    /// an open stream or an unanswered request is not idle.
    pub idle_timeout: Duration,
}

/// Limit (HTTP): open connections; `[server] max_connections`.
const CONNECTIONS_MAX_DEFAULT: usize = 4_096;

/// A request head is a few hundred bytes: even a slow line delivers it in this time.
///
/// Limit (HTTP): time for the head of a request; `[server] header_timeout`.
const HEADER_TIMEOUT_DEFAULT: Duration = Duration::from_secs(10);

/// Ten megabytes at a megabit per second.
///
/// Limit (HTTP): time for the body of a request; `[server] body_timeout`.
const BODY_TIMEOUT_DEFAULT: Duration = Duration::from_secs(90);

/// Longer than load balancers keep a quiet connection by default, so that the balancer closes it and not
/// this server.
///
/// Limit (HTTP): time that a connection may be quiet; `[server] idle_timeout`.
const IDLE_TIMEOUT_DEFAULT: Duration = Duration::from_secs(120);

/// Descriptors that connections leave to the store, to push notifications, models and tools.
///
/// Limit (HTTP): file descriptors that connections leave free.
const DESCRIPTORS_RESERVED: u64 = 256;

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self {
            max: CONNECTIONS_MAX_DEFAULT,
            header_timeout: HEADER_TIMEOUT_DEFAULT,
            body_timeout: BODY_TIMEOUT_DEFAULT,
            idle_timeout: IDLE_TIMEOUT_DEFAULT,
        }
    }
}

impl ConnectionLimits {
    /// The same, with no more connections than this process has descriptors for.
    pub(super) fn cap_to_file_descriptors(self) -> Self {
        let max = self.max.min(max_connections_for_descriptors(raise_descriptor_limit())).max(1);
        if max < self.max {
            tracing::warn!(max, wanted = self.max, "fewer connections: the process may not open more files");
        }
        Self { max, ..self }
    }
}

/// Connections that a process with so many descriptors can have. With very few descriptors, it is a
/// quarter of them.
fn max_connections_for_descriptors(descriptors: u64) -> usize {
    let most = descriptors.saturating_sub(DESCRIPTORS_RESERVED).max(descriptors / 4);
    usize::try_from(most).unwrap_or(usize::MAX)
}

/// Raises the limit of open files as far as the process may, and returns the new limit.
#[cfg(unix)]
fn raise_descriptor_limit() -> u64 {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current != maximum && setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).is_ok() {
        return maximum.unwrap_or(u64::MAX);
    }
    current.unwrap_or(u64::MAX)
}

#[cfg(not(unix))]
fn raise_descriptor_limit() -> u64 {
    u64::MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves X5: the store can always open its files.
    #[test]
    fn connections_leave_descriptors_to_the_rest_of_the_process() {
        for (descriptors, most) in [(64, 16), (256, 64), (1_024, 768), (65_536, 65_280)] {
            assert_eq!(max_connections_for_descriptors(descriptors), most, "of {descriptors}");
        }
    }
}
