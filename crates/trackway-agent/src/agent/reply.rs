//! Replies: a user's message may answer the question of a run that the conversation started.

mod provenance;
mod read;

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use trackway_domain::{
    Failure, Message, MessageId, Part, Problem, QuestionId, Reason, Role, RunId, StepOutcome,
};
use trackway_engine::{Delivered, Schemas};
use trackway_runtime::{Attempt, RetryPolicy, Stop};

use self::read::Reading;
use super::{
    begin::{Begin, Open},
    call::Outcome,
    dispatch::{Told, needs_person, refused},
    drive::{self, Driver, to_outcome},
    route::{Route, Routed},
};
use crate::{
    Answer, Call, CallRecord, Finish, OpenNote, REPLY_TOOL, Recorded, ToolSpec, Turn, Waiting,
    approval,
    pieces::cut,
    record::{MODEL_KEY, REPLY_LABEL, Wait},
};

/// Longest question that a model receives word for word. It is part of every request of the session.
/// Limit (Agents): open question that a model is given word for word.
const ASKS_BYTES_MAX: usize = 2 * 1024;

/// Longest schema of a question that a model receives. If the schema is longer, a wrong answer is
/// rejected with its errors.
/// Limit (Agents): schema of an open question that a model is given.
const SCHEMA_BYTES_MAX: usize = 4 * 1024;

/// A user's message that answers a question.
pub(super) struct Reply {
    run: RunId,
    input: Value,
}

/// An answer that was sent. It is recorded with its message's id, which identifies the reply to it. A
/// fork of the turn has another id but the same answers.
#[derive(Debug, Serialize, Deserialize)]
struct Sent {
    message: MessageId,
    /// The errors; empty if the answer was accepted.
    problems: Vec<Problem>,
}

/// Who authorizes an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    /// The model answers workflows on behalf of the user, and nothing else: its answer may come from
    /// text that it has read. It never authorizes, and it never answers a question that the user has
    /// not seen yet. With `ask`, the user confirms first if the answer is not in the user's message.
    Model {
        ask: bool,
    },
    User,
}

impl Driver {
    /// The question that the user's message answers: the one that it names, or the only open one that
    /// it clearly belongs to. If several are open, the user chooses.
    pub(super) async fn reply_of_user(&self, begin: &Begin, turn: &mut Turn) -> Option<Reply> {
        let message = self.stage.message()?;
        let parts = &message.parts;
        let fitting = |open: &Open, may: &dyn Fn(&Reading) -> bool| {
            let schema = &open.question.schema;
            let read = read::readings(schema, parts).into_iter().filter(|reading| may(reading));
            let mut read = read.map(Reading::into_value);
            read.find(|input| self.schemas.check(schema, input).is_empty())
        };
        let input =
            |open: &Open| fitting(open, &|reading| reading.belongs(open.question.reason, parts));
        let named =
            begin.questions.iter().find(|open| message.references.contains(&open.run.to_string()));
        if let Some(open) = named {
            // The message is for this question even if it does not match the schema. The question then
            // reports the errors.
            let input = fitting(open, &|_| true).or_else(|| read::plain(parts))?;
            return Some(Reply { run: open.run, input });
        }
        match begin.questions.as_slice() {
            [] => None,
            [open] => Some(Reply { run: open.run, input: input(open)? }),
            several => {
                let fitting: Vec<&Open> =
                    several.iter().filter(|open| input(open).is_some()).collect();
                if fitting.is_empty() {
                    return None;
                }
                let (chosen, wait) = self.which(&fitting).await;
                turn.waited(wait);
                let open = fitting.into_iter().find(|open| open.run.to_string() == chosen)?;
                Some(Reply { run: open.run, input: input(open)? })
            }
        }
    }

    /// Asks the user which question the message answers; empty if none of them.
    async fn which(&self, open: &[&Open]) -> (String, Option<Wait>) {
        let mut text = "Several questions are open. Which one do you answer?".to_owned();
        let mut ids: Vec<String> = Vec::new();
        for open in open {
            let asked = question_of(open);
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
        let (answer, wait) = self.ask_people(vec![Part::text(text)], schema).await;
        let chosen = answer.get("taskId").and_then(Value::as_str).unwrap_or_default();
        (chosen.to_owned(), wait)
    }

    /// The reply as a call, as if the model had made it. So it runs, is published and is remembered
    /// like one.
    pub(super) async fn reply_as_call(&self, reply: Reply) -> Result<Routed, Stop> {
        let arguments = json!({ "taskId": reply.run, "input": reply.input });
        let calls = vec![Call::new("reply", REPLY_TOOL, arguments)];
        let answer = Answer { calls, finish: Finish::Calls, ..Answer::default() };
        let routed = || {
            let (label, ended_at) = (REPLY_LABEL.to_owned(), self.stage.moment());
            let recorded = Recorded { answer, label, cost: None, ended_at };
            to_outcome(&Routed { recorded, routes: vec![Route::ReplyOfUser] })
        };
        drive::recorded(self.stage.record(MODEL_KEY, routed).await)
    }

    /// Sends an answer to a run of this session that waits for one, and returns the run's reply.
    pub(super) async fn reply(&self, waiting: &Waiting, arguments: &Value, by: By) -> Outcome {
        let run = arguments.get("taskId").and_then(Value::as_str);
        let Some(run) = run.and_then(|id| id.parse::<RunId>().ok()) else {
            let why = "`taskId` has to name a task of this conversation that waits for an answer.";
            return self.note(waiting, CallRecord::failed(why)).await.into();
        };
        let input = arguments.get("input").cloned().unwrap_or(Value::Null);
        // Finding the question and sending the answer are two steps. A send that is repeated after a
        // crash must go to the same question, which is no longer open if the first send arrived.
        let place = format!("{}.{}", waiting.place.model_call, waiting.place.index);
        let mut work = |_: Attempt| -> BoxFuture<'_, _> { Box::pin(self.find(run, by)) };
        let asked: Open = match self.kept(&format!("find {place}"), &mut work).await {
            Ok(asked) => asked,
            Err(failure) => {
                return self.note(waiting, CallRecord::failed(failure.message)).await.into();
            }
        };
        let mut wait = None;
        if let By::Model { ask } = by {
            if asked.question.reason == Reason::AuthRequired {
                return self.note(waiting, needs_person(&asked)).await.into();
            }
            if ask {
                let prompt =
                    approval::reply_prompt(&waiting.call, &asked.workflow, &question_of(&asked));
                let (answer, waited) = self.ask_people(prompt, approval::schema()).await;
                wait = waited;
                if !approval::is_approved(&answer) {
                    let mut refused = self.note(waiting, CallRecord::refused(REPLY_TOOL)).await;
                    refused.waits.extend(wait);
                    return refused.into();
                }
            }
        }
        let mut work = |_: Attempt| -> BoxFuture<'_, _> {
            Box::pin(self.send(run, asked.question.id, &input, &place))
        };
        let mut outcome: Outcome = match self
            .kept::<Sent>(&format!("send {place}"), &mut work)
            .await
        {
            Err(failure) => self.note(waiting, CallRecord::failed(failure.message)).await.into(),
            Ok(sent) if !sent.problems.is_empty() => {
                let refused = refused(run, &sent.problems, &asked.question.schema);
                self.note(waiting, refused).await.into()
            }
            Ok(sent) => {
                let op = self.stage.expect_answer(&sent.message);
                let Open { workflow, description, .. } = &asked;
                let answer = self.first_answer(&op, workflow).await;
                self.tell(waiting, &Told { run, workflow, description, answer }).await
            }
        };
        outcome.record.waits.extend(wait);
        outcome
    }

    /// Whether the answer in these arguments is in the user's message of this turn.
    pub(super) fn is_said(&self, arguments: &Value) -> bool {
        let parts = self.stage.message().map(|message| message.parts.as_slice());
        let input = arguments.get("input").unwrap_or(&Value::Null);
        provenance::is_said(input, parts.unwrap_or_default())
    }

    /// The outcome of a step.
    async fn kept<T: DeserializeOwned>(
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
    async fn find(&self, run: RunId, by: By) -> Result<Value, Failure> {
        let open = self.questions().await?.into_iter().find(|open| open.run == run);
        let mut open = open.filter(|open| open.of_workflow || by == By::User).ok_or_else(gone)?;
        let is_new = !self.asked.contains(&open.question.id);
        if by != By::User && is_new && open.question.reason != Reason::AuthRequired {
            return Err(Failure::new(
                "The question was put after the user has spoken. Tell the user of it; the answer has \
                 to be theirs.",
            ));
        }
        // Recorded with the question, so that a replay finds the same text even if the workflow changes
        // it later.
        let programs = self.stage.programs();
        let program = programs.iter().find(|program| program.info().name == open.workflow);
        open.description = program.map(|it| it.info().description.clone()).unwrap_or_default();
        to_outcome(&open)
    }

    /// Sends the answer. Its errors are part of the outcome.
    async fn send(
        &self,
        run: RunId,
        question: QuestionId,
        input: &Value,
        place: &str,
    ) -> Result<Value, Failure> {
        let id = MessageId::new(&format!("{}-{place}", self.stage.run()))
            .map_err(|error| Failure::new(error.to_string()))?;
        let message = Message::new(id.clone(), Role::User, vec![Part::data(input.clone())]);
        let problems = match self.stage.reply(run, Some(question), message).await? {
            Delivered::Answer { primary: true, .. } => Vec::new(),
            Delivered::Answer { problems, .. } if !problems.is_empty() => problems,
            Delivered::Answer { .. } | Delivered::Noted => return Err(gone()),
        };
        to_outcome(&Sent { message: id, problems })
    }
}

fn gone() -> Failure {
    Failure::new("No task of this conversation with that id waits for an answer.")
}

/// The tool definition for the model.
pub(super) fn spec() -> ToolSpec {
    ToolSpec {
        name: REPLY_TOOL.to_owned(),
        description:
            "Brings the user's answer to a task of this conversation that waits for input. \
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
pub(super) fn notes<'a>(open: impl Iterator<Item = &'a Open>) -> Vec<OpenNote> {
    let note = |open: &Open| OpenNote {
        task_id: open.run.to_string(),
        workflow: open.workflow.clone(),
        asks: cut::told(&question_of(open), ASKS_BYTES_MAX),
        schema: Some(&open.question.schema)
            .filter(|schema| schema.to_string().len() <= SCHEMA_BYTES_MAX)
            .cloned(),
        person_only: open.question.reason == Reason::AuthRequired,
    };
    open.filter(|open| open.of_workflow).map(note).collect()
}

fn question_of(open: &Open) -> String {
    let texts: Vec<&str> = open.question.prompt.iter().filter_map(Part::as_text).collect();
    texts.join(" ")
}
