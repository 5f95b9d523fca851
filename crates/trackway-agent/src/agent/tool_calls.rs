//! Tool calls. Each is published, approved, run as a recorded step, and published again with its
//! result. The time that people take to answer a question does not count against the turn.

use futures_util::future::BoxFuture;
use serde_json::Value;
use trackway_domain::{Artifact, ArtifactId, Failure, InterruptReason, Object, Op, Part, ValidationError};
use trackway_runtime::{RetryPolicy, StepAttempt, ToolCall};

use super::{
    call_route::CallRoute,
    dispatch::{self, ResultView},
    question_reply::AnswerAuthor,
    turn_driver::TurnDriver,
};
use crate::{
    PendingCall, ToolCallRecord, approval_question, content_pieces,
    turn_record::{self, UserWait},
};

/// The result of a call that was running when the process ended and that cannot be repeated.
const UNKNOWN: &str = "This process was stopped during the call. Whether it was carried out is not known; \
                       it was not made again.";

/// The result of a call, for the model and for watchers.
pub(super) struct CallOutcome {
    pub(super) record: ToolCallRecord,
    pub(super) view: ResultView,
}

impl From<ToolCallRecord> for CallOutcome {
    fn from(record: ToolCallRecord) -> Self {
        Self { record, view: ResultView::default() }
    }
}

impl TurnDriver {
    /// Runs one call. All of it appears in the parent's stream (D4).
    pub(super) async fn run_tool_call(&self, waiting: &PendingCall, route: &CallRoute) -> ToolCallRecord {
        let arguments = waiting.call.arguments.to_value();
        let parts = vec![Part::data(arguments.clone())];
        self.publish_call_artifact(waiting, "tool-call", parts, Object::new()).await;
        let (approved, wait) = self.request_approval(waiting, route).await;
        let mut outcome: CallOutcome = if !approved {
            self.record_result(waiting, ToolCallRecord::refused_by_user(&waiting.call.tool)).await.into()
        } else {
            match route {
                CallRoute::NotStarted { name, description, why } => {
                    let failed = dispatch::not_started_record(name, description, why);
                    self.record_result(waiting, failed).await.into()
                }
                CallRoute::NoTarget { why } => match turn_record::broken_arguments_record(&waiting.call) {
                    Some(broken) => broken.into(),
                    None => self.record_result(waiting, ToolCallRecord::failed_with_reason(why)).await.into(),
                },
                CallRoute::Denied => self
                    .record_result(waiting, ToolCallRecord::denied_by_permission(&waiting.call.tool))
                    .await
                    .into(),
                CallRoute::Tool { name, input, once, .. } => {
                    let input = input.clone().unwrap_or(arguments);
                    let may = !once || self.record_first_attempt(waiting).await;
                    self.run_tool_step(waiting, name, input, may).await.into()
                }
                CallRoute::Workflow { name, description, input, .. } => {
                    self.dispatch_workflow(waiting, name, description, input.clone()).await
                }
                CallRoute::Status { .. } => self.run_task_status_call(waiting, &arguments).await.into(),
                CallRoute::Reply { ask } => {
                    self.answer_waiting_task(waiting, &arguments, AnswerAuthor::Model { ask: *ask }).await
                }
                CallRoute::ReplyOfUser => {
                    self.answer_waiting_task(waiting, &arguments, AnswerAuthor::User).await
                }
            }
        };
        let ResultView { mut parts, metadata } = std::mem::take(&mut outcome.view);
        if parts.is_empty() {
            parts = dispatch::record_to_parts(&outcome.record);
        }
        self.publish_call_artifact(waiting, "tool-result", parts, metadata).await;
        outcome.record.waits.extend(wait);
        outcome.record
    }

    /// Publishes a call or its result as an artifact of the turn.
    async fn publish_call_artifact(
        &self,
        waiting: &PendingCall,
        prefix: &str,
        parts: Vec<Part>,
        metadata: Object,
    ) {
        let (name, id) = waiting.artifact_name_and_id(prefix);
        let Ok(id) = ArtifactId::new(&id) else { return };
        let mut artifact = Artifact::new(id, parts).named(name);
        artifact.metadata = metadata;
        let call = &waiting.call;
        artifact.metadata.insert("toolCallId".to_owned(), call.id.as_str().into());
        artifact.metadata.insert("toolName".to_owned(), call.tool.as_str().into());
        self.stage.emit_artifact(artifact.into()).await;
    }

    /// Whether the call is allowed. Asks the user if the call needs approval.
    async fn request_approval(&self, waiting: &PendingCall, route: &CallRoute) -> (bool, Option<UserWait>) {
        if !route.needs_approval() {
            return (true, None);
        }
        let prompt = approval_question::approval_prompt(&waiting.call);
        let (answer, wait) = self.ask_user(prompt, approval_question::approval_schema()).await;
        (approval_question::is_approved(&answer), wait)
    }

    /// Records a result that is already known as the call's result.
    pub(super) async fn record_result(
        &self,
        waiting: &PendingCall,
        record: ToolCallRecord,
    ) -> ToolCallRecord {
        let record = || record.with_end_time(self.stage.unrecorded_now()).to_value();
        ToolCallRecord::from_outcome(&self.stage.record_step(&waiting.step_key(), record).await)
    }

    /// Records that the call is about to run. Returns false if an earlier process recorded this and
    /// ended before it recorded a result.
    async fn record_first_attempt(&self, waiting: &PendingCall) -> bool {
        let mut first = false;
        let begins = || {
            first = true;
            Ok(Value::Null)
        };
        self.stage.record_step(&format!("begin {}", waiting.step_key()), begins).await;
        first
    }

    async fn run_tool_step(
        &self,
        waiting: &PendingCall,
        name: &str,
        input: Value,
        may: bool,
    ) -> ToolCallRecord {
        let mut work = |attempt: StepAttempt| -> BoxFuture<'_, _> {
            // A call that asked the user resumes at its question.
            if may || self.stage.has_step_question(&attempt.op) {
                Box::pin(self.invoke_tool(name, input.clone(), attempt))
            } else {
                Box::pin(async {
                    ToolCallRecord::failed_with_reason(UNKNOWN)
                        .with_end_time(self.stage.unrecorded_now())
                        .to_value()
                })
            }
        };
        self.run_call_step(&waiting.step_key(), &mut work).await
    }

    async fn invoke_tool(
        &self,
        name: &str,
        mut input: Value,
        attempt: StepAttempt,
    ) -> Result<Value, Failure> {
        let stock = self.resources.snapshot();
        let Some(tool) = stock.tools.iter().find(|tool| tool.info().name == name) else {
            return ToolCallRecord::failed_with_reason(format!("{name} is no longer available."))
                .with_end_time(self.stage.unrecorded_now())
                .to_value();
        };
        let problems = self.schemas.parse_arguments(&**tool, &mut input);
        let record = if problems.is_empty() {
            let step = attempt.op.clone();
            let record = match tool.call(input, ToolCall::from_step(&self.stage, attempt)).await {
                Ok(output) => {
                    ToolCallRecord::new(content_pieces::pieces_from_tool_result(&output.value, &output.parts))
                }
                Err(failure) => ToolCallRecord::failed_with_reason(failure.message),
            };
            ToolCallRecord { waits: self.user_waits_in_step(&step).await, ..record }
        } else {
            let wrong = problems.iter().map(ValidationError::to_sentence).collect::<Vec<_>>().join("; ");
            ToolCallRecord::failed_with_reason(format!(
                "The arguments do not fit: {wrong}. Nothing was called."
            ))
        };
        record.with_end_time(self.stage.unrecorded_now()).to_value()
    }

    /// Asks a question of the turn itself. The wait is measured where the turn's seconds are counted.
    pub(super) async fn ask_user(&self, prompt: Vec<Part>, schema: Value) -> (Value, Option<UserWait>) {
        let timed = self.spec.budgets.seconds.is_some();
        let from = if timed { Some(self.stage.now().await) } else { None };
        let (_, answer) = self.stage.ask(InterruptReason::InputRequired, prompt, schema, None).await;
        let wait = match from {
            Some(from) => Some(UserWait { from, to: self.stage.now().await }),
            None => None,
        };
        (answer.input, wait)
    }

    /// How long a step waited for people, according to the log. The question may be older than the
    /// current attempt at the step. For use within that step.
    pub(super) async fn user_waits_in_step(&self, step: &Op) -> Vec<UserWait> {
        let (Some(_), Some(archive)) = (self.spec.budgets.seconds, self.stage.session_history()) else {
            return Vec::new();
        };
        match archive.question_times_in_step(self.stage.run_id(), step).await {
            Ok(asked) => asked.into_iter().map(|(from, to)| UserWait { from, to }).collect(),
            Err(error) => {
                // The tool's result matters more than its exact time.
                tracing::warn!(%error, %step, "cannot read how long the step waited for people");
                Vec::new()
            }
        }
    }

    /// A step whose outcome is the record of a call.
    pub(super) async fn run_call_step(
        &self,
        key: &str,
        work: &mut trackway_runtime::StepWork<'_>,
    ) -> ToolCallRecord {
        ToolCallRecord::from_outcome(&self.stage.step(key, RetryPolicy::default(), work).await.1)
    }
}
