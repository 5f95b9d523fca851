//! The servers of the official SDKs, which `cargo xtask bench` installs: the same agent under the same
//! load, in the same run. If one is not installed, its rows are skipped, with the reason.

use std::{
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context, Result};

use crate::server_process::ServerProcess;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OfficialSdk {
    Python,
    JavaScript,
}

impl OfficialSdk {
    pub(crate) const ALL: [Self; 2] = [Self::Python, Self::JavaScript];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Python => "Python SDK, in memory",
            Self::JavaScript => "JS SDK, in memory",
        }
    }

    /// Requests at 16 connections and at one: some seconds each at the measured speed of the SDKs.
    pub(crate) fn request_counts(self) -> (usize, usize) {
        match self {
            Self::Python => (800, 200),
            Self::JavaScript => (4_000, 1_000),
        }
    }

    /// Whether it was installed.
    pub(crate) fn is_prepared(self) -> bool {
        prepared_path(self.env_variable()).is_ok()
    }

    /// The variable in which `cargo xtask bench` names what it installed.
    fn env_variable(self) -> &'static str {
        match self {
            Self::Python => "TRACKWAY_TEST_PYTHON_1_0",
            Self::JavaScript => "TRACKWAY_TEST_JS_1_0",
        }
    }

    /// Its server, with the address of the agent.
    pub(crate) fn start_server(self) -> Result<(ServerProcess, &'static str)> {
        let servers = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/servers");
        let mut command = match self {
            Self::Python => {
                let mut command = Command::new(prepared_path(self.env_variable())?);
                // Nothing is written next to the script, which belongs to the repository.
                command.env("PYTHONDONTWRITEBYTECODE", "1").arg(servers.join("python/server.py"));
                command
            }
            Self::JavaScript => {
                let mut command = Command::new("node");
                let packages = prepared_path(self.env_variable())?;
                // The production server; the default is for developers.
                command.env("NODE_ENV", "production").arg(servers.join("js/server.cjs"));
                command.arg(packages);
                command
            }
        };
        Ok((ServerProcess::start(command.stdin(Stdio::null()))?, "/a2a"))
    }
}

/// The path that `cargo xtask bench` prepared and passes in this variable.
#[expect(clippy::disallowed_methods, reason = "the one place where the benches learn of the SDKs' folders")]
fn prepared_path(variable: &str) -> Result<String> {
    std::env::var(variable)
        .with_context(|| format!("{variable} is not set; `cargo xtask bench` prepares it and sets it"))
}
