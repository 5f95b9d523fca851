//! A server in this process, with everything that its workspace has: what was begun with an agent goes on
//! with it, whichever command drives it.

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

/// The bundled programs and the written workflows, and who reads the agents that work beside them.
pub(super) fn workflows(
    workspace: Option<&Path>,
    folders: &Folders,
    data: &Path,
) -> Result<(Server, Loader), Failure> {
    let folder = config::folder(workspace)?;
    // What is wrong with it is told by the loader.
    let (config, _) = Config::read(folder, &config::variable);
    let folders = mcp::folders(folders, &config, workspace);
    let (data, allow_loopback) = (data.to_owned(), config.outgoing.allow_loopback);
    let make = {
        let folders = folders.clone();
        move || programs::bundled(&data).workflows(&folders).allow_loopback_targets(allow_loopback)
    };
    Ok((make(), Loader::new(folder, &folders, make)))
}

/// The same with the agents as they are now.
pub(super) fn all(
    workspace: Option<&Path>,
    folders: &Folders,
    data: &Path,
) -> Result<Server, Failure> {
    let (server, mut loader) = workflows(workspace, folders, data)?;
    Ok(server.agents(loader.load()?))
}
