//! Loads logs, definitions and catalogue entries.

use std::sync::Arc;

use trackway_definition::Definition;
use trackway_domain::{RunId, Seq};
use trackway_ports::{AppendError, ReadError, StoredEvent};

use super::{GuidedRunError, GuidedRuns};
use crate::{CatalogueEntry, WorkflowLookupError};

/// Events read at once while a whole log is read.
const PAGE_EVENTS: usize = 256;

impl GuidedRuns {
    /// Passes the run's events after `after` to `visit`, in order and page by page, until `visit` stops.
    pub(super) async fn for_each_run_event(
        &self,
        run: RunId,
        mut visit: impl FnMut(StoredEvent) -> EventVisitControl,
    ) -> Result<(), GuidedRunError> {
        let mut after: Seq = 0;
        loop {
            let page = self.options.journal.list_events(run, after, PAGE_EVENTS).await;
            let page = page.map_err(|error| guided_error_from_read(run, error))?;
            // Only an empty page is the end: a short one may stop before a damaged event.
            let Some(last) = page.last() else { return Ok(()) };
            after = last.seq;
            for stored in page {
                if visit(stored) == EventVisitControl::Stop {
                    return Ok(());
                }
            }
        }
    }

    /// The definition of that hash. Runs keep the one they are pinned to; if the store has lost it, the same
    /// definition from the folders is used.
    pub(super) async fn load_pinned_definition(
        &self,
        run: RunId,
        workflow: &str,
        hash: &str,
    ) -> Result<Arc<Definition>, GuidedRunError> {
        if let Some(definition) = self.definitions.get_definition(hash) {
            return Ok(definition);
        }
        let intact = match self.options.journal.find_pinned_definition(hash.to_owned()).await {
            Ok(Some(body)) => decode_pinned_definition(&body, hash),
            Ok(None) => Err("it is not there".into()),
            Err(ReadError::DamagedBlob { reason, .. }) => Err(reason),
            Err(error) => return Err(guided_error_from_read(run, error)),
        };
        let definition = match intact {
            Ok(definition) => Arc::new(definition),
            Err(reason) => {
                let current = self.find_catalogue_entry(workflow).await.ok();
                let same = current.filter(|known| *known.hash == *hash);
                let reason = format!("the definition {hash} that it is pinned to: {reason}");
                same.ok_or(GuidedRunError::Damaged { run, reason })?.definition
            }
        };
        self.definitions.insert_definition(hash, definition.clone());
        Ok(definition)
    }

    /// What the folders hold under that id. It may read files, which must not block other requests.
    pub(super) async fn find_catalogue_entry(
        &self,
        workflow: &str,
    ) -> Result<CatalogueEntry, GuidedRunError> {
        let (catalogue, id) = (self.options.catalogue.clone(), workflow.to_owned());
        let known = tokio::task::spawn_blocking(move || catalogue.get_entry(&id)).await;
        let workflow = workflow.to_owned();
        match known {
            Ok(Ok(known)) => Ok(known),
            Ok(Err(WorkflowLookupError::UnknownId { similar: near })) => {
                Err(GuidedRunError::UnknownWorkflow { workflow, similar: near })
            }
            Ok(Err(WorkflowLookupError::Invalid(invalid))) => Err(GuidedRunError::InvalidWorkflow {
                workflow,
                file: invalid.file.display().to_string(),
                findings: invalid.errors,
            }),
            Err(error) => Err(GuidedRunError::Internal { reason: error.to_string() }),
        }
    }

    /// The rules of a workflow. Files are read only if it refers to documents.
    pub(super) async fn render_workflow_rules(&self, definition: &Arc<Definition>) -> Vec<String> {
        if definition.references.is_empty() {
            return definition.guidance.clone();
        }
        let (catalogue, of) = (self.options.catalogue.clone(), definition.clone());
        let found = tokio::task::spawn_blocking(move || catalogue.render_workflow_rules(&of)).await;
        found.unwrap_or_else(|_| definition.render_workflow_rules(&|_| false))
    }

    /// A warning if the folders now hold something else under that id.
    pub(super) async fn definition_drift_warning(
        &self,
        workflow: &str,
        hash: &str,
    ) -> Option<trackway_domain::GuidedRunWarning> {
        // Nearly always nothing has changed, and switching to another thread costs more than the check.
        if self.options.catalogue.is_definition_unchanged(workflow, hash) {
            return None;
        }
        let catalogue = self.options.catalogue.clone();
        let (id, hash) = (workflow.to_owned(), hash.to_owned());
        tokio::task::spawn_blocking(move || catalogue.definition_drift_warning(&id, &hash))
            .await
            .ok()
            .flatten()
    }
}

/// Whether to continue reading a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EventVisitControl {
    Continue,
    Stop,
}

fn decode_pinned_definition(body: &str, hash: &str) -> Result<Definition, String> {
    let definition = Definition::from_pinned_json(body)?;
    match definition.definition_hash() == hash {
        true => Ok(definition),
        false => Err("it does not match its hash".into()),
    }
}

/// Damage affects this run alone; the others continue.
pub(super) fn guided_error_from_read(run: RunId, error: ReadError) -> GuidedRunError {
    match error {
        ReadError::Damaged { seq, reason, .. } => {
            GuidedRunError::Damaged { run, reason: format!("event {seq}: {reason}") }
        }
        ReadError::DamagedBlob { .. } => GuidedRunError::Damaged { run, reason: error.to_string() },
        ReadError::Unavailable { reason } => GuidedRunError::Unavailable { reason },
        ReadError::Broken { .. } => GuidedRunError::Store { reason: error.to_string() },
    }
}

/// A listing that cannot be read.
pub(super) fn guided_error_from_listing(error: ReadError) -> GuidedRunError {
    match error {
        ReadError::Damaged { run, .. } => guided_error_from_read(run, error),
        ReadError::DamagedBlob { .. } => GuidedRunError::Internal { reason: error.to_string() },
        ReadError::Unavailable { reason } => GuidedRunError::Unavailable { reason },
        ReadError::Broken { .. } => GuidedRunError::Store { reason: error.to_string() },
    }
}

pub(super) fn guided_error_from_append(error: &AppendError) -> GuidedRunError {
    match error {
        AppendError::Unavailable { reason } => GuidedRunError::Unavailable { reason: reason.clone() },
        AppendError::Unknown { .. } => GuidedRunError::Unavailable { reason: error.to_string() },
        AppendError::Closed => GuidedRunError::Stopping,
        AppendError::Broken { .. } => GuidedRunError::Store { reason: error.to_string() },
        AppendError::Conflict { .. } | AppendError::Fenced { .. } | AppendError::Claimed(_) => {
            GuidedRunError::Internal { reason: error.to_string() }
        }
    }
}
