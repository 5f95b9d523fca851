//! The loop: asks the turn for its next action, runs the action, and gives the result back to the turn.

use std::{collections::BTreeSet, sync::Arc};

use futures_util::future::join_all;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use trackway_domain::{Failure, QuestionId, StepOutcome};
use trackway_engine::SchemaChecker;
use trackway_runtime::{ProgramStop, SchemaCache, Stage};

use super::{
    answer_stream::{self, SEPARATOR, StreamKind},
    call_route::CallRoute,
    model_step::ModelOutcome,
};
use crate::{
    AgentResources, AgentSpec, AgentTurn, EndedTask, NextAction, PendingCall, TurnOutcome, content_pieces,
};

/// Drives one turn.
pub(super) struct TurnDriver {
    pub(super) stage: Stage,
    pub(super) spec: Arc<AgentSpec>,
    pub(super) resources: Arc<AgentResources>,
    pub(super) schemas: Arc<SchemaCache>,
    /// Questions that were open when the user sent the message.
    pub(super) open_question_ids: BTreeSet<QuestionId>,
    /// Whether earlier turns dispatched any task.
    pub(super) has_dispatched: bool,
    /// Dispatched tasks that ended since the previous turn.
    pub(super) ended_tasks: Vec<EndedTask>,
}

impl TurnDriver {
    pub(super) async fn run_turn(mut self, input: Value) -> Result<Value, ProgramStop> {
        let (begin, history) = self.load_turn_start().await?;
        self.open_question_ids = begin.questions.iter().map(|open| open.question.id).collect();
        self.has_dispatched = begin.has_dispatched;
        self.ended_tasks.clone_from(&begin.ended);
        let user = content_pieces::pieces_from_user_input(self.stage.start_message(), &input);
        let output = self.requested_output_schema(&input);
        let mut turn = AgentTurn::begin_turn(&self.spec, history, user, begin.began);
        if let Some(schema) = &output {
            turn = turn.with_output_schema(schema.clone());
        }
        // The routes of the last answer's calls, in their order.
        let mut routes = Vec::new();
        if let Some(reply) = self.match_user_reply(&begin, &mut turn).await {
            let given = self.record_reply_as_call(reply).await?;
            turn.apply_rule_answer(&given.recorded).map_err(turn_failure)?;
            routes = given.routes;
        }
        loop {
            match turn.next_action() {
                NextAction::Ask => {
                    self.compact_history(&mut turn).await?;
                    // A summary uses tokens and time as well.
                    if turn.next_action() != NextAction::Ask {
                        continue;
                    }
                    match self.ask_model(&turn).await? {
                        ModelOutcome::Answer(heard) => {
                            turn.apply_model_answer(&heard.recorded).map_err(turn_failure)?;
                            routes = heard.routes;
                        }
                        ModelOutcome::Late { limit } => {
                            return self.end_at_limit(&turn, limit).await;
                        }
                    }
                }
                NextAction::Call(calls) => self.run_tool_calls(&mut turn, &calls, &routes).await?,
                NextAction::Judge(value) => {
                    let schema = output.as_ref().unwrap_or(&Value::Bool(true));
                    let problems = self.schemas.check(schema, &value);
                    turn.judge_output(&problems).map_err(turn_failure)?;
                }
                NextAction::Done(TurnOutcome { output: Some(value), .. }) => return Ok(value),
                NextAction::Done(done) => {
                    let sentence = done.ending.user_sentence();
                    return Ok(self.publish_final_output(&turn, &done.text, sentence).await);
                }
                NextAction::Limit(limit) => {
                    return self.end_at_limit(&turn, limit.to_string()).await;
                }
                NextAction::Failed(why) => return Err(ProgramStop::Failed(Failure::new(why))),
            }
        }
    }

    /// The schema of the output, if a run that no person started requires one.
    fn requested_output_schema(&self, input: &Value) -> Option<Value> {
        let wanted = input.get("output").filter(|schema| !schema.is_null())?;
        self.stage.start_message().is_none().then(|| wanted.clone())
    }

    /// Runs all calls of an answer concurrently.
    async fn run_tool_calls(
        &self,
        turn: &mut AgentTurn,
        calls: &[PendingCall],
        routes: &[CallRoute],
    ) -> Result<(), ProgramStop> {
        let mut results = Vec::with_capacity(calls.len());
        for call in calls {
            let Some(route) = routes.get(call.position.index) else {
                let number = call.position.index + 1;
                return Err(turn_failure(format!("call {number} of an answer is not recorded")));
            };
            results.push(Box::pin(self.run_tool_call(call, route)));
        }
        for (call, result) in calls.iter().zip(join_all(results).await) {
            turn.apply_call_result(&call.call.id, result).map_err(turn_failure)?;
        }
        Ok(())
    }

    /// A budget is used up. A conversation ends with a sentence about it. A run without a conversation
    /// fails: its work is not done, and its caller could not distinguish the sentence from an output.
    async fn end_at_limit(&self, turn: &AgentTurn, limit: String) -> Result<Value, ProgramStop> {
        if self.stage.start_message().is_none() {
            return Err(ProgramStop::Failed(Failure::new(limit)));
        }
        Ok(self.publish_final_output(turn, "", Some(&limit)).await)
    }

    /// Closes the streamed text, and returns the turn's output.
    async fn publish_final_output(&self, turn: &AgentTurn, text: &str, sentence: Option<&str>) -> Value {
        let said = turn.answer_texts().join(SEPARATOR);
        let label = turn.usage().label.as_deref().unwrap_or_default();
        let thought = turn.reasoning_texts().join(SEPARATOR);
        answer_stream::publish_final_text(&self.stage, StreamKind::Reasoning, label, &thought, None).await;
        answer_stream::publish_final_text(&self.stage, StreamKind::Text, label, &said, sentence).await;
        let text = match sentence {
            Some(sentence) if text.is_empty() => sentence.to_owned(),
            Some(sentence) => format!("{text}{SEPARATOR}{sentence}"),
            None => text.to_owned(),
        };
        let used = turn.usage();
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
pub(super) fn decode_outcome<T: DeserializeOwned>(outcome: StepOutcome) -> Result<T, ProgramStop> {
    match outcome {
        StepOutcome::Ok(value) => serde_json::from_value(value).map_err(turn_failure),
        StepOutcome::Err(failure) => Err(ProgramStop::Failed(failure)),
    }
}

/// A value as the outcome of a step.
pub(super) fn encode_outcome(value: &impl Serialize) -> Result<Value, Failure> {
    serde_json::to_value(value)
        .map_err(|error| Failure::new(format!("the outcome cannot be recorded: {error}")))
}

/// The log contains a result that the turn did not wait for: this program does not match the log.
pub(super) fn turn_failure(error: impl std::fmt::Display) -> ProgramStop {
    ProgramStop::Failed(Failure::new(format!("the turn cannot go on: {error}")))
}
