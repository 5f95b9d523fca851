//! Complete Tasks: alone, as the answer to a send, and on a page.

use serde_json::{Value, json};
use trackway_a2a_wire::{JsonDialect, WireArtifact};
use trackway_domain::{
    self as domain, ArtifactId, Event, MessageRole, Part, ReplayMismatch, SessionId, StateName,
    ValidationError,
};
use trackway_engine::AnswerRequestRank;

use super::{DIALECTS, message, part};
use crate::{
    operations::{self, AgentCallOutcome, DirectReply, SendReply, TaskPage, TaskSnapshot},
    wire::{
        ResponseBody,
        wire_samples::{
            self, QUESTION, RUN, sample_artifact_event, sample_message_id, sample_question_event,
            sample_resumed_event, sample_snapshot, sample_status_event,
        },
    },
};

const USER: (&str, &str) = ("user", "ROLE_USER");
const AGENT: (&str, &str) = ("agent", "ROLE_AGENT");

fn encode(outcome: &AgentCallOutcome, dialect: JsonDialect) -> Value {
    serde_json::to_value(ResponseBody { outcome, card: &Value::Null, dialect }).unwrap()
}

fn task(snapshot: TaskSnapshot, history: usize, dialect: JsonDialect) -> Value {
    encode(&AgentCallOutcome::Task(Box::new(snapshot), history), dialect)
}

/// Proves L8, L18.
#[test]
fn a_run_that_was_just_submitted_alone_and_as_a_reply() {
    for dialect in DIALECTS {
        let text = part(dialect, "text", json!({"text": "go"}));
        let mut expected = json!({
            "id": RUN,
            "contextId": "ctx",
            "status": {"state": "submitted", "timestamp": "1970-01-01T00:00:00.000Z"},
            "history": [message(dialect, "m-1", USER, &json!([text]))],
        });
        if dialect == JsonDialect::V03 {
            expected["kind"] = json!("task");
            expected["artifacts"] = json!([]);
        } else {
            expected["status"]["state"] = json!("TASK_STATE_SUBMITTED");
        }
        assert_eq!(task(sample_snapshot(&[]), 1_000, dialect), expected);
        let reply = AgentCallOutcome::Reply(SendReply::Task(Box::new(sample_snapshot(&[]))), 1_000);
        let wrapped = match dialect {
            JsonDialect::V03 => expected,
            _ => json!({ "task": expected }),
        };
        assert_eq!(encode(&reply, dialect), wrapped);
    }
}

/// Proves L3, L4, L6.
#[test]
fn a_waiting_run_shows_its_question_its_artifacts_and_its_history() {
    for (dialect, state) in
        [(JsonDialect::V03, "input-required"), (JsonDialect::V1, "TASK_STATE_INPUT_REQUIRED")]
    {
        let text = |text: &str| json!([part(dialect, "text", json!({ "text": text }))]);
        let prompt = json!({"text": "How much?",
            "metadata": {"schema": {"type": "object"}, "mimeType": "application/json"}});
        let mut question = message(dialect, "a-2", AGENT, &json!([part(dialect, "text", prompt)]));
        question["metadata"] = json!({"questionId": QUESTION});
        let data = json!({"data": {"a": 1}, "metadata": {"mimeType": "application/json"}});
        let mut expected = json!({
            "id": RUN,
            "contextId": "ctx",
            "status": {
                "state": state,
                "timestamp": "1970-01-01T00:00:04.000Z",
                "message": question,
            },
            "artifacts": [{"artifactId": "form.json", "name": "Form",
                "parts": [part(dialect, "data", data)]}],
            "history": [message(dialect, "m-1", USER, &text("go")),
                message(dialect, "a-1", AGENT, &text("looking"))],
        });
        if dialect == JsonDialect::V03 {
            expected["kind"] = json!("task");
        }
        let events =
            [Event::Started, sample_status_event(), sample_artifact_event(), sample_question_event()];
        assert_eq!(task(sample_snapshot(&events), 1_000, dialect), expected);
    }
}

#[test]
fn history_shows_the_newest_and_zero_omits_it() {
    for dialect in DIALECTS {
        let ids = |history: usize| {
            let task = task(
                sample_snapshot(&[Event::Started, sample_question_event(), sample_resumed_event(2)]),
                history,
                dialect,
            );
            let list = task.get("history")?.as_array()?.clone();
            let ids = list.iter().map(|m| m["messageId"].as_str().unwrap().to_owned());
            Some(ids.collect::<Vec<_>>())
        };
        assert_eq!(ids(0), None);
        assert_eq!(ids(1).unwrap(), ["m-2"]);
        assert_eq!(ids(2).unwrap(), ["a-2", "m-2"]);
        assert_eq!(ids(50).unwrap(), ["m-1", "a-2", "m-2"]);
    }
}

/// Proves L9, L16.
#[test]
fn resume_metadata_is_the_answers_own_else_that_of_the_request_which_resumed() {
    for dialect in DIALECTS {
        let resumed = || sample_snapshot(&[Event::Started, sample_question_event(), sample_resumed_event(2)]);
        assert_eq!(
            task(resumed(), 0, dialect)["metadata"],
            json!({"concurrentRequest": true, "requestOrder": 2, "primaryResume": true})
        );
        let problem = ValidationError {
            path: "/amount".into(),
            code: "type".into(),
            message: "no".into(),
            expected: json!("number"),
            got: None,
            hint: None,
        };
        let mark = AnswerRequestRank { order: 3, concurrent: true, primary: false };
        let answer = Some(operations::AnswerReceipt { mark, problems: vec![problem] });
        let late = TaskSnapshot { answer, ..resumed() };
        assert_eq!(
            task(late, 0, dialect)["metadata"],
            json!({"concurrentRequest": true, "requestOrder": 3, "primaryResume": false,
                "validationErrors": [{"path": "/amount", "code": "type", "message": "no",
                    "expected": "number"}]})
        );
    }
}

#[test]
fn output_and_evidence_are_metadata_too() {
    for (dialect, completed, working) in [
        (JsonDialect::V03, "completed", "working"),
        (JsonDialect::V1, "TASK_STATE_COMPLETED", "TASK_STATE_WORKING"),
    ] {
        let done = Event::Completed { output: json!({"sum": 3}), message_id: None };
        let done = task(sample_snapshot(&[Event::Started, done]), 0, dialect);
        assert_eq!(done["status"]["state"], completed);
        assert_eq!(done["metadata"], json!({"output": {"sum": 3}}));
        let evidence = ReplayMismatch {
            message: "the code asks for step:b#0".into(),
            asked: Some("step:b#0".into()),
            recorded: Some("step:a#0".into()),
        };
        let parked =
            Event::Parked { evidence, state: StateName::Working, message_id: sample_message_id("a-9") };
        let parked = task(sample_snapshot(&[Event::Started, parked]), 0, dialect);
        assert_eq!(parked["status"]["state"], working);
        assert_eq!(
            parked["metadata"],
            json!({"parked": {"message": "the code asks for step:b#0",
                "asked": "step:b#0", "recorded": "step:a#0"}})
        );
    }
}

/// A page always has all four members, and includes artifacts only on request.
#[test]
fn a_page_of_tasks() {
    let page = |tasks, next: &str, artifacts| {
        let page = TaskPage { tasks, next: next.to_owned(), size: 2, total: 7 };
        encode(&AgentCallOutcome::Page { page, history: 0, artifacts }, JsonDialect::V1)
    };
    assert_eq!(
        page(vec![], "", false),
        json!({"tasks": [], "nextPageToken": "", "pageSize": 2, "totalSize": 7})
    );
    let tasks = || vec![sample_snapshot(&[Event::Started, sample_artifact_event()]), sample_snapshot(&[])];
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
    let said = DirectReply {
        message: wire_samples::sample_message("a-1", MessageRole::Agent, "hi"),
        session: SessionId::new("ctx").unwrap(),
    };
    assert_eq!(
        encode(&AgentCallOutcome::Reply(SendReply::Message(Box::new(said)), 0), JsonDialect::V1),
        json!({"message": {"messageId": "a-1", "contextId": "ctx", "role": "ROLE_AGENT",
            "parts": [{"text": "hi"}]}})
    );
    assert_eq!(encode(&AgentCallOutcome::Done, JsonDialect::V1), json!({}));
}

#[test]
fn files_and_odd_data_keep_the_shape_of_the_protocol() {
    let file = |source| {
        Part::file(domain::File { name: Some("a.txt".into()), mime_type: Some("text/plain".into()), source })
    };
    let parts = vec![
        file(domain::FileSource::Base64("aGk=".into())),
        file(domain::FileSource::Uri("https://a.example/a".into())),
        Part::data(json!([1, 2])),
        Part { content: domain::MessagePartContent::Data(json!({})), metadata: domain::Object::new() },
    ];
    let artifact = domain::Artifact::new(ArtifactId::new("x").unwrap(), parts);
    let shown =
        serde_json::to_value(WireArtifact { artifact: &artifact, dialect: JsonDialect::V03 }).unwrap();
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
