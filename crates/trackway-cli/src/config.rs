//! `trackway.toml`: what an operator says once, instead of at every start.
//!
//! `file` is the file as it is written, `reader` finds where in it something is wrong, and here it
//! becomes the values that commands use. Whatever is not understood is an error: a setting that is
//! silently ignored is worse than none.

mod file;
mod reader;
mod sections;

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use trackway::{Auth, Secret};

use crate::{exit::Exit, failure::Failure};

const FILE: &str = "trackway.toml";

/// Everything that can be configured, checked.
#[derive(Debug, Default)]
pub(crate) struct Config {
    pub(crate) auth: Auth,
    pub(crate) outgoing: Outgoing,
    pub(crate) push: Push,
    pub(crate) server: Limits,
    pub(crate) a2a: A2a,
    pub(crate) mcp: Mcp,
    pub(crate) workflows: Workflows,
    pub(crate) retention: Retention,
}

/// `[retention]`: how long sessions are kept.
#[derive(Debug, PartialEq)]
pub(crate) struct Retention {
    /// None where they are kept for ever.
    pub(crate) older_than: Option<Duration>,
}

/// `[mcp]`: what agents may do.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Mcp {
    /// Record notes without advancing.
    pub(crate) checkpoints: bool,
    /// Also on a whole session.
    pub(crate) session_checkpoints: bool,
}

/// `[workflows]`: where the written workflows are.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Workflows {
    pub(crate) folders: Option<Vec<PathBuf>>,
}

/// `[outgoing]`: whom the server may call.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Outgoing {
    /// Addresses of this machine are allowed.
    pub(crate) allow_loopback: bool,
}

/// `[push]`: notifications to clients.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Push {
    /// With which bodies are signed.
    pub(crate) secret: Option<Secret>,
}

/// `[server]`: what a request may cost.
#[derive(Debug, PartialEq)]
pub(crate) struct Limits {
    pub(crate) body_max_bytes: usize,
}

/// `[a2a]`: how the door presents itself.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct A2a {
    /// The agent at the addresses that name none.
    pub(crate) default_agent: Option<String>,
    /// With which cards are signed.
    pub(crate) signing: Option<Signing>,
    /// gRPC clients may ask which services there are.
    pub(crate) grpc_reflection: bool,
}

/// A private key, and the name by which others find its public half.
#[derive(Debug, PartialEq)]
pub(crate) struct Signing {
    /// PEM of the private key itself.
    pub(crate) key_pem: Secret,
    pub(crate) key_id: String,
}

impl Default for Limits {
    fn default() -> Self {
        // Room for a document of some megabytes in base64; as on every door.
        Self { body_max_bytes: 10 * 1024 * 1024 }
    }
}

/// Days for which finished sessions are kept unless something else is said.
const RETENTION_DAYS: u64 = 60;

impl Retention {
    fn days(days: u64) -> Self {
        Self { older_than: Some(Duration::from_secs(days.saturating_mul(24 * 60 * 60))) }
    }
}

impl Default for Retention {
    fn default() -> Self {
        Self::days(RETENTION_DAYS)
    }
}

impl Config {
    /// What the file in this folder says, or in the current one. Without a file everything is as it is
    /// by default; a folder that was named must be there.
    pub(crate) fn load(workspace: Option<&Path>) -> Result<Self, Failure> {
        // A variable that is set to nothing is not set.
        let named = workspace.filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = named.filter(|folder| !folder.is_dir()) {
            return Err(Failure::new(format!("there is no folder {}", folder.display()))
                .hint("--workspace and TRACKWAY_WORKSPACE name the folder with trackway.toml")
                .exit(Exit::Usage));
        }
        let folder = named.unwrap_or(Path::new(""));
        let path = folder.join(FILE);
        match fs::read_to_string(&path) {
            Ok(text) => Self::parse(&path, folder, &text, &variable),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => {
                Err(Failure::new(format!("{} cannot be read", path.display())).cause(&error))
            }
        }
    }

    /// The file's text as values. `folder` is where relative paths begin.
    fn parse(
        path: &Path,
        folder: &Path,
        text: &str,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, Failure> {
        let reader = reader::Reader { path, folder, text, variable };
        let file: file::File = toml::from_str(text).map_err(|error| reader.misread(&error))?;
        sections::config(&reader, file)
    }
}

#[expect(clippy::disallowed_methods, reason = "this is where `${env:NAME}` is read")]
fn variable(name: &str) -> Option<String> {
    env::var(name).ok()
}

#[cfg(test)]
mod tests;
