//! Starting a run: no read, one append.

use serde_json::Value;
use trackway_domain::{Caller, RunId, Submission, WorkflowRef};
use trackway_ports::{Append, Pinned};

use super::{
    Guide, GuideError, Position, Start, answer, bounds,
    decide::{self, Opening},
    session,
    store::unwritable,
};
use crate::Known;

impl Guide {
    pub(super) async fn begin(
        &self,
        caller: &Caller,
        start: Start,
    ) -> Result<Position, GuideError> {
        bounds::context(&start.context)?;
        let known = self.startable(&start.workflow).await?;
        let Known { definition, hash, .. } = known;
        let session = session::session_of(&start.context, || self.options.ids.uuid())?;
        let standing = trackway_definition::open(&definition, &start.context)
            .map_err(GuideError::MissingContext)?;
        bounds::context(&standing.context)?;
        let submission = Submission {
            run: RunId::new(self.options.ids.uuid()),
            session,
            workflow: WorkflowRef { name: definition.id.clone(), version: hash.to_string() },
            caller: caller.clone(),
            input: Value::Object(start.context),
            message: None,
            parent: None,
            deadline: None,
            guided: true,
            exit: None,
            forked_from: None,
            awaited: false,
        };
        let now = self.now();
        let opening =
            self.decided(now, |world| decide::opened(submission, standing, start.seal, world));
        let Opening { events, row, .. } = opening.clone();
        let mut append = Append::new(row.id, 0, now);
        append.events = events;
        append.row = Some(row);
        append.pins = vec![Pinned { hash: hash.to_string(), body: definition.normal() }];
        self.commit(append).await.map_err(|error| unwritable(&error))?;
        self.definitions.keep(&hash, definition.clone());
        let rules = self.rules(&definition).await;
        Ok(answer::of_opening(opening, rules))
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
