//! Starting a run: no read, one append.

use serde_json::Value;
use trackway_domain::{Access, GuidedCommand, RunId, Submission, WorkflowRef};
use trackway_engine::GuidedReply;
use trackway_ports::Pinned;

use super::{
    Guide, GuideError, Position, Start,
    advance::too_busy,
    answer, bounds,
    execute::{Executed, With},
    session,
};
use crate::Known;

/// Ids that are tried for a new run. Two runs of one millisecond have the same one once in four billion.
/// Limit (Runtime): ids that are tried for a new run.
const IDS_TRIED_MAX: usize = 3;

impl Guide {
    /// Begins a run, pinned to the definition as it is now.
    pub async fn start(&self, access: &Access, start: Start) -> Result<Position, GuideError> {
        bounds::context(&start.context)?;
        let known = self.startable(&start.workflow).await?;
        let Known { definition, hash, .. } = known;
        let session = session::session_of(&start.context, || self.options.ids.uuid())?;
        let step = trackway_definition::open(&definition, &start.context)
            .map_err(GuideError::MissingContext)?;
        bounds::context(&step.context)?;
        let workflow = WorkflowRef { name: definition.id.clone(), version: hash.to_string() };
        let input = Value::Object(start.context);
        let pins = vec![Pinned { hash: hash.to_string(), body: definition.normal() }];
        let mut id = RunId::compact(self.options.ids.uuid());
        for _ in 0..IDS_TRIED_MAX {
            let (session, caller) = (session.clone(), access.caller.clone());
            let submission = Submission::new(id, session, workflow.clone(), caller, input.clone());
            let submission = Submission { guided: true, ..submission };
            let command = GuidedCommand::Open {
                submission: Box::new(submission.clone()),
                step: Box::new(step.clone()),
                seal: start.seal.clone(),
            };
            let with = With { pins: pins.clone(), ..With::default() };
            if let Executed::Done(Some(reply)) = self.execute(id, None, command, with).await?
                && let GuidedReply::Opened { node, answer } = *reply
            {
                self.definitions.keep(&hash, definition.clone());
                let rules = self.rules(&definition).await;
                return Ok(answer::of_opening(&submission, node, answer, rules));
            }
            // Another run has this id already: half of an id is time, the rest is short.
            id = RunId::compact(self.options.ids.uuid());
        }
        Err(too_busy(id))
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
