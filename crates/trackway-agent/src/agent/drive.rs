//! The loop: asks the turn for its next action, runs the action, and gives the result back to the turn.

use std::{collections::BTreeSet, sync::Arc};

use futures_util::future::join_all;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use trackway_domain::{Failure, QuestionId, StepOutcome};
use trackway_engine::Schemas;
use trackway_runtime::{SchemaBook, Stage, Stop};

use super::{
    model::Heard,
    route::Route,
    speaker::{self, SEPARATOR, Speech},
};
use crate::{AgentSpec, Done, EndedTask, Next, Turn, Waiting, Workshop, pieces};

/// Drives one turn.
pub(super) struct Driver {
    pub(super) stage: Stage,
    pub(super) spec: Arc<AgentSpec>,
    pub(super) workshop: Arc<Workshop>,
    pub(super) schemas: Arc<SchemaBook>,
    /// Questions that were open when the user sent the message.
    pub(super) asked: BTreeSet<QuestionId>,
    /// Whether earlier turns dispatched any task.
    pub(super) has_dispatched: bool,
    /// Dispatched tasks that ended since the previous turn.
    pub(super) ended: Vec<EndedTask>,
}

impl Driver {
    pub(super) async fn run(mut self, input: Value) -> Result<Value, Stop> {
        let (begin, history) = self.begin().await?;
        self.asked = begin.questions.iter().map(|open| open.question.id).collect();
        self.has_dispatched = begin.has_dispatched;
        self.ended.clone_from(&begin.ended);
        let user = pieces::user_pieces(self.stage.message(), &input);
        let output = self.output_wanted(&input);
        let mut turn = Turn::begin(&self.spec, history, user, begin.began);
        if let Some(schema) = &output {
            turn = turn.expecting(schema.clone());
        }
        // The routes of the last answer's calls, in their order.
        let mut routes = Vec::new();
        if let Some(reply) = self.reply_of_user(&begin, &mut turn).await {
            let given = self.reply_as_call(reply).await?;
            turn.given(&given.recorded).map_err(stopped)?;
            routes = given.routes;
        }
        loop {
            match turn.next() {
                Next::Ask => {
                    self.compact(&mut turn).await?;
                    // A summary uses tokens and time as well.
                    if turn.next() != Next::Ask {
                        continue;
                    }
                    match self.ask(&turn).await? {
                        Heard::Answer(heard) => {
                            turn.heard(&heard.recorded).map_err(stopped)?;
                            routes = heard.routes;
                        }
                        Heard::Late { limit } => return self.over(&turn, limit).await,
                    }
                }
                Next::Call(calls) => self.follow(&mut turn, &calls, &routes).await?,
                Next::Judge(value) => {
                    let schema = output.as_ref().unwrap_or(&Value::Bool(true));
                    let problems = self.schemas.check(schema, &value);
                    turn.judge(&problems).map_err(stopped)?;
                }
                Next::Done(Done { output: Some(value), .. }) => return Ok(value),
                Next::Done(done) => {
                    let sentence = done.ending.sentence();
                    return Ok(self.end(&turn, &done.text, sentence).await);
                }
                Next::Limit(limit) => return self.over(&turn, limit.to_string()).await,
                Next::Failed(why) => return Err(Stop::Failed(Failure::new(why))),
            }
        }
    }

    /// The schema of the output, if a run that no person started requires one.
    fn output_wanted(&self, input: &Value) -> Option<Value> {
        let wanted = input.get("output").filter(|schema| !schema.is_null())?;
        self.stage.message().is_none().then(|| wanted.clone())
    }

    /// Runs all calls of an answer concurrently.
    async fn follow(
        &self,
        turn: &mut Turn,
        calls: &[Waiting],
        routes: &[Route],
    ) -> Result<(), Stop> {
        let mut results = Vec::with_capacity(calls.len());
        for call in calls {
            let Some(route) = routes.get(call.place.index) else {
                let number = call.place.index + 1;
                return Err(stopped(format!("call {number} of an answer is not recorded")));
            };
            results.push(Box::pin(self.call(call, route)));
        }
        for (call, result) in calls.iter().zip(join_all(results).await) {
            turn.returned(&call.call.id, result).map_err(stopped)?;
        }
        Ok(())
    }

    /// A budget is used up. A conversation ends with a sentence about it. A run without a conversation
    /// fails: its work is not done, and its caller could not distinguish the sentence from an output.
    async fn over(&self, turn: &Turn, limit: String) -> Result<Value, Stop> {
        if self.stage.message().is_none() {
            return Err(Stop::Failed(Failure::new(limit)));
        }
        Ok(self.end(turn, "", Some(&limit)).await)
    }

    /// Closes the streamed text, and returns the turn's output.
    async fn end(&self, turn: &Turn, text: &str, sentence: Option<&str>) -> Value {
        let said = turn.said().join(SEPARATOR);
        let label = turn.used().label.as_deref().unwrap_or_default();
        let thought = turn.reasoned().join(SEPARATOR);
        speaker::finish(&self.stage, Speech::Reasoning, label, &thought, None).await;
        speaker::finish(&self.stage, Speech::Text, label, &said, sentence).await;
        let text = match sentence {
            Some(sentence) if text.is_empty() => sentence.to_owned(),
            Some(sentence) => format!("{text}{SEPARATOR}{sentence}"),
            None => text.to_owned(),
        };
        let used = turn.used();
        let mut output = json!({ "text": text });
        if let Some(label) = &used.label {
            output["model"] = json!(label);
        }
        if let Some(usage) = used.usage {
            output["usage"] = json!(usage);
        }
        if let Some(cost) = used.cost {
            output["cost"] = json!(cost);
        }
        output
    }
}

/// The outcome of a recorded step, parsed.
pub(super) fn recorded<T: DeserializeOwned>(outcome: StepOutcome) -> Result<T, Stop> {
    match outcome {
        StepOutcome::Ok(value) => serde_json::from_value(value).map_err(stopped),
        StepOutcome::Err(failure) => Err(Stop::Failed(failure)),
    }
}

/// A value as the outcome of a step.
pub(super) fn to_outcome(value: &impl Serialize) -> Result<Value, Failure> {
    serde_json::to_value(value)
        .map_err(|error| Failure::new(format!("the outcome cannot be recorded: {error}")))
}

/// The log contains a result that the turn did not wait for: this program does not match the log.
pub(super) fn stopped(error: impl std::fmt::Display) -> Stop {
    Stop::Failed(Failure::new(format!("the turn cannot go on: {error}")))
}
