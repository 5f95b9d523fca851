//! Replies: a user's message may answer the question of a run that the conversation started.

mod interpretation;
mod provenance;

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use trackway_domain::{
    Failure, InterruptReason, Message, MessageId, Part, QuestionId, Role, RunId, StepOutcome, ValidationError,
};
use trackway_engine::{DeliveryOutcome, SchemaChecker};
use trackway_runtime::{ProgramStop, RetryPolicy, StepAttempt};

use self::interpretation::ReplyInterpretation;
use super::{
    call_route::{CallRoute, RoutedAnswer},
    dispatch::{DispatchResult, person_required_record, rejected_answer_record},
    tool_calls::CallOutcome,
    turn_driver::{self, TurnDriver, encode_outcome},
    turn_start::{PendingQuestion, TurnStart},
};
use crate::{
    AgentTurn, FinishReason, ModelAnswer, OpenQuestionNote, PendingCall, REPLY_TOOL, RecordedModelCall,
    ToolCallRecord, ToolSpec, ToolUse, approval_question,
    content_pieces::truncate,
    turn_record::{MODEL_KEY, REPLY_LABEL, UserWait},
};

/// Longest question that a model receives word for word. It is part of every request of the session.
/// Limit (Agents): open question that a model is given word for word.
const ASKS_BYTES_MAX: usize = 2 * 1024;

/// Longest schema of a question that a model receives. If the schema is longer, a wrong answer is
/// rejected with its errors.
/// Limit (Agents): schema of an open question that a model is given.
const SCHEMA_BYTES_MAX: usize = 4 * 1024;

/// A user's message that answers a question.
pub(super) struct QuestionReply {
    run: RunId,
    input: Value,
}

/// An answer that was sent. It is recorded with its message's id, which identifies the reply to it. A
/// fork of the turn has another id but the same answers.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SentAnswer {
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

impl TurnDriver {
    /// The question that the user's message answers: the one that it names, or the only open one that
    /// it clearly belongs to. If several are open, the user chooses.
    pub(super) async fn match_user_reply(
        &self,
        begin: &TurnStart,
        turn: &mut AgentTurn,
    ) -> Option<QuestionReply> {
        let message = self.stage.start_message()?;
        let parts = &message.parts;
        let fitting = |open: &PendingQuestion, may: &dyn Fn(&ReplyInterpretation) -> bool| {
            let schema = &open.question.schema;
            let read =
                interpretation::interpret_message(schema, parts).into_iter().filter(|reading| may(reading));
            let mut read = read.map(ReplyInterpretation::into_value);
            read.find(|input| self.schemas.check(schema, input).is_empty())
        };
        let input = |open: &PendingQuestion| {
            fitting(open, &|reading| reading.answers_unnamed_question(open.question.reason, parts))
        };
        let named = begin.questions.iter().find(|open| message.references.contains(&open.run.to_string()));
        if let Some(open) = named {
            // The message is for this question even if it does not match the schema. The question then
            // reports the errors.
            let input = fitting(open, &|_| true).or_else(|| interpretation::message_as_value(parts))?;
            return Some(QuestionReply { run: open.run, input });
        }
        match begin.questions.as_slice() {
            [] => None,
            [open] => Some(QuestionReply { run: open.run, input: input(open)? }),
            several => {
                let fitting: Vec<&PendingQuestion> =
                    several.iter().filter(|open| input(open).is_some()).collect();
                if fitting.is_empty() {
                    return None;
                }
                let (chosen, wait) = self.ask_which_question(&fitting).await;
                turn.add_user_waits(wait);
                let open = fitting.into_iter().find(|open| open.run.to_string() == chosen)?;
                Some(QuestionReply { run: open.run, input: input(open)? })
            }
        }
    }

    /// Asks the user which question the message answers; empty if none of them.
    async fn ask_which_question(&self, open: &[&PendingQuestion]) -> (String, Option<UserWait>) {
        let mut text = "Several questions are open. Which one do you answer?".to_owned();
        let mut ids: Vec<String> = Vec::new();
        for open in open {
            let asked = question_text(open);
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
        let (answer, wait) = self.ask_user(vec![Part::text(text)], schema).await;
        let chosen = answer.get("taskId").and_then(Value::as_str).unwrap_or_default();
        (chosen.to_owned(), wait)
    }

    /// The reply as a call, as if the model had made it. So it runs, is published and is remembered
    /// like one.
    pub(super) async fn record_reply_as_call(
        &self,
        reply: QuestionReply,
    ) -> Result<RoutedAnswer, ProgramStop> {
        let arguments = json!({ "taskId": reply.run, "input": reply.input });
        let calls = vec![ToolUse::new("reply", REPLY_TOOL, arguments)];
        let answer = ModelAnswer { calls, finish: FinishReason::Calls, ..ModelAnswer::default() };
        let routed = || {
            let (label, ended_at) = (REPLY_LABEL.to_owned(), self.stage.unrecorded_now());
            let recorded = RecordedModelCall { answer, label, cost: None, ended_at };
            encode_outcome(&RoutedAnswer { recorded, routes: vec![CallRoute::ReplyOfUser] })
        };
        turn_driver::decode_outcome(self.stage.record_step(MODEL_KEY, routed).await)
    }

    /// Sends an answer to a run of this session that waits for one, and returns the run's reply.
    pub(super) async fn answer_waiting_task(
        &self,
        waiting: &PendingCall,
        arguments: &Value,
        by: AnswerAuthor,
    ) -> CallOutcome {
        let run = arguments.get("taskId").and_then(Value::as_str);
        let Some(run) = run.and_then(|id| id.parse::<RunId>().ok()) else {
            let why = "`taskId` has to name a task of this conversation that waits for an answer.";
            return self.record_result(waiting, ToolCallRecord::failed_with_reason(why)).await.into();
        };
        let input = arguments.get("input").cloned().unwrap_or(Value::Null);
        // Finding the question and sending the answer are two steps. A send that is repeated after a
        // crash must go to the same question, which is no longer open if the first send arrived.
        let place = format!("{}.{}", waiting.position.model_call, waiting.position.index);
        let mut work = |_: StepAttempt| -> BoxFuture<'_, _> { Box::pin(self.find_open_question(run, by)) };
        let asked: PendingQuestion = match self.run_recorded_step(&format!("find {place}"), &mut work).await {
            Ok(asked) => asked,
            Err(failure) => {
                return self
                    .record_result(waiting, ToolCallRecord::failed_with_reason(failure.message))
                    .await
                    .into();
            }
        };
        let mut wait = None;
        if let AnswerAuthor::Model { ask } = by {
            if asked.question.reason == InterruptReason::AuthRequired {
                return self.record_result(waiting, person_required_record(&asked)).await.into();
            }
            if ask {
                let prompt = approval_question::answer_approval_prompt(
                    &waiting.call,
                    &asked.workflow,
                    &question_text(&asked),
                );
                let (answer, waited) = self.ask_user(prompt, approval_question::approval_schema()).await;
                wait = waited;
                if !approval_question::is_approved(&answer) {
                    let mut refused =
                        self.record_result(waiting, ToolCallRecord::refused_by_user(REPLY_TOOL)).await;
                    refused.waits.extend(wait);
                    return refused.into();
                }
            }
        }
        let mut work = |_: StepAttempt| -> BoxFuture<'_, _> {
            Box::pin(self.send_answer(run, asked.question.id, &input, &place))
        };
        let mut outcome: CallOutcome = match self
            .run_recorded_step::<SentAnswer>(&format!("send {place}"), &mut work)
            .await
        {
            Err(failure) => {
                self.record_result(waiting, ToolCallRecord::failed_with_reason(failure.message)).await.into()
            }
            Ok(sent) if !sent.problems.is_empty() => {
                let refused = rejected_answer_record(run, &sent.problems, &asked.question.schema);
                self.record_result(waiting, refused).await.into()
            }
            Ok(sent) => {
                let op = self.stage.expect_reply(&sent.message);
                let PendingQuestion { workflow, description, .. } = &asked;
                let answer = self.await_first_answer(&op, workflow).await;
                self.report_dispatch(waiting, &DispatchResult { run, workflow, description, answer }).await
            }
        };
        outcome.record.waits.extend(wait);
        outcome
    }

    /// Whether the answer in these arguments is in the user's message of this turn.
    pub(super) fn is_quoted_from_user(&self, arguments: &Value) -> bool {
        let parts = self.stage.start_message().map(|message| message.parts.as_slice());
        let input = arguments.get("input").unwrap_or(&Value::Null);
        provenance::is_quoted_from(input, parts.unwrap_or_default())
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
    async fn find_open_question(&self, run: RunId, by: AnswerAuthor) -> Result<Value, Failure> {
        let open = self.list_open_questions().await?.into_iter().find(|open| open.run == run);
        let mut open = open
            .filter(|open| open.of_workflow || by == AnswerAuthor::User)
            .ok_or_else(no_waiting_task_failure)?;
        let is_new = !self.open_question_ids.contains(&open.question.id);
        if by != AnswerAuthor::User && is_new && open.question.reason != InterruptReason::AuthRequired {
            return Err(Failure::new(
                "The question was put after the user has spoken. Tell the user of it; the answer has \
                 to be theirs.",
            ));
        }
        // Recorded with the question, so that a replay finds the same text even if the workflow changes
        // it later.
        let programs = self.stage.list_programs();
        let program = programs.iter().find(|program| program.info().name == open.workflow);
        open.description = program.map(|it| it.info().description.clone()).unwrap_or_default();
        encode_outcome(&open)
    }

    /// Sends the answer. Its errors are part of the outcome.
    async fn send_answer(
        &self,
        run: RunId,
        question: QuestionId,
        input: &Value,
        call_key: &str,
    ) -> Result<Value, Failure> {
        let id = MessageId::new(&format!("{}-{call_key}", self.stage.run_id()))
            .map_err(|error| Failure::new(error.to_string()))?;
        let message = Message::new(id.clone(), Role::User, vec![Part::data(input.clone())]);
        let problems = match self.stage.reply_to_run(run, Some(question), message).await? {
            DeliveryOutcome::Answer { primary: true, .. } => Vec::new(),
            DeliveryOutcome::Answer { problems, .. } if !problems.is_empty() => problems,
            DeliveryOutcome::Answer { .. } | DeliveryOutcome::Noted => {
                return Err(no_waiting_task_failure());
            }
        };
        encode_outcome(&SentAnswer { message: id, problems })
    }
}

fn no_waiting_task_failure() -> Failure {
    Failure::new("No task of this conversation with that id waits for an answer.")
}

/// The tool definition for the model.
pub(super) fn answer_task_tool() -> ToolSpec {
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
pub(super) fn question_notes<'a>(open: impl Iterator<Item = &'a PendingQuestion>) -> Vec<OpenQuestionNote> {
    let note = |open: &PendingQuestion| OpenQuestionNote {
        task_id: open.run.to_string(),
        workflow: open.workflow.clone(),
        asks: truncate::truncate_text(&question_text(open), ASKS_BYTES_MAX),
        schema: Some(&open.question.schema)
            .filter(|schema| schema.to_string().len() <= SCHEMA_BYTES_MAX)
            .cloned(),
        person_only: open.question.reason == InterruptReason::AuthRequired,
    };
    open.filter(|open| open.of_workflow).map(note).collect()
}

fn question_text(open: &PendingQuestion) -> String {
    let texts: Vec<&str> = open.question.prompt.iter().filter_map(Part::as_text).collect();
    texts.join(" ")
}
