//! `trackway mcp`: serves workflow files to the agent that started this process.
//!
//! The folder is not locked: a server and any number of these processes may use it at the same time.
//! Only the protocol goes to stdout, and the process ends when its stdin ends.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use trackway_mcp::{Door, KeyRing, Switches};
use trackway_ports::{Clock as _, Faults, Journal, NoFaults};
use trackway_runtime::{Catalogue, Guide, GuideOptions, SystemClock, SystemIds};
use trackway_sqlite::SqliteJournal;

use crate::{
    args::{Folders, Mcp, Switch, Written},
    config::Config,
    exit::Exit,
    failure::Failure,
    fault::Crash,
    workspace::WORKFLOWS,
};

pub(super) async fn mcp(args: Mcp) -> Result<Exit, Failure> {
    let config = Config::load(args.workspace.as_deref())?;
    let faults: Arc<dyn Faults> = match args.testing.fault {
        Some(point) => Arc::new(Crash::at(point)),
        None => Arc::new(NoFaults),
    };
    let data = &args.data.folder;
    // The store first: it creates the folder if it is missing.
    let store = trackway_sqlite::Options { faults: faults.clone(), ..Default::default() };
    let journal: Arc<dyn Journal> = Arc::new(SqliteJournal::open_with(data, store)?);
    let ring = KeyRing::open(data, SystemClock.now()).map_err(|error| Failure::of(&error))?;
    let guide = Guide::new(GuideOptions {
        journal: journal.clone(),
        catalogue: Arc::new(catalogue(&args.written.folders, &config, args.workspace.as_deref())),
        clock: Arc::new(SystemClock),
        ids: Arc::new(SystemIds),
        faults,
    });
    let door = Door::new(guide, Arc::new(ring), switches(&args.written, &config));
    let served = door.serve_stdio().await;
    journal.close().await;
    served.map_err(|error| Failure::of(&error))?;
    Ok(Exit::Done)
}

fn catalogue(named: &Folders, config: &Config, workspace: Option<&Path>) -> Catalogue {
    let folders = folders(named, config, workspace);
    if are_named(named, config) { Catalogue::named(folders) } else { Catalogue::new(folders) }
}

/// The named folders, else those of the configuration, else the default folder next to it.
pub(super) fn folders(named: &Folders, config: &Config, workspace: Option<&Path>) -> Vec<PathBuf> {
    let folders = match &config.workflows.folders {
        _ if !named.workflows.is_empty() => &named.workflows,
        Some(folders) => folders,
        None => return vec![workspace.unwrap_or(Path::new("")).join(WORKFLOWS)],
    };
    for absent in folders.iter().filter(|folder| !folder.exists()) {
        tracing::warn!(folder = %absent.display(), "there is no such folder of workflows");
    }
    folders.clone()
}

/// Whether the user named the folders. A missing default folder is not reported.
pub(super) fn are_named(named: &Folders, config: &Config) -> bool {
    !named.workflows.is_empty() || config.workflows.folders.is_some()
}

pub(super) fn switches(written: &Written, config: &Config) -> Switches {
    let on = |said: Option<Switch>, configured| match said {
        Some(said) => said == Switch::On,
        None => configured,
    };
    Switches {
        checkpoints: on(written.checkpoints, config.mcp.checkpoints),
        session_checkpoints: on(written.session_checkpoints, config.mcp.session_checkpoints),
    }
}
