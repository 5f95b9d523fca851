//! Tasks, whole, as they go out.

use std::sync::Arc;

use serde_json::json;
use trackway_a2a_wire::{Artifact, Dialect};
use trackway_domain::{
    self as domain, ArtifactChunk, ArtifactId, Caller, Event, MessageId, Op, OpKind, Part,
    Question, Reason, Resume, Role, SessionId, StateName, Submission, Timestamp, WorkflowRef,
};

use serde_json::Value;
use trackway_domain::{Evidence, Problem};
use trackway_engine::{ResumeMark, RunView};

use crate::{
    ops::{Answer, Snapshot},
    wire::Task,
};

const RUN: &str = "run_0199a0b1c2d37e4f8a9b0c1d2e3f4a5b";
const QUESTION: &str = "qst_0199a0b1c2d37e4f8a9b0c1d2e3f4a5c";

fn message(id: &str, role: Role, text: &str) -> domain::Message {
    domain::Message::new(MessageId::new(id).unwrap(), role, vec![Part::text(text)])
}

fn started() -> RunView {
    let submission = Submission {
        run: RUN.parse().unwrap(),
        session: SessionId::new("ctx").unwrap(),
        workflow: WorkflowRef { name: "invest".into(), version: "1".into() },
        caller: Caller::local(),
        input: json!({}),
        message: Some(message("m-1", Role::User, "go")),
        parent: None,
        awaited: false,
        deadline: None,
        guided: false,
        exit: None,
        forked_from: None,
    };
    RunView::begin(Arc::new(submission), Timestamp(0), 10)
}

fn op(kind: OpKind) -> Op {
    Op { kind, key: "k".into(), occurrence: 0 }
}

fn asked() -> Event {
    let question = Question {
        id: QUESTION.parse().unwrap(),
        reason: Reason::InputRequired,
        prompt: vec![Part::text("How much?")],
        schema: json!({"type": "object"}),
        answer_type: None,
    };
    Event::Asked { op: op(OpKind::Ask), question, message_id: MessageId::new("a-2").unwrap() }
}

fn resumed() -> Event {
    let resume = Resume {
        question: QUESTION.parse().unwrap(),
        message: message("m-2", Role::User, "5"),
        order: 2,
        concurrent: true,
    };
    Event::Resumed { resume, input: json!(5), awaited_by: None, replaces: false }
}

fn view(events: &[Event]) -> RunView {
    let mut view = started();
    for (index, event) in events.iter().enumerate() {
        view.apply(event, Timestamp(1_000 * (index as i64 + 1)), 11 + index as u64);
    }
    view
}

fn shown(snapshot: &Snapshot, history: usize) -> Value {
    serde_json::to_value(Task::new(snapshot, &snapshot.place(), history, Dialect::V03)).unwrap()
}

fn plain(view: RunView) -> Snapshot {
    Snapshot::of(view)
}

/// Proves L8, L18.
#[test]
fn a_run_that_was_just_submitted() {
    assert_eq!(
        shown(&plain(started()), 1_000),
        json!({
            "kind": "task",
            "id": RUN,
            "contextId": "ctx",
            "status": {"state": "submitted", "timestamp": "1970-01-01T00:00:00.000Z"},
            "artifacts": [],
            "history": [{
                "kind": "message", "messageId": "m-1", "contextId": "ctx", "taskId": RUN,
                "role": "user", "parts": [{"kind": "text", "text": "go"}],
            }],
        })
    );
}

/// Proves L3, L4, L6.
#[test]
fn a_run_that_waits_shows_its_question_its_artifacts_and_what_was_said() {
    let artifact = domain::Artifact {
        name: Some("Form".into()),
        ..domain::Artifact::new(
            ArtifactId::new("form.json").unwrap(),
            vec![Part::data(json!({"a": 1}))],
        )
    };
    let events = [
        Event::Started,
        Event::Status {
            op: op(OpKind::Status),
            state: StateName::Working,
            message: message("a-1", Role::Agent, "looking"),
        },
        Event::Artifact { op: op(OpKind::Ask), chunk: ArtifactChunk::from(artifact) },
        asked(),
    ];
    let task = shown(&plain(view(&events)), 1_000);
    assert_eq!(
        task["status"],
        json!({
            "state": "input-required",
            "timestamp": "1970-01-01T00:00:04.000Z",
            "message": {
                "kind": "message", "messageId": "a-2", "contextId": "ctx", "taskId": RUN,
                "role": "agent",
                "parts": [{"kind": "text", "text": "How much?", "metadata": {
                    "schema": {"type": "object"}, "mimeType": "application/json"}}],
                "metadata": {"questionId": QUESTION},
            },
        })
    );
    assert_eq!(
        task["artifacts"],
        json!([{"artifactId": "form.json", "name": "Form", "parts": [
            {"kind": "data", "data": {"a": 1}, "metadata": {"mimeType": "application/json"}}]}])
    );
    let said: Vec<_> =
        task["history"].as_array().unwrap().iter().map(|m| &m["messageId"]).collect();
    assert_eq!(said, ["m-1", "a-1"]);
    assert_eq!(task.get("metadata"), None);
}

#[test]
fn history_shows_the_newest_and_zero_omits_it() {
    let view = view(&[Event::Started, asked(), resumed()]);
    let ids = |history: usize| {
        let task = shown(&plain(view.clone()), history);
        let list = task.get("history")?.as_array()?.clone();
        Some(list.iter().map(|m| m["messageId"].as_str().unwrap().to_owned()).collect::<Vec<_>>())
    };
    assert_eq!(ids(0), None);
    assert_eq!(ids(1).unwrap(), ["m-2"]);
    assert_eq!(ids(2).unwrap(), ["a-2", "m-2"]);
    assert_eq!(ids(50).unwrap(), ["m-1", "a-2", "m-2"]);
}

/// Proves L9, L16.
#[test]
fn resume_metadata_is_the_answers_own_else_that_of_the_request_which_resumed() {
    let view = view(&[Event::Started, asked(), resumed()]);
    let resumed = json!({"concurrentRequest": true, "requestOrder": 2, "primaryResume": true});
    assert_eq!(shown(&plain(view.clone()), 0)["metadata"], resumed);
    let problem = Problem {
        path: "/amount".into(),
        code: "type".into(),
        message: "no".into(),
        expected: json!("number"),
        got: None,
        hint: None,
    };
    let mark = ResumeMark { order: 3, concurrent: true, primary: false };
    let answer = Some(Answer { mark, problems: vec![problem] });
    let late = Snapshot { answer, ..Snapshot::of(view) };
    assert_eq!(
        shown(&late, 0)["metadata"],
        json!({"concurrentRequest": true, "requestOrder": 3, "primaryResume": false,
            "validationErrors": [{"path": "/amount", "code": "type", "message": "no", "expected": "number"}]})
    );
}

#[test]
fn output_and_evidence_are_metadata_too() {
    let done =
        view(&[Event::Started, Event::Completed { output: json!({"sum": 3}), message_id: None }]);
    assert_eq!(shown(&plain(done), 0)["metadata"], json!({"output": {"sum": 3}}));
    let evidence = Evidence {
        message: "the code asks for step:b#0".into(),
        asked: Some("step:b#0".into()),
        recorded: Some("step:a#0".into()),
    };
    let parked = Event::Parked {
        evidence,
        state: StateName::Working,
        message_id: MessageId::new("a-9").unwrap(),
    };
    let parked = shown(&plain(view(&[Event::Started, parked])), 0);
    assert_eq!(parked["status"]["state"], "working");
    assert_eq!(
        parked["metadata"],
        json!({"parked": {"message": "the code asks for step:b#0",
            "asked": "step:b#0", "recorded": "step:a#0"}})
    );
}

#[test]
fn files_and_odd_data_keep_the_shape_of_the_protocol() {
    let file = |source| {
        Part::file(domain::File {
            name: Some("a.txt".into()),
            mime_type: Some("text/plain".into()),
            source,
        })
    };
    let parts = vec![
        file(domain::FileSource::Base64("aGk=".into())),
        file(domain::FileSource::Uri("https://a.example/a".into())),
        Part::data(json!([1, 2])),
        Part { content: domain::Content::Data(json!({})), metadata: domain::Object::new() },
    ];
    let artifact = domain::Artifact::new(ArtifactId::new("x").unwrap(), parts);
    let shown =
        serde_json::to_value(Artifact { artifact: &artifact, dialect: Dialect::V03 }).unwrap();
    assert_eq!(
        shown["parts"],
        json!([
            {"kind": "file", "file": {"name": "a.txt", "mimeType": "text/plain", "bytes": "aGk="}},
            {"kind": "file", "file": {"name": "a.txt", "mimeType": "text/plain", "uri": "https://a.example/a"}},
            {"kind": "data", "data": {"value": [1, 2]},
                "metadata": {"mimeType": "application/json", "data_part_compat": true}},
            {"kind": "data", "data": {}},
        ])
    );
}
