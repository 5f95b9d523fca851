//! Starting a run: no read, one append.

use serde_json::Value;
use trackway_domain::{Access, GuidedRunCommand, RunId, RunSubmission, WorkflowRef};
use trackway_engine::GuidedCommandReply;
use trackway_ports::PinnedDefinition;

use super::{
    GuidedNodeView, GuidedRunError, GuidedRuns, GuidedStartRequest,
    guided_command_execution::{AppendPinsAndClaim, GuidedCommandOutcome},
    input_size_limits,
    node_advance::run_contention_error,
    node_view, session_resolution,
};
use crate::CatalogueEntry;

/// Ids that are tried for a new run. Two runs of one millisecond get the same id once in four billion.
/// Limit (Runtime): ids that are tried for a new run.
const IDS_TRIED_MAX: usize = 3;

impl GuidedRuns {
    /// Begins a run, pinned to the definition as it is now.
    pub async fn start_guided_run(
        &self,
        access: &Access,
        start: GuidedStartRequest,
    ) -> Result<GuidedNodeView, GuidedRunError> {
        input_size_limits::check_context_size(&start.context)?;
        let known = self.find_startable_workflow(&start.workflow).await?;
        let CatalogueEntry { definition, hash, .. } = known;
        let session =
            session_resolution::resolve_session_from_context(&start.context, || self.options.ids.new_uuid())?;
        let step = trackway_definition::begin_guided_run(&definition, &start.context)
            .map_err(GuidedRunError::MissingContext)?;
        input_size_limits::check_context_size(&step.context)?;
        let workflow = WorkflowRef { name: definition.id.clone(), version: hash.to_string() };
        let input = Value::Object(start.context);
        let pins = vec![PinnedDefinition { hash: hash.to_string(), body: definition.to_canonical_json() }];
        let mut id = RunId::compact_from_uuid(self.options.ids.new_uuid());
        for _ in 0..IDS_TRIED_MAX {
            let (session, caller) = (session.clone(), access.caller.clone());
            let submission = RunSubmission::new(id, session, workflow.clone(), caller, input.clone());
            let submission = RunSubmission { guided: true, ..submission };
            let command = GuidedRunCommand::Open {
                submission: Box::new(submission.clone()),
                step: Box::new(step.clone()),
                stamp: start.stamp.clone(),
            };
            let with = AppendPinsAndClaim { pins: pins.clone(), ..AppendPinsAndClaim::default() };
            if let GuidedCommandOutcome::Done(Some(reply)) =
                self.execute_guided_command(id, None, command, with).await?
                && let GuidedCommandReply::Opened { node, reply } = *reply
            {
                self.definitions.insert_definition(&hash, definition.clone());
                let rules = self.render_workflow_rules(&definition).await;
                return Ok(node_view::node_view_from_opening(&submission, node, reply, rules));
            }
            // Another run has this id already: half of an id is time, and the rest is short.
            id = RunId::compact_from_uuid(self.options.ids.new_uuid());
        }
        Err(run_contention_error(id))
    }

    /// The definition under that id, if it contains nothing unsupported.
    pub(super) async fn find_startable_workflow(
        &self,
        workflow: &str,
    ) -> Result<CatalogueEntry, GuidedRunError> {
        let known = self.find_catalogue_entry(workflow).await?;
        let matter = |unheeded: &&trackway_definition::model::UnsupportedConstruct| unheeded.matters;
        let unheeded: Vec<_> = known.definition.unsupported.iter().filter(matter).cloned().collect();
        if unheeded.is_empty() {
            return Ok(known);
        }
        Err(GuidedRunError::UnsupportedWorkflow { workflow: workflow.to_owned(), unsupported: unheeded })
    }
}
