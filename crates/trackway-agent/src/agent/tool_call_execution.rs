//! Tool calls. Each is published, approved, run as a recorded step, and published again with its
//! result. The time that people take to answer a question does not count against the turn.

use futures_util::future::BoxFuture;
use serde_json::Value;
use trackway_domain::{Artifact, ArtifactId, Failure, InterruptReason, Object, Op, Part, ValidationError};
use trackway_runtime::{RetryPolicy, StepAttempt, ToolCallContext};

use super::{
    question_reply::AnswerAuthor,
    tool_call_route::ToolCallRoute,
    turn_driver::AgentTurnDriver,
    workflow_dispatch::{self, ResultArtifactContent},
};
use crate::{
    PendingToolCall, ToolCallRecord, approval_question, content_pieces,
    turn_record::{self, UserWaitPeriod},
};

/// The result of a call that was running when the process ended and that cannot be repeated.
const UNKNOWN: &str = "This process was stopped during the call. Whether it was carried out is not known; \
                       it was not made again.";

/// Which tool a step calls: one of the workspace by its name, or that of a peer.
#[derive(Debug, Clone, Copy)]
enum CalledTool<'a> {
    Local(&'a str),
    Peer(&'a str),
}

/// The result of a call, for the model and for watchers.
pub(super) struct ToolCallOutcome {
    pub(super) record: ToolCallRecord,
    pub(super) view: ResultArtifactContent,
}

impl From<ToolCallRecord> for ToolCallOutcome {
    fn from(record: ToolCallRecord) -> Self {
        Self { record, view: ResultArtifactContent::default() }
    }
}

impl AgentTurnDriver {
    /// Runs one call. All of it appears in the parent's stream (D4).
    pub(super) async fn run_tool_call(
        &self,
        pending_call: &PendingToolCall,
        route: &ToolCallRoute,
    ) -> ToolCallRecord {
        let arguments = pending_call.call.arguments.arguments_to_value();
        let parts = vec![Part::data(arguments.clone())];
        self.publish_call_artifact(pending_call, "tool-call", parts, Object::new()).await;
        let (approved, wait) = self.request_user_approval(pending_call, route).await;
        let mut outcome: ToolCallOutcome = if !approved {
            self.record_call_result(
                pending_call,
                ToolCallRecord::call_refused_by_user(&pending_call.call.tool),
            )
            .await
            .into()
        } else {
            match route {
                ToolCallRoute::NotStarted { name, description, why } => {
                    let failed = workflow_dispatch::workflow_not_started_record(name, description, why);
                    self.record_call_result(pending_call, failed).await.into()
                }
                ToolCallRoute::NoTarget { why } => {
                    match turn_record::broken_arguments_record(&pending_call.call) {
                        Some(broken) => broken.into(),
                        None => self
                            .record_call_result(pending_call, ToolCallRecord::failed_call_with_reason(why))
                            .await
                            .into(),
                    }
                }
                ToolCallRoute::Denied => self
                    .record_call_result(
                        pending_call,
                        ToolCallRecord::call_denied_by_permission(&pending_call.call.tool),
                    )
                    .await
                    .into(),
                ToolCallRoute::Tool { name, input, once, .. } => {
                    let input = input.clone().unwrap_or(arguments);
                    let may = !once || self.record_begin_if_first(pending_call).await;
                    self.run_tool_step(pending_call, CalledTool::Local(name), input, may).await.into()
                }
                // A repeated call finds the task that the first one began.
                ToolCallRoute::Peer { peer, input, .. } => {
                    self.run_tool_step(pending_call, CalledTool::Peer(peer), input.clone(), true).await.into()
                }
                ToolCallRoute::Workflow { name, description, input, .. } => {
                    self.dispatch_workflow(pending_call, name, description, input.clone()).await
                }
                ToolCallRoute::Status { .. } => {
                    self.run_task_status_call(pending_call, &arguments).await.into()
                }
                ToolCallRoute::Reply { ask } => {
                    self.send_answer_to_waiting_task(
                        pending_call,
                        &arguments,
                        AnswerAuthor::Model { ask: *ask },
                    )
                    .await
                }
                ToolCallRoute::ReplyOfUser => {
                    self.send_answer_to_waiting_task(pending_call, &arguments, AnswerAuthor::User).await
                }
            }
        };
        let ResultArtifactContent { mut parts, metadata } = std::mem::take(&mut outcome.view);
        if parts.is_empty() {
            parts = workflow_dispatch::call_record_to_parts(&outcome.record);
        }
        self.publish_call_artifact(pending_call, "tool-result", parts, metadata).await;
        outcome.record.waits.extend(wait);
        outcome.record
    }

    /// Publishes a call or its result as an artifact of the turn.
    async fn publish_call_artifact(
        &self,
        pending_call: &PendingToolCall,
        prefix: &str,
        parts: Vec<Part>,
        metadata: Object,
    ) {
        let (name, id) = pending_call.call_artifact_name_and_id(prefix);
        let Ok(id) = ArtifactId::new(&id) else { return };
        let mut artifact = Artifact::new(id, parts).named(name);
        artifact.metadata = metadata;
        let call = &pending_call.call;
        artifact.metadata.insert("toolCallId".to_owned(), call.id.as_str().into());
        artifact.metadata.insert("toolName".to_owned(), call.tool.as_str().into());
        self.stage.emit_artifact(artifact.into()).await;
    }

    /// Whether the call is allowed. Asks the user if the call needs approval.
    async fn request_user_approval(
        &self,
        pending_call: &PendingToolCall,
        route: &ToolCallRoute,
    ) -> (bool, Option<UserWaitPeriod>) {
        if !route.needs_user_approval() {
            return (true, None);
        }
        let prompt = approval_question::call_approval_prompt(&pending_call.call);
        let (answer, wait) =
            self.ask_user_and_time_wait(prompt, approval_question::approval_answer_schema()).await;
        (approval_question::is_approved(&answer), wait)
    }

    /// Records a result that is already known as the call's result.
    pub(super) async fn record_call_result(
        &self,
        pending_call: &PendingToolCall,
        record: ToolCallRecord,
    ) -> ToolCallRecord {
        let record = || record.with_end_time(self.stage.unrecorded_now()).to_value();
        ToolCallRecord::record_from_step_outcome(
            &self.stage.record_step_outcome(&pending_call.call_step_key(), record).await,
        )
    }

    /// Records that the call is about to run. Returns false if an earlier process recorded this and
    /// ended before it recorded a result.
    async fn record_begin_if_first(&self, pending_call: &PendingToolCall) -> bool {
        let mut first = false;
        let begins = || {
            first = true;
            Ok(Value::Null)
        };
        self.stage.record_step_outcome(&format!("begin {}", pending_call.call_step_key()), begins).await;
        first
    }

    async fn run_tool_step(
        &self,
        pending_call: &PendingToolCall,
        called: CalledTool<'_>,
        input: Value,
        may_run: bool,
    ) -> ToolCallRecord {
        let mut work = |attempt: StepAttempt| -> BoxFuture<'_, _> {
            // A call that asked the user resumes at its question.
            if may_run || self.stage.has_recorded_step_question(&attempt.op) {
                Box::pin(self.invoke_tool(called, input.clone(), attempt))
            } else {
                Box::pin(async {
                    ToolCallRecord::failed_call_with_reason(UNKNOWN)
                        .with_end_time(self.stage.unrecorded_now())
                        .to_value()
                })
            }
        };
        self.run_step_as_tool_call(&pending_call.call_step_key(), &mut work).await
    }

    async fn invoke_tool(
        &self,
        called: CalledTool<'_>,
        mut input: Value,
        attempt: StepAttempt,
    ) -> Result<Value, Failure> {
        let (tool, name) = match called {
            CalledTool::Local(name) => {
                let stock = self.resources.current_snapshot();
                (stock.tools.iter().find(|tool| tool.info().name == name).cloned(), name)
            }
            CalledTool::Peer(peer) => (self.resources.find_peer_tool(self.stage.caller(), peer), peer),
        };
        let Some(tool) = tool else {
            return ToolCallRecord::failed_call_with_reason(format!("{name} is no longer available."))
                .with_end_time(self.stage.unrecorded_now())
                .to_value();
        };
        let problems = self.schemas.parse_tool_arguments(&*tool, &mut input);
        let record = if problems.is_empty() {
            let step = attempt.op.clone();
            let record = match tool.call(input, ToolCallContext::from_step(&self.stage, attempt)).await {
                Ok(output) => {
                    let pieces = content_pieces::pieces_from_tool_result(&output.value, &output.parts);
                    ToolCallRecord { failed: output.is_error, ..ToolCallRecord::new(pieces) }
                }
                Err(failure) => ToolCallRecord::failed_call_with_reason(failure.message),
            };
            ToolCallRecord { waits: self.list_user_waits_in_step(&step).await, ..record }
        } else {
            let wrong =
                problems.iter().map(ValidationError::format_validation_error).collect::<Vec<_>>().join("; ");
            ToolCallRecord::failed_call_with_reason(format!(
                "The arguments do not fit: {wrong}. Nothing was called."
            ))
        };
        record.with_end_time(self.stage.unrecorded_now()).to_value()
    }

    /// Asks a question of the turn itself. The wait is measured where the turn's seconds are counted.
    pub(super) async fn ask_user_and_time_wait(
        &self,
        prompt: Vec<Part>,
        schema: Value,
    ) -> (Value, Option<UserWaitPeriod>) {
        let timed = self.spec.budgets.seconds.is_some();
        let from = if timed { Some(self.stage.recorded_now().await) } else { None };
        let (_, answer) = self.stage.ask_question(InterruptReason::InputRequired, prompt, schema, None).await;
        let wait = match from {
            Some(from) => Some(UserWaitPeriod { from, to: self.stage.recorded_now().await }),
            None => None,
        };
        (answer.input, wait)
    }

    /// How long a step waited for people, according to the log. The question may be older than the
    /// current attempt at the step. For use within that step.
    pub(super) async fn list_user_waits_in_step(&self, step: &Op) -> Vec<UserWaitPeriod> {
        let (Some(_), Some(archive)) = (self.spec.budgets.seconds, self.stage.session_history()) else {
            return Vec::new();
        };
        match archive.question_and_answer_times_in_step(self.stage.run_id(), step).await {
            Ok(asked) => asked.into_iter().map(|(from, to)| UserWaitPeriod { from, to }).collect(),
            Err(error) => {
                // The tool's result matters more than its exact time.
                tracing::warn!(%error, %step, "cannot read how long the step waited for people");
                Vec::new()
            }
        }
    }

    /// A step whose outcome is the record of a call.
    pub(super) async fn run_step_as_tool_call(
        &self,
        key: &str,
        work: &mut trackway_runtime::StepWork<'_>,
    ) -> ToolCallRecord {
        ToolCallRecord::record_from_step_outcome(&self.stage.step(key, RetryPolicy::default(), work).await.1)
    }
}
