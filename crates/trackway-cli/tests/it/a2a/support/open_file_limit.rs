//! Open files: a thousand connections are more than many systems allow a process by default.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Allows this process, and the servers that it starts from now on, this many connections at once.
pub(crate) fn allow_connections(count: u64) {
    // The data folder, the libraries, the test's own pipes.
    let wanted = count + 256;
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current.is_some_and(|current| current < wanted) {
        setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum })
            .expect("the hard limit of open files leaves room for the test");
    }
}
