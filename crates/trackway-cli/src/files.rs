//! Open files: every connection is one, and the usual bound of a process is a thousand.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the bound as far as this process may. A server on a machine that allows no more serves as
/// many connections as it can.
pub(crate) fn allow_many() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current != maximum {
        let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    }
}
