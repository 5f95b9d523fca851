//! The loop: asks the turn for its next action, runs the action, and gives the result back to the turn.

use std::{collections::BTreeSet, sync::Arc};

use futures_util::future::join_all;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use trackway_domain::{Failure, QuestionId, StepOutcome};
use trackway_engine::SchemaChecker;
use trackway_runtime::{ProgramStop, SchemaCache, Stage};

use super::{
    answer_stream::{self, AnswerStreamKind, SEPARATOR},
    model_step::TurnModelOutcome,
    tool_call_route::ToolCallRoute,
};
use crate::{
    AgentResources, AgentSpec, AgentTurn, EndedTaskNote, NextTurnAction, PendingToolCall, TurnOutcome,
    content_pieces,
};

/// Drives one turn.
pub(super) struct AgentTurnDriver {
    pub(super) stage: Stage,
    pub(super) spec: Arc<AgentSpec>,
    pub(super) resources: Arc<AgentResources>,
    pub(super) schemas: Arc<SchemaCache>,
    /// Questions that were open when the user sent the message.
    pub(super) open_question_ids: BTreeSet<QuestionId>,
    /// Whether earlier turns dispatched any task.
    pub(super) has_dispatched: bool,
    /// Dispatched tasks that ended since the previous turn.
    pub(super) ended_tasks: Vec<EndedTaskNote>,
}

impl AgentTurnDriver {
    pub(super) async fn run_turn(mut self, input: Value) -> Result<Value, ProgramStop> {
        let (begin, history) = self.load_turn_start_context().await?;
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
        if let Some(reply) = self.match_message_to_open_question(&begin, &mut turn).await {
            let given = self.record_reply_as_tool_call(reply).await?;
            turn.apply_synthetic_call(&given.recorded).map_err(turn_failed_stop)?;
            routes = given.routes;
        }
        loop {
            match turn.next_action() {
                NextTurnAction::Ask => {
                    self.compact_turn_history(&mut turn).await?;
                    // A summary uses tokens and time as well.
                    if turn.next_action() != NextTurnAction::Ask {
                        continue;
                    }
                    match self.call_model_in_step(&turn).await? {
                        TurnModelOutcome::Answer(heard) => {
                            turn.apply_model_answer(&heard.recorded).map_err(turn_failed_stop)?;
                            routes = heard.routes;
                        }
                        TurnModelOutcome::Late { limit } => {
                            return self.end_turn_at_limit(&turn, limit).await;
                        }
                    }
                }
                NextTurnAction::Call(calls) => self.run_tool_calls(&mut turn, &calls, &routes).await?,
                NextTurnAction::Judge(value) => {
                    let schema = output.as_ref().unwrap_or(&Value::Bool(true));
                    let problems = self.schemas.check_against_schema(schema, &value);
                    turn.apply_output_validation(&problems).map_err(turn_failed_stop)?;
                }
                NextTurnAction::Done(TurnOutcome { output: Some(value), .. }) => return Ok(value),
                NextTurnAction::Done(done) => {
                    let sentence = done.ending.ending_note_for_user();
                    return Ok(self.publish_final_output(&turn, &done.text, sentence).await);
                }
                NextTurnAction::Limit(limit) => {
                    return self.end_turn_at_limit(&turn, limit.to_string()).await;
                }
                NextTurnAction::Failed(why) => return Err(ProgramStop::Failed(Failure::new(why))),
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
        calls: &[PendingToolCall],
        routes: &[ToolCallRoute],
    ) -> Result<(), ProgramStop> {
        let mut results = Vec::with_capacity(calls.len());
        for call in calls {
            let Some(route) = routes.get(call.position.index) else {
                let number = call.position.index + 1;
                return Err(turn_failed_stop(format!("call {number} of an answer is not recorded")));
            };
            results.push(Box::pin(self.run_tool_call(call, route)));
        }
        for (call, result) in calls.iter().zip(join_all(results).await) {
            turn.apply_call_result(&call.call.id, result).map_err(turn_failed_stop)?;
        }
        Ok(())
    }

    /// A budget is used up. A conversation ends with a sentence about it. A run without a conversation
    /// fails: its work is not done, and its caller could not distinguish the sentence from an output.
    async fn end_turn_at_limit(&self, turn: &AgentTurn, limit: String) -> Result<Value, ProgramStop> {
        if self.stage.start_message().is_none() {
            return Err(ProgramStop::Failed(Failure::new(limit)));
        }
        Ok(self.publish_final_output(turn, "", Some(&limit)).await)
    }

    /// Closes the streamed text, and returns the turn's output.
    async fn publish_final_output(&self, turn: &AgentTurn, text: &str, closing_note: Option<&str>) -> Value {
        let said = turn.answer_texts().join(SEPARATOR);
        let label = turn.turn_usage().label.as_deref().unwrap_or_default();
        let thought = turn.reasoning_texts().join(SEPARATOR);
        answer_stream::publish_final_answer_text(
            &self.stage,
            AnswerStreamKind::Reasoning,
            label,
            &thought,
            None,
        )
        .await;
        answer_stream::publish_final_answer_text(
            &self.stage,
            AnswerStreamKind::Text,
            label,
            &said,
            closing_note,
        )
        .await;
        let text = match closing_note {
            Some(sentence) if text.is_empty() => sentence.to_owned(),
            Some(sentence) => format!("{text}{SEPARATOR}{sentence}"),
            None => text.to_owned(),
        };
        let used = turn.turn_usage();
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
pub(super) fn decode_step_outcome<T: DeserializeOwned>(outcome: StepOutcome) -> Result<T, ProgramStop> {
    match outcome {
        StepOutcome::Ok(value) => serde_json::from_value(value).map_err(turn_failed_stop),
        StepOutcome::Err(failure) => Err(ProgramStop::Failed(failure)),
    }
}

/// A value as the outcome of a step.
pub(super) fn encode_step_outcome(value: &impl Serialize) -> Result<Value, Failure> {
    serde_json::to_value(value)
        .map_err(|error| Failure::new(format!("the outcome cannot be recorded: {error}")))
}

/// The log contains a result that the turn did not wait for: this program does not match the log.
pub(super) fn turn_failed_stop(error: impl std::fmt::Display) -> ProgramStop {
    ProgramStop::Failed(Failure::new(format!("the turn cannot go on: {error}")))
}
