//! Replies: what a user says in a conversation may answer the question of a run that the conversation
//! has started.

mod read;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use trackway_domain::{Failure, Message, MessageId, Part, Reason, Role, RunId, StepOutcome};
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
    record::MODEL_KEY,
};

/// Who made the call that brings a user's reply to its run: no model did.
const RULE_LABEL: &str = "trackway/reply";

/// A user's message that answers a question.
pub(super) struct Reply {
    run: RunId,
    input: Value,
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
        let mut work = |_: Attempt| -> BoxFuture<'_, _> {
            let ended_at = self.stage.moment();
            let label = RULE_LABEL.to_owned();
            let recorded = Recorded { answer: answer.clone(), label, cost: None, ended_at };
            let routed = Routed { recorded, routes: vec![Route::Reply] };
            Box::pin(async move {
                serde_json::to_value(routed).map_err(|error| Failure::new(error.to_string()))
            })
        };
        let (_, outcome) = self.stage.step(MODEL_KEY, RetryPolicy::default(), &mut work).await;
        match outcome {
            StepOutcome::Ok(value) => serde_json::from_value(value).map_err(stopped),
            StepOutcome::Err(failure) => Err(Stop::Failed(failure)),
        }
    }

    /// Brings an answer to a run of this session that waits for one, and hears what it says next.
    pub(super) async fn reply(
        &self,
        waiting: &Waiting,
        arguments: &Value,
        begin: &Begin,
    ) -> CallRecord {
        let run = arguments.get("taskId").and_then(Value::as_str);
        let Some(run) = run.and_then(|id| id.parse::<RunId>().ok()) else {
            let why = "`taskId` has to name a task of this conversation that waits for an answer.";
            return self.note(waiting, CallRecord::failed(why)).await;
        };
        let input = arguments.get("input").cloned().unwrap_or(Value::Null);
        // Before anything is sent: what the run says may be recorded before what it was sent.
        let op = self.stage.expect_answer(run);
        let key = format!("send {} {}", waiting.place.model_call, waiting.place.index);
        let mut work = |_: Attempt| -> BoxFuture<'_, _> { Box::pin(self.send(run, &input, &key)) };
        let (_, outcome) = self.stage.step(&key, RetryPolicy::default(), &mut work).await;
        let sent = match outcome {
            StepOutcome::Ok(sent) => sent,
            StepOutcome::Err(failure) => {
                return self.note(waiting, CallRecord::failed(failure.message)).await;
            }
        };
        let problems = sent["problems"].as_array().cloned().unwrap_or_default();
        if !problems.is_empty() {
            let problems = serde_json::from_value(sent["problems"].clone()).unwrap_or_default();
            let problems: Vec<trackway_domain::Problem> = problems;
            return self.note(waiting, refused(run, &problems, &sent["schema"])).await;
        }
        let known = begin.questions.iter().find(|open| open.run == run);
        let workflow = sent["workflow"].as_str().map(str::to_owned);
        let workflow = workflow.or_else(|| known.map(|open| open.workflow.clone()));
        let answer = self.first_answer(&op).await;
        let workflow = workflow.unwrap_or_default();
        self.tell(waiting, &Told { run, workflow: &workflow, description: "", answer }).await
    }

    /// Sends the answer, if the run is of this session and waits: a model does not choose others.
    async fn send(&self, run: RunId, input: &Value, key: &str) -> Result<Value, Failure> {
        let gone =
            || Failure::new("No task of this conversation with that id waits for an answer.");
        let archive = self.stage.archive().ok_or_else(gone)?;
        let open = archive.questions().await.map_err(|error| Failure::new(error.to_string()))?;
        let open = open.into_iter().find(|open| open.run == run && run != self.stage.run());
        let id = MessageId::new(&format!("{}-{}", self.stage.run(), key.replace(' ', "-")))
            .map_err(|error| Failure::new(error.to_string()))?;
        let message = Message::new(id, Role::User, vec![Part::data(input.clone())]);
        let (question, workflow, schema) = match open {
            Some(open) => (Some(open.question.id), open.workflow, open.question.schema),
            None => return Err(gone()),
        };
        let delivered = self.stage.reply(run, question, message).await?;
        let problems = match delivered {
            Delivered::Answer { primary: true, .. } => Vec::new(),
            Delivered::Answer { problems, .. } if !problems.is_empty() => problems,
            Delivered::Answer { .. } | Delivered::Noted => return Err(gone()),
        };
        Ok(json!({ "workflow": workflow, "problems": problems, "schema": schema }))
    }
}

/// Whether there is, or may be, a question that the model can bring an answer to.
pub(super) fn may_answer(turn: &Turn, begin: &Begin) -> bool {
    let interrupted = |entry: &Entry| match entry {
        Entry::Model { calls, .. } => {
            calls.iter().any(|call| call.tool.starts_with(crate::DISPATCH_PREFIX))
        }
        Entry::User { .. } | Entry::Result { .. } => false,
    };
    !begin.questions.is_empty() || turn.entries().iter().any(interrupted)
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
pub(super) fn open_questions(begin: &Begin) -> Option<String> {
    if begin.questions.is_empty() {
        return None;
    }
    let lines = begin.questions.iter().map(|open| {
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
