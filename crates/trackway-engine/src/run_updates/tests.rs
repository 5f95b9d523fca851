//! The update of each event, and the form of the messages that we make.

use std::collections::BTreeSet;

use insta::assert_snapshot;
use serde_json::{Value, json};
use trackway_domain::{
    Event, File, FileSource, InterruptReason, MessageId, MessageRole, Op, Part, RunCommand, Yield,
};

use super::*;
use crate::fixture::{ScriptedRun, decision_text};

/// Scripts that together contain every kind of event.
const STORIES: [&str; 4] = [
    "submit; say early; status hi; artifact a.txt one; append a.txt two; ask amount; \
     answer amount=0; answer amount=5; answer amount=6; step pay; retry pay; draw 7; sleep nap; \
     fire sleep:nap#0; child echo; child-ended c1 completed; park mismatch; unpark; return 5; \
     answer q1 amount=7",
    "submit; ask signature; status wait; park mismatch; withdraw q1; error oops",
    "submit; child echo; waits c1 3 hm; goes-on c1 4; cancel",
    "submit; reject no",
];

fn render_update(update: &VisibleUpdate) -> String {
    let status = match update {
        VisibleUpdate::Submitted => return "the run".into(),
        VisibleUpdate::Artifact(chunk) => {
            let (append, last) = (chunk.append, chunk.last);
            return format!("artifact {} append={append} last={last}", chunk.artifact.id);
        }
        VisibleUpdate::Status(status) => status,
    };
    let mut words = vec![status.state.to_string()];
    let message = status.message.as_ref();
    words.extend(message.map(|m| format!("{:?}", m.parts[0].as_text().unwrap())));
    words.extend(status.interrupts.then(|| "interrupts".into()));
    words.extend(status.last.then(|| "last".into()));
    words.extend(status.resume.map(|mark| {
        format!("resume #{} concurrent={} primary={}", mark.order, mark.concurrent, mark.primary)
    }));
    words.extend((!status.output.is_null()).then(|| format!("output {}", status.output)));
    words.extend(status.parked.as_ref().map(|_| "parked".into()));
    words.join(" ")
}

/// The message of the newest update.
fn message(story: &ScriptedRun) -> Message {
    match visible_update(story.events().next_back().unwrap()) {
        Some(VisibleUpdate::Status(StatusUpdate { message: Some(message), .. })) => message,
        other => panic!("{other:?} has no message"),
    }
}

/// A question whose prompt has a text, some data and a file.
fn rich_question() -> (Vec<Part>, RunCommand) {
    let prompt = vec![
        Part::text("How much?").with_metadata("lang", "en"),
        Part::data(json!({"options": [1, 2]})),
        Part::file(File {
            name: Some("terms.pdf".into()),
            mime_type: Some("application/pdf".into()),
            source: FileSource::Uri("https://example.org/terms.pdf".into()),
        }),
    ];
    let command = ask(prompt.clone());
    (prompt, command)
}

fn ask(prompt: Vec<Part>) -> RunCommand {
    RunCommand::Yield {
        op: "ask:rich#0".parse::<Op>().unwrap(),
        what: Yield::Interrupted {
            reason: InterruptReason::InputRequired,
            prompt,
            schema: schema(),
            artifact: None,
            answer_type: None,
        },
    }
}

fn schema() -> Value {
    json!({"type": "object", "required": ["amount"], "properties": {"amount": {"type": "number"}}})
}

/// Proves L3, L4, L6, L7, L9, L10, L13, L14: `last` only at the end, `interrupts` only at
/// questions, and no message with the `working` of a start, resume or withdrawal.
#[test]
fn each_event_is_seen_as_one_update_or_none() {
    let mut kinds = BTreeSet::new();
    let mut rows = Vec::new();
    for words in STORIES {
        let story = ScriptedRun::after_commands(words);
        for event in story.events().filter(|event| !kinds.contains(event.event_name())) {
            let seen = visible_update(event).as_ref().map_or("-".into(), render_update);
            rows.push(story.with_short_ids(format!("{}\n  {seen}", decision_text::render_event_line(event))));
        }
        kinds.extend(story.events().map(Event::event_name));
    }
    assert_eq!(kinds.len(), 25, "every kind of event is in some story");
    assert_snapshot!(rows.join("\n"), @r#"
    submitted demo
      the run
    noted "early"
      -
    started
      working
    status working "hi"
      working "hi"
    artifact a.txt = "one"
      artifact a.txt append=false last=true
    artifact a.txt += "two"
      artifact a.txt append=true last=true
    asked q1 input-required "How much?"
      input-required "How much?" interrupts
    refused q1 #1 alone (wrong: /amount exclusiveMinimum)
      input-required "How much?" interrupts
    resumed q1 #2 alone {"amount":5}
      working resume #2 concurrent=false primary=true
    late-answer q1 #3 concurrent
      -
    step-done step:pay#0 "done"
      -
    step-attempt-failed step:pay#0 attempt 1
      -
    value-recorded random:#0 7
      -
    slept sleep:nap#0
      -
    woke sleep:nap#0
      -
    child-started c1 echo, working "Started echo as c1" about c1
      working "Started echo as c1"
    child-ended c1 completed
      -
    parked working "mismatch"
      working "The run is parked: mismatch" parked
    unparked
      -
    completed 5
      completed last output 5
    late-answer q1 #4 concurrent
      -
    withdrawn q1
      working
    failed "oops"
      failed "oops" last
    child-waits c1 working "hm"
      working "echo (c1) waits for an answer: hm"
    child-resumed c1
      -
    canceled
      canceled last
    rejected "no"
      rejected "no" last
    "#);
}

/// Proves L6, L2: the schema is in the first part's metadata, and every other part is unchanged.
#[test]
fn a_question_carries_its_schema_and_keeps_its_parts() {
    let (prompt, command) = rich_question();
    let mut story = ScriptedRun::after_commands("submit");
    story.apply_command(command).unwrap();
    let message = message(&story);
    assert_eq!(message.role, MessageRole::Agent);
    assert_eq!(message.metadata["questionId"], json!(story.questions()[0]));
    assert!(!message.metadata.contains_key("validationErrors"));
    let first = &message.parts[0];
    assert_eq!(first.as_text(), Some("How much?"));
    let metadata = json!({"lang": "en", "schema": schema(), "mimeType": "application/json"});
    assert_eq!(Value::Object(first.metadata.clone()), metadata);
    assert_eq!(message.parts[1..], prompt[1..]);
}

/// Proves L14: the whole prompt again, with the schema and the list of problems.
#[test]
fn a_repeated_question_carries_the_errors_beside_the_schema() {
    let (prompt, command) = rich_question();
    let mut story = ScriptedRun::after_commands("submit");
    story.apply_command(command).unwrap();
    let first = message(&story);
    story.try_scripted_command("answer amount=many").unwrap();
    let again = message(&story);
    let errors = json!([{"path": "/amount", "code": "type", "message": "type does not hold",
                         "expected": "number", "got": "many"}]);
    assert_eq!(again.metadata["validationErrors"], errors);
    assert_eq!(again.metadata["questionId"], first.metadata["questionId"]);
    assert_ne!(again.id, first.id);
    let metadata = &again.parts[0].metadata;
    assert_eq!(metadata.get("validationErrors"), None, "the list stands once in a message");
    assert_eq!(metadata["schema"], schema());
    assert_eq!(metadata["mimeType"], "application/json");
    assert_eq!(again.parts[0].as_text(), Some("How much?"));
    assert_eq!(again.parts[1..prompt.len()], prompt[1..]);
    // Also in words, for clients that show only text.
    let words = "The answer was not accepted:\n- /amount: type does not hold";
    assert_eq!(again.parts[prompt.len()..], [Part::text(words)]);
}

/// Proves L6: a question without a text still has a part that carries the schema.
#[test]
fn a_question_without_a_prompt_still_carries_its_schema() {
    let mut story = ScriptedRun::after_commands("submit");
    story.apply_command(ask(vec![])).unwrap();
    let message = message(&story);
    assert_eq!(message.parts.len(), 1);
    assert_eq!(message.parts[0].metadata["schema"], schema());
}

/// Proves L15: only the interrupting update carries the schema.
#[test]
fn the_schema_stands_in_the_interrupting_update_alone() {
    let story =
        ScriptedRun::after_commands("submit; status hi; artifact a.txt one; artifact b.txt two; ask form");
    let with_schema: Vec<bool> = story
        .events()
        .filter_map(visible_update)
        .map(|update| match update {
            VisibleUpdate::Submitted => false,
            VisibleUpdate::Artifact(chunk) => {
                let parts = &chunk.artifact.parts;
                parts.iter().any(|part| part.metadata.contains_key("schema"))
            }
            VisibleUpdate::Status(status) => {
                let parts = status.message.into_iter().flat_map(|message| message.parts);
                parts.into_iter().any(|part| part.metadata.contains_key("schema"))
            }
        })
        .collect();
    assert_eq!(with_schema, [false, false, false, false, false, false, true]);
}

/// Proves L3, L2: parts stay unchanged in a whole message of ours with a fresh id.
#[test]
fn a_status_update_is_a_whole_message() {
    let (parts, _) = rich_question();
    let mut story = ScriptedRun::after_commands("submit");
    let mut ids = BTreeSet::new();
    for _ in 0..3 {
        let what = Yield::Status { parts: parts.clone() };
        let op = "status:#0".parse::<Op>().unwrap();
        story.apply_command(RunCommand::Yield { op, what }).unwrap();
        let message = message(&story);
        assert_eq!((message.role, &message.parts), (MessageRole::Agent, &parts));
        assert!(uuid::Uuid::try_parse(message.id.as_str()).is_ok());
        ids.insert(message.id);
    }
    assert_eq!(ids.len(), 3);
}

/// Proves L13: the status keeps the state and has no content, so an update would only be a
/// repetition.
#[test]
fn a_status_without_a_message_is_not_seen() {
    let message = Message::new(MessageId::new("m").unwrap(), MessageRole::Agent, vec![]);
    let event = Event::Status { op: "status:#0".parse().unwrap(), state: StateName::Working, message };
    assert_eq!((visible_update(&event), is_visible(&event)), (None, false));
}
