//! A server in this process, with the whole workspace: a run that began with an agent continues with that
//! agent, whichever command drives it.

use std::path::Path;

use trackway::Server;

use super::mcp;
use crate::{
    args::Folders,
    config::{self, Config},
    failure::Failure,
    programs,
    workspace::follow::Loader,
};

/// A server with the bundled programs and the workflow files, and the loader of the workspace's agents.
pub(super) fn workflows(
    workspace: Option<&Path>,
    folders: &Folders,
    data: &Path,
) -> Result<(Server, Loader), Failure> {
    let folder = config::folder(workspace)?;
    // The loader reports the findings.
    let (config, _) = Config::read(folder, &config::variable);
    let folders = mcp::folders(folders, &config, workspace);
    let (data, allow_loopback) = (data.to_owned(), config.outgoing.allow_loopback);
    let make = {
        let folders = folders.clone();
        move || programs::bundled(&data).workflows(&folders).allow_loopback_targets(allow_loopback)
    };
    Ok((make(), Loader::new(folder, &folders, make)))
}

/// The same with the current agents.
pub(super) fn all(
    workspace: Option<&Path>,
    folders: &Folders,
    data: &Path,
) -> Result<Server, Failure> {
    let (server, mut loader) = workflows(workspace, folders, data)?;
    Ok(server.agents(loader.load()?))
}
