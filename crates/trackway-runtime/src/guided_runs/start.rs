//! Starting a run: no read, one append.

use serde_json::Value;
use trackway_domain::{Access, GuidedCommand, RunId, Submission, WorkflowRef};
use trackway_engine::GuidedReply;
use trackway_ports::PinnedDefinition;

use super::{
    GuidedRunError, GuidedRuns, GuidedStartRequest, NodeView,
    advance::too_busy_error,
    execute::{AppendExtras, ExecuteOutcome},
    node_view, session, size_limits,
};
use crate::CatalogueEntry;

/// Ids that are tried for a new run. Two runs of one millisecond get the same id once in four billion.
/// Limit (Runtime): ids that are tried for a new run.
const IDS_TRIED_MAX: usize = 3;

impl GuidedRuns {
    /// Begins a run, pinned to the definition as it is now.
    pub async fn start(
        &self,
        access: &Access,
        start: GuidedStartRequest,
    ) -> Result<NodeView, GuidedRunError> {
        size_limits::check_context(&start.context)?;
        let known = self.find_startable(&start.workflow).await?;
        let CatalogueEntry { definition, hash, .. } = known;
        let session = session::resolve_session(&start.context, || self.options.ids.new_uuid())?;
        let step = trackway_definition::open_run(&definition, &start.context)
            .map_err(GuidedRunError::MissingContext)?;
        size_limits::check_context(&step.context)?;
        let workflow = WorkflowRef { name: definition.id.clone(), version: hash.to_string() };
        let input = Value::Object(start.context);
        let pins = vec![PinnedDefinition { hash: hash.to_string(), body: definition.normal_form() }];
        let mut id = RunId::compact_from_uuid(self.options.ids.new_uuid());
        for _ in 0..IDS_TRIED_MAX {
            let (session, caller) = (session.clone(), access.caller.clone());
            let submission = Submission::new(id, session, workflow.clone(), caller, input.clone());
            let submission = Submission { guided: true, ..submission };
            let command = GuidedCommand::Open {
                submission: Box::new(submission.clone()),
                step: Box::new(step.clone()),
                stamp: start.stamp.clone(),
            };
            let with = AppendExtras { pins: pins.clone(), ..AppendExtras::default() };
            if let ExecuteOutcome::Done(Some(reply)) = self.execute(id, None, command, with).await?
                && let GuidedReply::Opened { node, reply } = *reply
            {
                self.definitions.insert(&hash, definition.clone());
                let rules = self.render_rules(&definition).await;
                return Ok(node_view::view_from_opening(&submission, node, reply, rules));
            }
            // Another run has this id already: half of an id is time, and the rest is short.
            id = RunId::compact_from_uuid(self.options.ids.new_uuid());
        }
        Err(too_busy_error(id))
    }

    /// The definition under that id, if it contains nothing unsupported.
    pub(super) async fn find_startable(&self, workflow: &str) -> Result<CatalogueEntry, GuidedRunError> {
        let known = self.find_in_catalogue(workflow).await?;
        let matter = |unheeded: &&trackway_definition::model::Unsupported| unheeded.matters;
        let unheeded: Vec<_> = known.definition.unsupported.iter().filter(matter).cloned().collect();
        if unheeded.is_empty() {
            return Ok(known);
        }
        Err(GuidedRunError::UnsupportedWorkflow { workflow: workflow.to_owned(), unsupported: unheeded })
    }
}
