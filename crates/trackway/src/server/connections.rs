//! The open connections of a server: how many there are, which of them are closed, and when.
//!
//! A connection must send a whole request soon after it was opened, and again after each time it was
//! quiet. One that does nothing is closed, and its place is free. Where every place is taken, a new
//! connection takes the place of the oldest one that no known caller has used: so strangers cannot keep
//! known callers out, however many connections they open.

mod io;
mod listener;
mod table;
mod track;

use std::time::Duration;

pub(super) use listener::Guarded;
pub(super) use table::{Connection, Connections};
pub(crate) use track::mark_known;
pub(super) use track::{Info, info, track};

/// How long clients may take, and how many of them there may be at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// Open connections. No more than the limit of descriptors of the process permits, whatever is said.
    pub max: usize,
    /// From the first byte of a request, or the opening of the connection, to the end of its head.
    pub header_timeout: Duration,
    /// From the end of a request's head to the end of its body.
    pub body_timeout: Duration,
    /// For which a connection may do nothing between two requests, or not read what it is sent. A stream
    /// that is open, or a request that is not answered yet, is not idle.
    pub idle_timeout: Duration,
}

/// Limit (HTTP): open connections; `[server] max_connections`.
const CONNECTIONS_MAX_DEFAULT: usize = 4_096;

/// A request head is a few hundred bytes: even a slow line has brought it by then.
///
/// Limit (HTTP): time for the head of a request; `[server] header_timeout`.
const HEADER_TIMEOUT_DEFAULT: Duration = Duration::from_secs(10);

/// Ten megabytes at a megabit per second.
///
/// Limit (HTTP): time for the body of a request; `[server] body_timeout`.
const BODY_TIMEOUT_DEFAULT: Duration = Duration::from_secs(90);

/// Longer than load balancers keep a quiet connection by default, so that they close it and not we.
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
    pub(super) fn within_descriptors(self) -> Self {
        let max = self.max.min(most_for(descriptors())).max(1);
        if max < self.max {
            tracing::warn!(
                max,
                wanted = self.max,
                "fewer connections: the process may not open more files"
            );
        }
        Self { max, ..self }
    }
}

/// Connections that a process with so many descriptors can have. Where there are very few, a quarter.
fn most_for(descriptors: u64) -> usize {
    let most = descriptors.saturating_sub(DESCRIPTORS_RESERVED).max(descriptors / 4);
    usize::try_from(most).unwrap_or(usize::MAX)
}

/// Raises the limit of open files as far as this process may; the limit then.
#[cfg(unix)]
fn descriptors() -> u64 {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current != maximum
        && setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).is_ok()
    {
        return maximum.unwrap_or(u64::MAX);
    }
    current.unwrap_or(u64::MAX)
}

#[cfg(not(unix))]
fn descriptors() -> u64 {
    u64::MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves X5: the store can always open its files.
    #[test]
    fn connections_leave_descriptors_to_the_rest_of_the_process() {
        for (descriptors, most) in [(64, 16), (256, 64), (1_024, 768), (65_536, 65_280)] {
            assert_eq!(most_for(descriptors), most, "of {descriptors}");
        }
    }
}
