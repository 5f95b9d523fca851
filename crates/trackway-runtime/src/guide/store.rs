//! Reading: logs, definitions and what the folders hold.

use std::sync::Arc;

use trackway_definition::Definition;
use trackway_domain::{RunId, Seq};
use trackway_ports::{AppendError, ReadError, Stored};

use super::{Guide, GuideError};
use crate::{Known, NotKnown};

/// Events read at once where a whole log is gone through.
const PAGE_EVENTS: usize = 256;

impl Guide {
    /// Shows the run's events after `after`, in order and page by page, until `see` has seen enough.
    pub(super) async fn each_event(
        &self,
        run: RunId,
        mut see: impl FnMut(Stored) -> Next,
    ) -> Result<(), GuideError> {
        let mut after: Seq = 0;
        loop {
            let page = self.options.journal.events(run, after, PAGE_EVENTS).await;
            let page = page.map_err(|error| unreadable(run, error))?;
            // Only an empty page is the end: a short one may stop before a damaged event.
            let Some(last) = page.last() else { return Ok(()) };
            after = last.seq;
            for stored in page {
                if see(stored) == Next::Enough {
                    return Ok(());
                }
            }
        }
    }

    /// The definition of that hash. Runs keep to what they are pinned to; where the store has lost it,
    /// the same definition from the folders will do.
    pub(super) async fn definition(
        &self,
        run: RunId,
        workflow: &str,
        hash: &str,
    ) -> Result<Arc<Definition>, GuideError> {
        if let Some(definition) = self.definitions.get(hash) {
            return Ok(definition);
        }
        let intact = match self.options.journal.pinned(hash.to_owned()).await {
            Ok(Some(body)) => intact(&body, hash),
            Ok(None) => Err("it is not there".into()),
            Err(ReadError::DamagedBlob { reason, .. }) => Err(reason),
            Err(error) => return Err(unreadable(run, error)),
        };
        let definition = match intact {
            Ok(definition) => Arc::new(definition),
            Err(reason) => {
                let current = self.in_catalogue(workflow).await.ok();
                let same = current.filter(|known| *known.hash == *hash);
                let reason = format!("the definition {hash} that it is pinned to: {reason}");
                same.ok_or(GuideError::Damaged { run, reason })?.definition
            }
        };
        self.definitions.keep(hash, definition.clone());
        Ok(definition)
    }

    /// What the folders hold under that id. Files may have to be read, which must not hold up others.
    pub(super) async fn in_catalogue(&self, workflow: &str) -> Result<Known, GuideError> {
        let (catalogue, id) = (self.options.catalogue.clone(), workflow.to_owned());
        let known = tokio::task::spawn_blocking(move || catalogue.get(&id)).await;
        let workflow = workflow.to_owned();
        match known {
            Ok(Ok(known)) => Ok(known),
            Ok(Err(NotKnown::Unknown { near })) => {
                Err(GuideError::UnknownWorkflow { workflow, near })
            }
            Ok(Err(NotKnown::Invalid(invalid))) => Err(GuideError::InvalidWorkflow {
                workflow,
                file: invalid.file.display().to_string(),
                faults: invalid.errors,
            }),
            Err(error) => Err(GuideError::Internal { reason: error.to_string() }),
        }
    }

    /// The rules of a workflow. Only where it refers to documents are files looked at.
    pub(super) async fn rules(&self, definition: &Arc<Definition>) -> Vec<String> {
        if definition.references.is_empty() {
            return definition.guidance.clone();
        }
        let (catalogue, of) = (self.options.catalogue.clone(), definition.clone());
        let found = tokio::task::spawn_blocking(move || catalogue.rules(&of)).await;
        found.unwrap_or_else(|_| definition.rules(&|_| false))
    }

    /// A warning where the folders hold something else under that id by now.
    pub(super) async fn drift(
        &self,
        workflow: &str,
        hash: &str,
    ) -> Option<trackway_domain::Warning> {
        // Nearly always nothing has changed, and going to another thread to see it costs more than seeing.
        if self.options.catalogue.is_unchanged(workflow, hash) {
            return None;
        }
        let catalogue = self.options.catalogue.clone();
        let (id, hash) = (workflow.to_owned(), hash.to_owned());
        tokio::task::spawn_blocking(move || catalogue.drift(&id, &hash)).await.ok().flatten()
    }
}

/// Whether somebody who goes through a log wants to see more of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    More,
    Enough,
}

fn intact(body: &str, hash: &str) -> Result<Definition, String> {
    let definition = Definition::pinned(body)?;
    match definition.hash() == hash {
        true => Ok(definition),
        false => Err("it does not match its hash".into()),
    }
}

/// Damage concerns this run alone; the others go on.
pub(super) fn unreadable(run: RunId, error: ReadError) -> GuideError {
    match error {
        ReadError::Damaged { seq, reason, .. } => {
            GuideError::Damaged { run, reason: format!("event {seq}: {reason}") }
        }
        ReadError::DamagedBlob { .. } => GuideError::Damaged { run, reason: error.to_string() },
        ReadError::Unavailable { reason } => GuideError::Unavailable { reason },
        ReadError::Broken { .. } => GuideError::Store { reason: error.to_string() },
    }
}

/// A listing that cannot be read.
pub(super) fn unlisted(error: ReadError) -> GuideError {
    match error {
        ReadError::Damaged { run, .. } => unreadable(run, error),
        ReadError::DamagedBlob { .. } => GuideError::Internal { reason: error.to_string() },
        ReadError::Unavailable { reason } => GuideError::Unavailable { reason },
        ReadError::Broken { .. } => GuideError::Store { reason: error.to_string() },
    }
}

pub(super) fn unwritable(error: &AppendError) -> GuideError {
    match error {
        AppendError::Unavailable { reason } => GuideError::Unavailable { reason: reason.clone() },
        AppendError::Unknown { .. } => GuideError::Unavailable { reason: error.to_string() },
        AppendError::Closed => GuideError::Stopping,
        AppendError::Broken { .. } => GuideError::Store { reason: error.to_string() },
        AppendError::Conflict { .. } | AppendError::Fenced { .. } | AppendError::Claimed(_) => {
            GuideError::Internal { reason: error.to_string() }
        }
    }
}
