//! Tasks, whole, as they go out.

use serde_json::{Value, json};
use trackway_a2a_wire::{Artifact, Dialect};
use trackway_domain::{self as domain, ArtifactId, Event, Evidence, Part, Problem, StateName};
use trackway_engine::ResumeMark;

use crate::{
    ops::{Answer, Snapshot},
    wire::{
        Task,
        samples::{QUESTION, RUN, asked, form, id, looking, resumed, snapshot},
    },
};

fn shown(snapshot: &Snapshot, history: usize) -> Value {
    serde_json::to_value(Task::new(snapshot, &snapshot.place(), history, Dialect::V03)).unwrap()
}

/// Proves L8, L18.
#[test]
fn a_run_that_was_just_submitted() {
    assert_eq!(
        shown(&snapshot(&[]), 1_000),
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
    let task = shown(&snapshot(&[Event::Started, looking(), form(), asked()]), 1_000);
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
    let snapshot = snapshot(&[Event::Started, asked(), resumed(2)]);
    let ids = |history: usize| {
        let task = shown(&snapshot, history);
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
    let snapshot = snapshot(&[Event::Started, asked(), resumed(2)]);
    let resumed = json!({"concurrentRequest": true, "requestOrder": 2, "primaryResume": true});
    assert_eq!(shown(&snapshot, 0)["metadata"], resumed);
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
    let late = Snapshot { answer, ..snapshot };
    assert_eq!(
        shown(&late, 0)["metadata"],
        json!({"concurrentRequest": true, "requestOrder": 3, "primaryResume": false,
            "validationErrors": [{"path": "/amount", "code": "type", "message": "no", "expected": "number"}]})
    );
}

#[test]
fn output_and_evidence_are_metadata_too() {
    let done = snapshot(&[
        Event::Started,
        Event::Completed { output: json!({"sum": 3}), message_id: None },
    ]);
    assert_eq!(shown(&done, 0)["metadata"], json!({"output": {"sum": 3}}));
    let evidence = Evidence {
        message: "the code asks for step:b#0".into(),
        asked: Some("step:b#0".into()),
        recorded: Some("step:a#0".into()),
    };
    let parked = Event::Parked { evidence, state: StateName::Working, message_id: id("a-9") };
    let parked = shown(&snapshot(&[Event::Started, parked]), 0);
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
