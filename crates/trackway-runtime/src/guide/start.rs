//! Starting a run: no read, one append.

use serde_json::Value;
use trackway_domain::{Access, RunId, Submission, WorkflowRef};
use trackway_ports::{Append, AppendError, Pinned};

use super::{
    Guide, GuideError, Position, Start, advance::too_busy, answer, bounds, decide, session,
    store::unwritable,
};
use crate::Known;

/// Ids that are tried for a new run. Two runs of one millisecond have the same one once in four billion.
/// Limit (Runtime): ids that are tried for a new run.
const IDS_TRIED_MAX: usize = 3;

impl Guide {
    pub(super) async fn begin(
        &self,
        access: &Access,
        start: Start,
    ) -> Result<Position, GuideError> {
        bounds::context(&start.context)?;
        let known = self.startable(&start.workflow).await?;
        let Known { definition, hash, .. } = known;
        let session = session::session_of(&start.context, || self.options.ids.uuid())?;
        let standing = trackway_definition::open(&definition, &start.context)
            .map_err(GuideError::MissingContext)?;
        bounds::context(&standing.context)?;
        let mut submission = Submission {
            run: RunId::compact(self.options.ids.uuid()),
            session,
            workflow: WorkflowRef { name: definition.id.clone(), version: hash.to_string() },
            caller: access.caller.clone(),
            input: Value::Object(start.context),
            message: None,
            parent: None,
            deadline: None,
            guided: true,
            exit: None,
            forked_from: None,
            awaited: false,
        };
        let pins = vec![Pinned { hash: hash.to_string(), body: definition.normal() }];
        for _ in 0..IDS_TRIED_MAX {
            let now = self.now();
            let at = (submission.run, decide::OPENED_AT);
            let opening = self.decided(now, at, |world| {
                decide::opened(submission.clone(), standing.clone(), start.seal.clone(), world)
            });
            let mut append = Append::new(submission.run, 0, now);
            append.events = opening.events.clone();
            append.row = Some(opening.row.clone());
            append.pins = pins.clone();
            match self.commit(append).await {
                Ok(()) => {
                    self.definitions.keep(&hash, definition.clone());
                    let rules = self.rules(&definition).await;
                    return Ok(answer::of_opening(opening, rules));
                }
                // Another run has this id already: half of an id is time, the rest is short.
                Err(AppendError::Conflict { .. }) => {
                    submission.run = RunId::compact(self.options.ids.uuid());
                }
                Err(error) => return Err(unwritable(&error)),
            }
        }
        Err(too_busy(submission.run))
    }

    /// The definition under that id, if nothing is in it that we would have to leave out.
    pub(super) async fn startable(&self, workflow: &str) -> Result<Known, GuideError> {
        let known = self.in_catalogue(workflow).await?;
        let matter = |unheeded: &&trackway_definition::model::Unheeded| unheeded.matters;
        let unheeded: Vec<_> = known.definition.unheeded.iter().filter(matter).cloned().collect();
        if unheeded.is_empty() {
            return Ok(known);
        }
        Err(GuideError::UnsupportedWorkflow { workflow: workflow.to_owned(), unheeded })
    }
}
