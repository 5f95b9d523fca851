//! Commands on runs that an outside agent drives. The folder is not locked: agents and a server may use
//! it at the same time.

use std::{path::Path, sync::Arc};

use trackway_domain::{Event, RunId};
use trackway_mcp::KeyRing;
use trackway_ports::{Clock as _, Journal, NoFaults};
use trackway_runtime::{Catalogue, Guide, GuideError, GuideOptions, SystemClock, SystemIds};
use trackway_sqlite::SqliteJournal;

use crate::{args::Folders, commands::mcp, config::Config, failure::Failure, place};

/// A guide on a folder that must exist.
pub(super) struct Desk {
    pub(super) guide: Guide,
    pub(super) ring: KeyRing,
    journal: Arc<dyn Journal>,
}

impl Desk {
    pub(super) fn open(
        data: &Path,
        folders: &Folders,
        workspace: Option<&Path>,
    ) -> Result<Self, Failure> {
        // A mistyped folder is not created.
        drop(place::existing(data)?);
        let journal: Arc<dyn Journal> = Arc::new(SqliteJournal::open(data)?);
        let ring = KeyRing::open(data, SystemClock.now()).map_err(|error| Failure::of(&error))?;
        let folders = mcp::folders(folders, &Config::load(workspace)?, workspace);
        let guide = Guide::new(GuideOptions {
            journal: journal.clone(),
            catalogue: Arc::new(Catalogue::new(folders)),
            clock: Arc::new(SystemClock),
            ids: Arc::new(SystemIds),
            faults: Arc::new(NoFaults),
        });
        Ok(Self { guide, ring, journal })
    }

    pub(super) async fn close(self) {
        self.journal.close().await;
    }
}

/// Whether an outside agent drives this run of a folder; false if there is no such run.
pub(super) async fn is_guided(data: &Path, run: RunId) -> Result<bool, Failure> {
    let journal = place::existing(data)?;
    let first = journal.events(run, 0, 1).await;
    journal.close().await;
    let first = first?.into_iter().next().map(|stored| stored.event);
    Ok(matches!(first, Some(Event::Submitted(submission)) if submission.guided))
}

/// Explains a refusal of the guide to a person.
pub(super) fn refused(error: &GuideError) -> Failure {
    let failure = Failure::of(error).code(error.code().as_str());
    match error {
        GuideError::UnknownNode { .. } => {
            failure.hint("`trackway sessions graph` shows the numbers of its nodes")
        }
        GuideError::UnknownWorkflow { .. } => failure.hint("name its folder with --workflows"),
        GuideError::InvalidWorkflow { file, faults, .. } => {
            let each = faults.iter().map(|fault| {
                let line = fault.line.map(|line| format!(", line {line}")).unwrap_or_default();
                let place = if fault.path.is_empty() { "" } else { ", " };
                format!("{file}{line}{place}{}: {}", fault.path, fault.message)
            });
            each.fold(failure, Failure::hint)
        }
        _ => failure,
    }
}
