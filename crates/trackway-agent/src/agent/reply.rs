//! Replies: what a user says in a conversation may answer the question of a run that the conversation
//! has started.

mod read;

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use trackway_domain::{
    Failure, Message, MessageId, Part, Problem, QuestionId, Reason, Role, RunId, StepOutcome,
};
use trackway_engine::{Delivered, Schemas};
use trackway_runtime::{Attempt, RetryPolicy, Stop};

use super::{
    begin::{Begin, Open},
    drive::{Driver, stopped},
    route::{REPLY_TOOL, Route, Routed},
    told::{Told, refused},
};
use crate::{
    Answer, Arguments, Call, CallRecord, Entry, Finish, Recorded, ToolSpec, Turn, Waiting,
    record::{MODEL_KEY, REPLY_LABEL},
};

/// A user's message that answers a question.
pub(super) struct Reply {
    run: RunId,
    input: Value,
}

/// An answer that was sent. Recorded with its message's id, by which what is said to it is known: a fork of
/// the turn has another id of its own, and the same answers.
#[derive(Debug, Serialize, Deserialize)]
struct Sent {
    message: MessageId,
    /// What is wrong with it; nothing where it was taken.
    problems: Vec<Problem>,
}

impl Driver {
    /// The question that the user's message answers: the one it names, or the only open one that it fits.
    /// With several open the user is asked which.
    pub(super) async fn reply_of_user(&self, begin: &Begin) -> Option<Reply> {
        let message = self.stage.message()?;
        let input = |open: &Open| {
            let schema = &open.question.schema;
            let read = read::candidates(schema, &message.parts);
            read.into_iter().find(|input| self.schemas.check(schema, input).is_empty())
        };
        let named =
            begin.questions.iter().find(|open| message.references.contains(&open.run.to_string()));
        if let Some(open) = named {
            // It is meant for this one even where it does not fit: the question says what is wrong.
            let input = input(open).or_else(|| read::plain(&message.parts))?;
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
                let chosen = self.which(&fitting).await;
                let open = fitting.into_iter().find(|open| open.run.to_string() == chosen)?;
                Some(Reply { run: open.run, input: input(open)? })
            }
        }
    }

    /// Asks the user which question the message answers; empty where none of them.
    async fn which(&self, open: &[&Open]) -> String {
        let mut text = "Several questions are open. Which one do you answer?".to_owned();
        let mut ids: Vec<String> = Vec::new();
        for open in open {
            let asked = asked(open);
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
        let prompt = vec![Part::text(text)];
        let (_, answer) = self.stage.ask(Reason::InputRequired, prompt, schema, None).await;
        answer.input.get("taskId").and_then(Value::as_str).unwrap_or_default().to_owned()
    }

    /// The reply as a call, as if the model had made it: so it is done, shown and remembered like one.
    pub(super) async fn reply_as_call(&self, reply: Reply) -> Result<Routed, Stop> {
        let arguments = json!({ "taskId": reply.run, "input": reply.input });
        let call = Call {
            id: "reply".to_owned(),
            tool: REPLY_TOOL.to_owned(),
            arguments: Arguments::Json(arguments),
            echo: None,
        };
        let answer = Answer {
            text: String::new(),
            reasoning: String::new(),
            calls: vec![call],
            finish: Finish::Calls,
            usage: None,
            model: None,
        };
        let routed = || {
            let (label, ended_at) = (REPLY_LABEL.to_owned(), self.stage.moment());
            let recorded = Recorded { answer, label, cost: None, ended_at };
            let routed = Routed { recorded, routes: vec![Route::Reply] };
            serde_json::to_value(routed).map_err(|error| Failure::new(error.to_string()))
        };
        match self.stage.record(MODEL_KEY, routed).await {
            StepOutcome::Ok(value) => serde_json::from_value(value).map_err(stopped),
            StepOutcome::Err(failure) => Err(Stop::Failed(failure)),
        }
    }

    /// Brings an answer to a run of this session that waits for one, and hears what it says next.
    pub(super) async fn reply(&self, waiting: &Waiting, arguments: &Value) -> CallRecord {
        let run = arguments.get("taskId").and_then(Value::as_str);
        let Some(run) = run.and_then(|id| id.parse::<RunId>().ok()) else {
            let why = "`taskId` has to name a task of this conversation that waits for an answer.";
            return self.note(waiting, CallRecord::failed(why)).await;
        };
        let input = arguments.get("input").cloned().unwrap_or(Value::Null);
        match self.bring(waiting, run, &input).await {
            Err(failure) => self.note(waiting, CallRecord::failed(failure.message)).await,
            Ok((asked, sent)) if !sent.problems.is_empty() => {
                self.note(waiting, refused(run, &sent.problems, &asked.question.schema)).await
            }
            Ok((asked, sent)) => {
                let op = self.stage.expect_answer(&sent.message);
                let answer = self.first_answer(&op).await;
                let workflow = &asked.workflow;
                self.tell(waiting, &Told { run, workflow, description: "", answer }).await
            }
        }
    }

    /// Finds the question and sends the answer, as two steps: a send that is repeated after a crash has to
    /// go to the question that it was meant for, which is not open any more if it arrived.
    async fn bring(
        &self,
        waiting: &Waiting,
        run: RunId,
        input: &Value,
    ) -> Result<(Open, Sent), Failure> {
        let place = format!("{}.{}", waiting.place.model_call, waiting.place.index);
        let mut work = |_: Attempt| -> BoxFuture<'_, _> { Box::pin(self.find(run)) };
        let asked: Open = self.kept(&format!("find {place}"), &mut work).await?;
        let mut work = |_: Attempt| -> BoxFuture<'_, _> {
            Box::pin(self.send(run, asked.question.id, input, &place))
        };
        let sent = self.kept(&format!("send {place}"), &mut work).await?;
        Ok((asked, sent))
    }

    /// What a step came to.
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

    /// The question of that run, if it is of this session and waits: a model does not choose others.
    async fn find(&self, run: RunId) -> Result<Value, Failure> {
        let open = self.questions().await?.into_iter().find(|open| open.run == run);
        serde_json::to_value(open.ok_or_else(gone)?)
            .map_err(|error| Failure::new(error.to_string()))
    }

    /// Sends the answer. What is wrong with it is a part of the outcome.
    async fn send(
        &self,
        run: RunId,
        question: QuestionId,
        input: &Value,
        place: &str,
    ) -> Result<Value, Failure> {
        let unwritable = |error: &dyn std::fmt::Display| Failure::new(error.to_string());
        let id = MessageId::new(&format!("{}-{place}", self.stage.run()))
            .map_err(|error| unwritable(&error))?;
        let message = Message::new(id.clone(), Role::User, vec![Part::data(input.clone())]);
        let problems = match self.stage.reply(run, Some(question), message).await? {
            Delivered::Answer { primary: true, .. } => Vec::new(),
            Delivered::Answer { problems, .. } if !problems.is_empty() => problems,
            Delivered::Answer { .. } | Delivered::Noted => return Err(gone()),
        };
        serde_json::to_value(Sent { message: id, problems }).map_err(|error| unwritable(&error))
    }
}

fn gone() -> Failure {
    Failure::new("No task of this conversation with that id waits for an answer.")
}

/// Whether there is, or may be, a question that the model can bring an answer to.
pub(super) fn may_answer(turn: &Turn, open: &[Open]) -> bool {
    let interrupted = |entry: &Entry| match entry {
        Entry::Model { calls, .. } => {
            calls.iter().any(|call| call.tool.starts_with(crate::DISPATCH_PREFIX))
        }
        Entry::User { .. } | Entry::Result { .. } => false,
    };
    !open.is_empty() || turn.entries().iter().any(interrupted)
}

/// The tool as the model is told of it.
pub(super) fn spec() -> ToolSpec {
    ToolSpec {
        name: REPLY_TOOL.to_owned(),
        description:
            "Brings the user's answer to a task of this conversation that waits for input. \
                      Only with what the user has said; `input` has to satisfy the task's schema."
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

/// A paragraph of the prompt about the questions that are open.
pub(super) fn open_questions(open: &[Open]) -> Option<String> {
    if open.is_empty() {
        return None;
    }
    let lines = open.iter().map(|open| {
        let (asked, schema) = (asked(open), &open.question.schema);
        format!("- task {} of {}: {asked} Its schema: {schema}", open.run, open.workflow)
    });
    let lines: Vec<String> = lines.collect();
    Some(format!(
        "Tasks of this conversation that wait for the user's answer:\n{}",
        lines.join("\n")
    ))
}

fn asked(open: &Open) -> String {
    let texts: Vec<&str> = open.question.prompt.iter().filter_map(Part::as_text).collect();
    texts.join(" ")
}
