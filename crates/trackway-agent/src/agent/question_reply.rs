//! Replies: a user's message may answer the question of a run that the conversation started.

mod answer_provenance;
mod reply_interpretation;

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use trackway_domain::{
    Failure, InterruptReason, Message, MessageId, MessageRole, Part, QuestionId, RunId, StepOutcome,
    ValidationError,
};
use trackway_engine::{MessageDeliveryOutcome, SchemaChecker};
use trackway_runtime::{ProgramStop, RetryPolicy, StepAttempt};

use self::reply_interpretation::ReplyInterpretation;
use super::{
    tool_call_execution::ToolCallOutcome,
    tool_call_route::{RoutedModelAnswer, ToolCallRoute},
    turn_driver::{self, AgentTurnDriver, encode_step_outcome},
    turn_start::{OpenSessionQuestion, TurnStartContext},
    workflow_dispatch::{WorkflowDispatchResult, person_required_record, rejected_answer_record},
};
use crate::{
    AgentTurn, FinishReason, ModelAnswer, OpenQuestionNote, PendingToolCall, REPLY_TOOL, RecordedModelCall,
    ToolCallRecord, ToolSpec, ToolUse, approval_question,
    content_pieces::text_truncation,
    turn_record::{MODEL_KEY, REPLY_LABEL, UserWaitPeriod},
};

/// Longest question that a model receives word for word. It is part of every request of the session.
/// Limit (Agents): open question that a model is given word for word.
const ASKS_BYTES_MAX: usize = 2 * 1024;

/// Longest schema of a question that a model receives. If the schema is longer, a wrong answer is
/// rejected with its errors.
/// Limit (Agents): schema of an open question that a model is given.
const SCHEMA_BYTES_MAX: usize = 4 * 1024;

/// A user's message that answers a question.
pub(super) struct UserQuestionReply {
    run: RunId,
    input: Value,
}

/// An answer that was sent. It is recorded with its message's id, which identifies the reply to it. A
/// fork of the turn has another id but the same answers.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SentTaskAnswer {
    message: MessageId,
    /// The errors; empty if the answer was accepted.
    problems: Vec<ValidationError>,
}

/// Who authorizes an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AnswerAuthor {
    /// The model answers workflows on behalf of the user, and nothing else: its answer may come from
    /// text that it has read. It never authorizes, and it never answers a question that the user has
    /// not seen yet. With `ask`, the user confirms first if the answer is not in the user's message.
    Model {
        ask: bool,
    },
    User,
}

impl AgentTurnDriver {
    /// The question that the user's message answers: the one that it names, or the only open one that
    /// it clearly belongs to. If several are open, the user chooses.
    pub(super) async fn match_message_to_open_question(
        &self,
        turn_start: &TurnStartContext,
        turn: &mut AgentTurn,
    ) -> Option<UserQuestionReply> {
        let message = self.stage.start_message()?;
        let parts = &message.parts;
        let fitting = |open: &OpenSessionQuestion, may: &dyn Fn(&ReplyInterpretation) -> bool| {
            let schema = &open.question.schema;
            let read = reply_interpretation::interpret_user_reply(schema, parts)
                .into_iter()
                .filter(|reading| may(reading));
            let mut read = read.map(ReplyInterpretation::into_answer_value);
            read.find(|input| self.schemas.check_against_schema(schema, input).is_empty())
        };
        let input = |open: &OpenSessionQuestion| {
            fitting(open, &|reading| reading.answers_unnamed_question(open.question.reason, parts))
        };
        let named =
            turn_start.questions.iter().find(|open| message.references.contains(&open.run.to_string()));
        if let Some(open) = named {
            // The message is for this question even if it does not match the schema. The question then
            // reports the errors.
            let input =
                fitting(open, &|_| true).or_else(|| reply_interpretation::message_as_answer_value(parts))?;
            return Some(UserQuestionReply { run: open.run, input });
        }
        match turn_start.questions.as_slice() {
            [] => None,
            [open] => Some(UserQuestionReply { run: open.run, input: input(open)? }),
            several => {
                let fitting: Vec<&OpenSessionQuestion> =
                    several.iter().filter(|open| input(open).is_some()).collect();
                if fitting.is_empty() {
                    return None;
                }
                let (chosen, wait) = self.ask_user_which_question(&fitting).await;
                turn.add_user_waits(wait);
                let open = fitting.into_iter().find(|open| open.run.to_string() == chosen)?;
                Some(UserQuestionReply { run: open.run, input: input(open)? })
            }
        }
    }

    /// Asks the user which question the message answers; empty if none of them.
    async fn ask_user_which_question(
        &self,
        open_question: &[&OpenSessionQuestion],
    ) -> (String, Option<UserWaitPeriod>) {
        let mut text = "Several questions are open. Which one do you answer?".to_owned();
        let mut ids: Vec<String> = Vec::new();
        for open in open_question {
            let asked = question_prompt_text(open);
            text.push_str(&format!("\n- {} ({}): {asked}", open.run, open.workflow));
            ids.push(open.run.to_string());
        }
        text.push_str("\n- none: it answers none of them");
        ids.push("none".to_owned());
        let schema = json!({
            "type": "object",
            "properties": { "taskId": { "type": "string", "enum": ids } },
            "required": ["taskId"],
            "additionalProperties": false,
        });
        let (answer, wait) = self.ask_user_and_time_wait(vec![Part::text(text)], schema).await;
        let chosen = answer.get("taskId").and_then(Value::as_str).unwrap_or_default();
        (chosen.to_owned(), wait)
    }

    /// The reply as a call, as if the model had made it. So it runs, is published and is remembered
    /// like one.
    pub(super) async fn record_reply_as_tool_call(
        &self,
        reply: UserQuestionReply,
    ) -> Result<RoutedModelAnswer, ProgramStop> {
        let arguments = json!({ "taskId": reply.run, "input": reply.input });
        let calls = vec![ToolUse::new("reply", REPLY_TOOL, arguments)];
        let answer = ModelAnswer { calls, finish: FinishReason::Calls, ..ModelAnswer::default() };
        let routed = || {
            let (label, ended_at) = (REPLY_LABEL.to_owned(), self.stage.unrecorded_now());
            let recorded = RecordedModelCall { answer, label, cost: None, ended_at };
            encode_step_outcome(&RoutedModelAnswer { recorded, routes: vec![ToolCallRoute::ReplyOfUser] })
        };
        turn_driver::decode_step_outcome(self.stage.record_step_outcome(MODEL_KEY, routed).await)
    }

    /// Sends an answer to a run of this session that waits for one, and returns the run's reply.
    pub(super) async fn send_answer_to_waiting_task(
        &self,
        pending_call: &PendingToolCall,
        arguments: &Value,
        author: AnswerAuthor,
    ) -> ToolCallOutcome {
        let run = arguments.get("taskId").and_then(Value::as_str);
        let Some(run) = run.and_then(|id| id.parse::<RunId>().ok()) else {
            let why = "`taskId` has to name a task of this conversation that waits for an answer.";
            return self
                .record_call_result(pending_call, ToolCallRecord::failed_call_with_reason(why))
                .await
                .into();
        };
        let input = arguments.get("input").cloned().unwrap_or(Value::Null);
        // Finding the question and sending the answer are two steps. A send that is repeated after a
        // crash must go to the same question, which is no longer open if the first send arrived.
        let place = format!("{}.{}", pending_call.position.model_call, pending_call.position.index);
        let mut work =
            |_: StepAttempt| -> BoxFuture<'_, _> { Box::pin(self.find_answerable_question(run, author)) };
        let asked: OpenSessionQuestion =
            match self.run_recorded_step(&format!("find {place}"), &mut work).await {
                Ok(asked) => asked,
                Err(failure) => {
                    return self
                        .record_call_result(
                            pending_call,
                            ToolCallRecord::failed_call_with_reason(failure.message),
                        )
                        .await
                        .into();
                }
            };
        let mut wait = None;
        if let AnswerAuthor::Model { ask } = author {
            if asked.question.reason == InterruptReason::AuthRequired {
                return self.record_call_result(pending_call, person_required_record(&asked)).await.into();
            }
            if ask {
                let prompt = approval_question::task_answer_approval_prompt(
                    &pending_call.call,
                    &asked.workflow,
                    &question_prompt_text(&asked),
                );
                let (answer, waited) =
                    self.ask_user_and_time_wait(prompt, approval_question::approval_answer_schema()).await;
                wait = waited;
                if !approval_question::is_approved(&answer) {
                    let mut refused = self
                        .record_call_result(pending_call, ToolCallRecord::call_refused_by_user(REPLY_TOOL))
                        .await;
                    refused.waits.extend(wait);
                    return refused.into();
                }
            }
        }
        let mut work = |_: StepAttempt| -> BoxFuture<'_, _> {
            Box::pin(self.send_task_answer(run, asked.question.id, &input, &place))
        };
        let mut outcome: ToolCallOutcome = match self
            .run_recorded_step::<SentTaskAnswer>(&format!("send {place}"), &mut work)
            .await
        {
            Err(failure) => self
                .record_call_result(pending_call, ToolCallRecord::failed_call_with_reason(failure.message))
                .await
                .into(),
            Ok(sent) if !sent.problems.is_empty() => {
                let refused = rejected_answer_record(run, &sent.problems, &asked.question.schema);
                self.record_call_result(pending_call, refused).await.into()
            }
            Ok(sent) => {
                let op = self.stage.claim_reply_op(&sent.message);
                let OpenSessionQuestion { workflow, description, .. } = &asked;
                let answer = self.await_child_first_answer(&op, workflow).await;
                self.record_and_report_dispatch(
                    pending_call,
                    &WorkflowDispatchResult { run, workflow, description, answer },
                )
                .await
            }
        };
        outcome.record.waits.extend(wait);
        outcome
    }

    /// Whether the answer in these arguments is in the user's message of this turn.
    pub(super) fn is_answer_in_user_message(&self, arguments: &Value) -> bool {
        let parts = self.stage.start_message().map(|message| message.parts.as_slice());
        let input = arguments.get("input").unwrap_or(&Value::Null);
        answer_provenance::is_value_in_user_message(input, parts.unwrap_or_default())
    }

    /// The outcome of a step.
    async fn run_recorded_step<T: DeserializeOwned>(
        &self,
        key: &str,
        work: &mut trackway_runtime::StepWork<'_>,
    ) -> Result<T, Failure> {
        let (_, outcome) = self.stage.step(key, RetryPolicy::default(), work).await;
        match outcome {
            StepOutcome::Ok(value) => {
                serde_json::from_value(value).map_err(|error| Failure::new(error.to_string()))
            }
            StepOutcome::Err(failure) => Err(failure),
        }
    }

    /// The question of that run, if the run is in this session, waits, and accepts this answerer.
    async fn find_answerable_question(&self, run: RunId, author: AnswerAuthor) -> Result<Value, Failure> {
        let open = self.list_open_session_questions().await?.into_iter().find(|open| open.run == run);
        let mut open = open
            .filter(|open| open.of_workflow || author == AnswerAuthor::User)
            .ok_or_else(no_waiting_task_failure)?;
        let is_new = !self.open_question_ids.contains(&open.question.id);
        if author != AnswerAuthor::User && is_new && open.question.reason != InterruptReason::AuthRequired {
            return Err(Failure::new(
                "The question was put after the user has spoken. Tell the user of it; the answer has \
                 to be theirs.",
            ));
        }
        // Recorded with the question, so that a replay finds the same text even if the workflow changes
        // it later.
        let programs = self.stage.list_available_programs();
        let program = programs.iter().find(|program| program.info().name == open.workflow);
        open.description = program.map(|it| it.info().description.clone()).unwrap_or_default();
        encode_step_outcome(&open)
    }

    /// Sends the answer. Its errors are part of the outcome.
    async fn send_task_answer(
        &self,
        run: RunId,
        question: QuestionId,
        input: &Value,
        call_key: &str,
    ) -> Result<Value, Failure> {
        let id = MessageId::new(&format!("{}-{call_key}", self.stage.run_id()))
            .map_err(|error| Failure::new(error.to_string()))?;
        let message = Message::new(id.clone(), MessageRole::User, vec![Part::data(input.clone())]);
        let problems = match self.stage.answer_question_of_run(run, Some(question), message).await? {
            MessageDeliveryOutcome::Answer { primary: true, .. } => Vec::new(),
            MessageDeliveryOutcome::Answer { problems, .. } if !problems.is_empty() => problems,
            MessageDeliveryOutcome::Answer { .. } | MessageDeliveryOutcome::Noted => {
                return Err(no_waiting_task_failure());
            }
        };
        encode_step_outcome(&SentTaskAnswer { message: id, problems })
    }
}

fn no_waiting_task_failure() -> Failure {
    Failure::new("No task of this conversation with that id waits for an answer.")
}

/// The tool definition for the model.
pub(super) fn answer_task_tool_spec() -> ToolSpec {
    ToolSpec {
        name: REPLY_TOOL.to_owned(),
        description: "Brings the user's answer to a task of this conversation that waits for input. \
                      Only with what the user has said: they are asked where it is anything else. \
                      `input` has to satisfy the task's schema. Tasks that ask for an authorization \
                      are answered by a person, not by this tool."
            .to_owned(),
        schema: json!({
            "type": "object",
            "properties": {
                "taskId": { "type": "string", "description": "The task that asked." },
                "input": { "description": "The answer." },
            },
            "required": ["taskId", "input"],
        }),
    }
}

/// The workflow questions that a model receives. Questions that ask for an authorization are marked.
pub(super) fn to_open_question_notes<'a>(
    open_question: impl Iterator<Item = &'a OpenSessionQuestion>,
) -> Vec<OpenQuestionNote> {
    let note = |open: &OpenSessionQuestion| OpenQuestionNote {
        task_id: open.run.to_string(),
        workflow: open.workflow.clone(),
        asks: text_truncation::truncate_text_with_note(&question_prompt_text(open), ASKS_BYTES_MAX),
        schema: Some(&open.question.schema)
            .filter(|schema| schema.to_string().len() <= SCHEMA_BYTES_MAX)
            .cloned(),
        person_only: open.question.reason == InterruptReason::AuthRequired,
    };
    open_question.filter(|open| open.of_workflow).map(note).collect()
}

fn question_prompt_text(open_question: &OpenSessionQuestion) -> String {
    let texts: Vec<&str> = open_question.question.prompt.iter().filter_map(Part::as_text).collect();
    texts.join(" ")
}
