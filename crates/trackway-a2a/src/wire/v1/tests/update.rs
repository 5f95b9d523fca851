//! What a stream of 1.0 carries for each thing that happens to a run.

use serde_json::{Value, json};
use trackway_a2a_wire::Dialect;
use trackway_domain::{
    self as domain, ArtifactChunk, ArtifactId, Event, OpKind, Part, Problem, Question, Reason,
    Role, StateName,
};

use crate::wire::samples::{self, QUESTION, RUN, id, op, resume, resumed};

fn shown(event: &Event) -> Value {
    samples::shown(event, Dialect::V1)
}

fn status(state: &str, parts: &Value) -> Value {
    json!({"statusUpdate": {
        "taskId": RUN, "contextId": "ctx",
        "status": {
            "state": state,
            "timestamp": "1970-01-01T00:00:00.000Z",
            "message": {"messageId": "a-1", "contextId": "ctx", "taskId": RUN,
                "role": "ROLE_AGENT", "parts": parts},
        },
    }})
}

fn question() -> Question {
    Question {
        id: QUESTION.parse().unwrap(),
        reason: Reason::InputRequired,
        prompt: vec![Part::text("Amount?")],
        schema: json!({"type": "object"}),
        answer_type: None,
    }
}

/// Proves L2, L3, L18.
#[test]
fn progress_with_text_and_data() {
    let found = json!({"opportunities": [{"apy": 5.2}]});
    let parts = vec![Part::text("Found 1:"), Part::data(found.clone())];
    let message = domain::Message::new(id("a-1"), Role::Agent, parts);
    let event = Event::Status { op: op(OpKind::Status), state: StateName::Working, message };
    let parts = json!([{"text": "Found 1:"}, {"data": found, "mediaType": "application/json",
        "metadata": {"mimeType": "application/json"}}]);
    assert_eq!(shown(&event), status("TASK_STATE_WORKING", &parts));
}

/// Proves L4, L6.
#[test]
fn artifacts_say_whether_they_extend_and_whether_more_comes() {
    for (append, last) in [(false, true), (true, false)] {
        let artifact_id = ArtifactId::new("echo.txt").unwrap();
        let artifact = domain::Artifact::new(artifact_id, vec![Part::text("b")]);
        let chunk = ArtifactChunk { artifact, append, last, joined: false };
        assert_eq!(
            shown(&Event::Artifact { op: op(OpKind::Artifact), chunk }),
            json!({"artifactUpdate": {
                "taskId": RUN, "contextId": "ctx", "append": append, "lastChunk": last,
                "artifact": {"artifactId": "echo.txt", "parts": [{"text": "b"}]},
            }})
        );
    }
}

/// Proves L5, L14.
#[test]
fn a_question_and_its_repetition_with_the_errors() {
    let asked = Event::Asked { op: op(OpKind::Ask), question: question(), message_id: id("a-1") };
    let parts = json!([{"text": "Amount?", "mediaType": "application/json",
        "metadata": {"schema": {"type": "object"}, "mimeType": "application/json"}}]);
    let mut expected = status("TASK_STATE_INPUT_REQUIRED", &parts);
    expected["statusUpdate"]["status"]["message"]["metadata"] = json!({"questionId": QUESTION});
    assert_eq!(shown(&asked), expected);
    let problem = Problem {
        path: "/amount".into(),
        code: "required".into(),
        message: "it is missing".into(),
        expected: json!("amount"),
        got: None,
        hint: None,
    };
    let refused = Event::Refused {
        resume: resume(2),
        problems: vec![problem],
        question: question(),
        message_id: id("a-1"),
    };
    let message = &shown(&refused)["statusUpdate"]["status"]["message"];
    assert_eq!(message["metadata"]["validationErrors"][0]["path"], "/amount");
}

/// Proves L9, L16.
#[test]
fn the_working_of_a_resume_says_which_request_it_was() {
    assert_eq!(
        shown(&resumed(1)),
        json!({"statusUpdate": {
            "taskId": RUN, "contextId": "ctx",
            "status": {"state": "TASK_STATE_WORKING", "timestamp": "1970-01-01T00:00:00.000Z"},
            "metadata": {"concurrentRequest": false, "requestOrder": 1, "primaryResume": true},
        }})
    );
}

/// Proves L7, L10.
#[test]
fn ends_have_no_mark_but_their_state() {
    let rejected = Event::Rejected { reason: "no".into(), message_id: id("a-1") };
    assert_eq!(shown(&rejected), status("TASK_STATE_REJECTED", &json!([{"text": "no"}])));
    let failure = domain::Failure::new("no luck");
    let failed = Event::Failed { failure, message_id: id("a-1") };
    assert_eq!(shown(&failed), status("TASK_STATE_FAILED", &json!([{"text": "no luck"}])));
    for (event, state, metadata) in [
        (
            Event::Completed { output: json!({"n": 1}), message_id: None },
            "TASK_STATE_COMPLETED",
            Some(json!({"output": {"n": 1}})),
        ),
        (Event::Canceled, "TASK_STATE_CANCELED", None),
        (Event::Started, "TASK_STATE_WORKING", None),
    ] {
        let shown = shown(&event);
        assert_eq!(shown["statusUpdate"]["status"]["state"], state);
        assert_eq!(shown["statusUpdate"].get("metadata"), metadata.as_ref());
        assert_eq!(shown["statusUpdate"].get("final"), None, "that was 0.3");
    }
}
