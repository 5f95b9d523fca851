//! Tool calls. Each is published, approved, run as a recorded step, and published again with its
//! result. The time that people take to answer a question does not count against the turn.

use futures_util::future::BoxFuture;
use serde_json::Value;
use trackway_domain::{Artifact, ArtifactId, Failure, Object, Op, Part, Problem, Reason};
use trackway_runtime::{Attempt, RetryPolicy, ToolCall};

use super::{
    dispatch::{self, Shown},
    drive::Driver,
    reply::By,
    route::Route,
};
use crate::{
    CallRecord, Waiting, approval, pieces,
    record::{self, Wait},
};

/// The result of a call that was running when the process ended and that cannot be repeated.
const UNKNOWN: &str = "This process was stopped during the call. Whether it was carried out is not known; \
                       it was not made again.";

/// The result of a call, for the model and for watchers.
pub(super) struct Outcome {
    pub(super) record: CallRecord,
    pub(super) shown: Shown,
}

impl From<CallRecord> for Outcome {
    fn from(record: CallRecord) -> Self {
        Self { record, shown: Shown::default() }
    }
}

impl Driver {
    /// Runs one call. All of it appears in the parent's stream (D4).
    pub(super) async fn call(&self, waiting: &Waiting, route: &Route) -> CallRecord {
        let arguments = waiting.call.arguments.to_value();
        let parts = vec![Part::data(arguments.clone())];
        self.show(waiting, "tool-call", parts, Object::new()).await;
        let (approved, wait) = self.approved(waiting, route).await;
        let mut outcome: Outcome = if !approved {
            self.note(waiting, CallRecord::refused(&waiting.call.tool)).await.into()
        } else {
            match route {
                Route::NotStarted { name, description, why } => {
                    let failed = dispatch::not_started(name, description, why);
                    self.note(waiting, failed).await.into()
                }
                Route::Nowhere { why } => match record::broken_arguments(&waiting.call) {
                    Some(broken) => broken.into(),
                    None => self.note(waiting, CallRecord::failed(why)).await.into(),
                },
                Route::Never => {
                    self.note(waiting, CallRecord::never(&waiting.call.tool)).await.into()
                }
                Route::Tool { name, input, once, .. } => {
                    let input = input.clone().unwrap_or(arguments);
                    let may = !once || self.is_first(waiting).await;
                    self.use_tool(waiting, name, input, may).await.into()
                }
                Route::Workflow { name, description, input, .. } => {
                    self.dispatch(waiting, name, description, input.clone()).await
                }
                Route::Status { .. } => self.task_status(waiting, &arguments).await.into(),
                Route::Reply { ask } => {
                    self.reply(waiting, &arguments, By::Model { ask: *ask }).await
                }
                Route::ReplyOfUser => self.reply(waiting, &arguments, By::User).await,
            }
        };
        let Shown { mut parts, metadata } = std::mem::take(&mut outcome.shown);
        if parts.is_empty() {
            parts = dispatch::shown(&outcome.record);
        }
        self.show(waiting, "tool-result", parts, metadata).await;
        outcome.record.waits.extend(wait);
        outcome.record
    }

    /// Publishes a call or its result as an artifact of the turn.
    async fn show(&self, waiting: &Waiting, prefix: &str, parts: Vec<Part>, metadata: Object) {
        let (name, id) = waiting.artifact(prefix);
        let Ok(id) = ArtifactId::new(&id) else { return };
        let mut artifact = Artifact::new(id, parts).named(name);
        artifact.metadata = metadata;
        let call = &waiting.call;
        artifact.metadata.insert("toolCallId".to_owned(), call.id.as_str().into());
        artifact.metadata.insert("toolName".to_owned(), call.tool.as_str().into());
        self.stage.artifact(artifact.into()).await;
    }

    /// Whether the call is allowed. Asks the user if the call needs approval.
    async fn approved(&self, waiting: &Waiting, route: &Route) -> (bool, Option<Wait>) {
        if !route.asks() {
            return (true, None);
        }
        let prompt = approval::prompt(&waiting.call);
        let (answer, wait) = self.ask_people(prompt, approval::schema()).await;
        (approval::is_approved(&answer), wait)
    }

    /// Records a result that is already known as the call's result.
    pub(super) async fn note(&self, waiting: &Waiting, record: CallRecord) -> CallRecord {
        let record = || record.at(self.stage.moment()).to_value();
        CallRecord::from_outcome(&self.stage.record(&waiting.key(), record).await)
    }

    /// Records that the call is about to run. Returns false if an earlier process recorded this and
    /// ended before it recorded a result.
    async fn is_first(&self, waiting: &Waiting) -> bool {
        let mut first = false;
        let begins = || {
            first = true;
            Ok(Value::Null)
        };
        self.stage.record(&format!("begin {}", waiting.key()), begins).await;
        first
    }

    async fn use_tool(&self, waiting: &Waiting, name: &str, input: Value, may: bool) -> CallRecord {
        let mut work = |attempt: Attempt| -> BoxFuture<'_, _> {
            // A call that asked the user resumes at its question.
            if may || self.stage.has_asked(&attempt.op) {
                Box::pin(self.use_tool_now(name, input.clone(), attempt))
            } else {
                Box::pin(async { CallRecord::failed(UNKNOWN).at(self.stage.moment()).to_value() })
            }
        };
        self.outcome(&waiting.key(), &mut work).await
    }

    async fn use_tool_now(
        &self,
        name: &str,
        mut input: Value,
        attempt: Attempt,
    ) -> Result<Value, Failure> {
        let stock = self.workshop.stock();
        let Some(tool) = stock.tools.iter().find(|tool| tool.info().name == name) else {
            return CallRecord::failed(format!("{name} is no longer available."))
                .at(self.stage.moment())
                .to_value();
        };
        let problems = self.schemas.read_arguments(&**tool, &mut input);
        let record = if problems.is_empty() {
            let step = attempt.op.clone();
            let record = match tool.call(input, ToolCall::on(&self.stage, attempt)).await {
                Ok(output) => CallRecord::new(pieces::result_pieces(&output.value, &output.parts)),
                Err(failure) => CallRecord::failed(failure.message),
            };
            CallRecord { waits: self.waits_within(&step).await, ..record }
        } else {
            let wrong = problems.iter().map(Problem::sentence).collect::<Vec<_>>().join("; ");
            CallRecord::failed(format!("The arguments do not fit: {wrong}. Nothing was called."))
        };
        record.at(self.stage.moment()).to_value()
    }

    /// Asks a question of the turn itself. The wait is measured where the turn's seconds are counted.
    pub(super) async fn ask_people(
        &self,
        prompt: Vec<Part>,
        schema: Value,
    ) -> (Value, Option<Wait>) {
        let timed = self.spec.budgets.seconds.is_some();
        let from = if timed { Some(self.stage.now().await) } else { None };
        let (_, answer) = self.stage.ask(Reason::InputRequired, prompt, schema, None).await;
        let wait = match from {
            Some(from) => Some(Wait { from, to: self.stage.now().await }),
            None => None,
        };
        (answer.input, wait)
    }

    /// How long a step waited for people, according to the log. The question may be older than the
    /// current attempt at the step. For use within that step.
    pub(super) async fn waits_within(&self, step: &Op) -> Vec<Wait> {
        let (Some(_), Some(archive)) = (self.spec.budgets.seconds, self.stage.archive()) else {
            return Vec::new();
        };
        match archive.asked_within(self.stage.run(), step).await {
            Ok(asked) => asked.into_iter().map(|(from, to)| Wait { from, to }).collect(),
            Err(error) => {
                // The tool's result matters more than its exact time.
                tracing::warn!(%error, %step, "cannot read how long the step waited for people");
                Vec::new()
            }
        }
    }

    /// A step whose outcome is the record of a call.
    pub(super) async fn outcome(
        &self,
        key: &str,
        work: &mut trackway_runtime::StepWork<'_>,
    ) -> CallRecord {
        CallRecord::from_outcome(&self.stage.step(key, RetryPolicy::default(), work).await.1)
    }
}
