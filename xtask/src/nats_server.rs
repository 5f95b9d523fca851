//! The NATS server that the tests of the mesh start: the system's, installed if it is missing.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::process::{env_var, program, run, succeeds};

/// The variable that the tests read. If you set it yourself, its value is used and nothing is installed.
pub(crate) const VARIABLE: &str = "TRACKWAY_TEST_NATS_SERVER";

/// Where it may be; a folder for administrators is not in everybody's search path.
const CANDIDATES: [&str; 3] = ["nats-server", "/usr/sbin/nats-server", "/usr/local/bin/nats-server"];

/// The server, after installing Debian's package if there is none.
pub(crate) fn ensure() -> Result<PathBuf> {
    if let Some(given) = env_var(VARIABLE) {
        return Ok(given.into());
    }
    if let Some(found) = find() {
        return Ok(found);
    }
    eprintln!("nats-server is missing. Installing it with apt-get, once.");
    // A fresh machine has no list of packages yet.
    let installed = run(program("apt-get").arg("update"))
        .and_then(|()| run(program("apt-get").args(["install", "--yes", "nats-server"])));
    match (installed, find()) {
        (_, Some(found)) => Ok(found),
        (Err(error), None) => bail!(
            "nats-server could not be installed ({error:#}); install it yourself, or set {VARIABLE} to it"
        ),
        (Ok(()), None) => bail!("nats-server was installed and is not found; set {VARIABLE} to it"),
    }
}

fn find() -> Option<PathBuf> {
    let runs = |candidate: &&Path| succeeds(program(candidate).arg("--version"));
    CANDIDATES.iter().map(Path::new).find(runs).map(Path::to_owned)
}
