//! Tasks of 1.0, whole, as they go out: alone, as the answer to a send, and on a page.

use serde_json::{Value, json};
use trackway_a2a_wire::Dialect;
use trackway_domain::{Event, Role, SessionId};
use trackway_engine::ResumeMark;

use crate::{
    ops::{self, Outcome, Page, Reply, Said, Snapshot},
    wire::{
        Answer,
        samples::{QUESTION, RUN, asked, form, looking, message, resumed, snapshot},
    },
};

fn written(outcome: &Outcome) -> Value {
    serde_json::to_value(Answer { outcome, card: &Value::Null, dialect: Dialect::V1 }).unwrap()
}

fn shown(snapshot: Snapshot, history: usize) -> Value {
    written(&Outcome::Task(Box::new(snapshot), history))
}

fn said(id: &str, role: &str, text: &str) -> Value {
    json!({"messageId": id, "contextId": "ctx", "taskId": RUN, "role": role,
        "parts": [{"text": text}]})
}

/// Proves L8, L18.
#[test]
fn a_run_that_was_just_submitted_alone_and_wrapped() {
    let task = json!({
        "id": RUN,
        "contextId": "ctx",
        "status": {"state": "TASK_STATE_SUBMITTED", "timestamp": "1970-01-01T00:00:00.000Z"},
        "history": [said("m-1", "ROLE_USER", "go")],
    });
    assert_eq!(shown(snapshot(&[]), 1_000), task);
    let reply = Outcome::Reply(Reply::Task(Box::new(snapshot(&[]))), 1_000);
    assert_eq!(written(&reply), json!({ "task": task }));
}

/// Proves L3, L4, L6.
#[test]
fn a_run_that_waits_shows_its_question_its_artifacts_and_what_was_said() {
    assert_eq!(
        shown(snapshot(&[Event::Started, looking(), form(), asked()]), 1_000),
        json!({
            "id": RUN,
            "contextId": "ctx",
            "status": {
                "state": "TASK_STATE_INPUT_REQUIRED",
                "timestamp": "1970-01-01T00:00:04.000Z",
                "message": {
                    "messageId": "a-2", "contextId": "ctx", "taskId": RUN, "role": "ROLE_AGENT",
                    "parts": [{"text": "How much?", "mediaType": "application/json", "metadata": {
                        "schema": {"type": "object"}, "mimeType": "application/json"}}],
                    "metadata": {"questionId": QUESTION},
                },
            },
            "artifacts": [{"artifactId": "form.json", "name": "Form", "parts": [
                {"data": {"a": 1}, "mediaType": "application/json",
                 "metadata": {"mimeType": "application/json"}}]}],
            "history": [said("m-1", "ROLE_USER", "go"), said("a-1", "ROLE_AGENT", "looking")],
        })
    );
}

#[test]
fn history_shows_the_newest_and_zero_omits_it() {
    let ids = |history: usize| {
        let task = shown(snapshot(&[Event::Started, asked(), resumed(2)]), history);
        let list = task.get("history")?.as_array()?.clone();
        Some(list.iter().map(|m| m["messageId"].as_str().unwrap().to_owned()).collect::<Vec<_>>())
    };
    assert_eq!(ids(0), None);
    assert_eq!(ids(1).unwrap(), ["m-2"]);
    assert_eq!(ids(50).unwrap(), ["m-1", "a-2", "m-2"]);
}

/// Proves L9, L16.
#[test]
fn what_trackway_adds_is_metadata() {
    let resumed = || snapshot(&[Event::Started, asked(), resumed(2)]);
    assert_eq!(
        shown(resumed(), 0)["metadata"],
        json!({"concurrentRequest": true, "requestOrder": 2, "primaryResume": true})
    );
    let mark = ResumeMark { order: 3, concurrent: true, primary: false };
    let answer = Some(ops::Answer { mark, problems: vec![] });
    assert_eq!(shown(Snapshot { answer, ..resumed() }, 0)["metadata"]["requestOrder"], 3);
    let done = snapshot(&[
        Event::Started,
        Event::Completed { output: json!({"sum": 3}), message_id: None },
    ]);
    let done = shown(done, 0);
    assert_eq!(done["status"]["state"], "TASK_STATE_COMPLETED");
    assert_eq!(done["metadata"], json!({"output": {"sum": 3}}));
}

/// A page always says all four things, and shows artifacts only to those who ask for them.
#[test]
fn a_page_of_tasks() {
    let page = |tasks, next: &str, artifacts| {
        let page = Page { tasks, next: next.to_owned(), size: 2, total: 7 };
        written(&Outcome::Page { page, history: 0, artifacts })
    };
    assert_eq!(
        page(vec![], "", false),
        json!({"tasks": [], "nextPageToken": "", "pageSize": 2, "totalSize": 7})
    );
    let tasks = || vec![snapshot(&[Event::Started, form()]), snapshot(&[])];
    let plain = page(tasks(), "there", false);
    assert_eq!(plain["nextPageToken"], "there");
    assert_eq!(
        plain["tasks"][0],
        json!({"id": RUN, "contextId": "ctx", "status": {
            "state": "TASK_STATE_WORKING", "timestamp": "1970-01-01T00:00:01.000Z"}})
    );
    let whole = page(tasks(), "", true);
    assert_eq!(whole["tasks"][0]["artifacts"][0]["artifactId"], "form.json");
    assert_eq!(whole["tasks"][1]["artifacts"], json!([]), "whoever asks sees that there are none");
}

/// Proves L2.
#[test]
fn an_answer_without_a_run_is_a_message_without_a_task() {
    let said = Said {
        message: message("a-1", Role::Agent, "hi"),
        session: SessionId::new("ctx").unwrap(),
    };
    assert_eq!(
        written(&Outcome::Reply(Reply::Message(Box::new(said)), 0)),
        json!({"message": {"messageId": "a-1", "contextId": "ctx", "role": "ROLE_AGENT",
            "parts": [{"text": "hi"}]}})
    );
    assert_eq!(written(&Outcome::Done), json!({}));
}
