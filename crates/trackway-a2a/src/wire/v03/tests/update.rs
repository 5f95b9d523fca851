//! The source's four patterns: what goes out for each thing a workflow says.

use serde_json::{Value, json};
use trackway_a2a_wire::Dialect;
use trackway_domain::{
    Artifact, ArtifactChunk, ArtifactId, Event, Message, OpKind, Part, Problem, Question, Reason,
    Role, StateName,
};

use crate::wire::samples::{self, QUESTION, RUN, id, op, resume, resumed};

fn shown(event: &Event) -> Value {
    samples::shown(event, Dialect::V03)
}

fn status(state: &str, last: bool, parts: &Value) -> Value {
    json!({
        "kind": "status-update", "taskId": RUN, "contextId": "ctx", "final": last,
        "status": {
            "state": state,
            "timestamp": "1970-01-01T00:00:00.000Z",
            "message": {
                "kind": "message", "messageId": "a-1", "contextId": "ctx", "taskId": RUN,
                "role": "agent", "parts": parts,
            },
        },
    })
}

fn says(parts: Vec<Part>) -> Event {
    let message = Message::new(id("a-1"), Role::Agent, parts);
    Event::Status { op: op(OpKind::Status), state: StateName::Working, message }
}

/// Proves L3, L18.
#[test]
fn pattern_1_a_progress_message() {
    let parts = json!([{"kind": "text", "text": "Analyzing market conditions..."}]);
    assert_eq!(
        shown(&says(vec![Part::text("Analyzing market conditions...")])),
        status("working", false, &parts)
    );
}

/// Proves L2, L3.
#[test]
fn pattern_2_structured_progress() {
    let found = json!({"opportunities": [{"protocol": "Aave", "apy": 5.2}]});
    let event = says(vec![Part::text("Found 1:"), Part::data(found.clone())]);
    let parts = json!([
        {"kind": "text", "text": "Found 1:"},
        {"kind": "data", "data": found, "metadata": {"mimeType": "application/json"}},
    ]);
    assert_eq!(shown(&event), status("working", false, &parts));
}

fn question() -> Question {
    Question {
        id: QUESTION.parse().unwrap(),
        reason: Reason::InputRequired,
        prompt: vec![Part::text("Amount?"), Part::text("In USD.")],
        schema: json!({"type": "object", "required": ["amount"]}),
        answer_type: None,
    }
}

/// Proves L5, L6.
#[test]
fn pattern_3_a_question_and_its_artifact() {
    let mut artifact = Artifact::new(
        ArtifactId::new("investment-form-preview.json").unwrap(),
        vec![Part::data(json!({"prefilledValues": {"amount": 100}}))],
    );
    artifact.name = Some("Investment Form".into());
    let chunk = ArtifactChunk::from(artifact);
    assert_eq!(
        shown(&Event::Artifact { op: op(OpKind::Ask), chunk }),
        json!({
            "kind": "artifact-update", "taskId": RUN, "contextId": "ctx",
            "append": false, "lastChunk": true,
            "artifact": {
                "artifactId": "investment-form-preview.json",
                "name": "Investment Form",
                "parts": [{"kind": "data", "data": {"prefilledValues": {"amount": 100}},
                    "metadata": {"mimeType": "application/json"}}],
            },
        })
    );
    let asked = Event::Asked { op: op(OpKind::Ask), question: question(), message_id: id("a-1") };
    let parts = json!([
        {"kind": "text", "text": "Amount?", "metadata": {
            "schema": {"type": "object", "required": ["amount"]}, "mimeType": "application/json"}},
        {"kind": "text", "text": "In USD."},
    ]);
    let mut expected = status("input-required", false, &parts);
    expected["status"]["message"]["metadata"] = json!({"questionId": QUESTION});
    assert_eq!(shown(&asked), expected);
}

/// Proves L7.
#[test]
fn pattern_4_a_rejection() {
    let event = Event::Rejected { reason: "not on Arbitrum".into(), message_id: id("a-1") };
    let parts = json!([{"kind": "text", "text": "not on Arbitrum"}]);
    assert_eq!(shown(&event), status("rejected", true, &parts));
}

/// Proves L9, L16.
#[test]
fn the_working_of_a_resume_says_which_request_it_was() {
    let event = resumed(1);
    assert_eq!(
        shown(&event),
        json!({
            "kind": "status-update", "taskId": RUN, "contextId": "ctx", "final": false,
            "status": {"state": "working", "timestamp": "1970-01-01T00:00:00.000Z"},
            "metadata": {"concurrentRequest": false, "requestOrder": 1, "primaryResume": true},
        })
    );
    let start = shown(&Event::Started);
    assert_eq!((&start["status"]["state"], start.get("metadata")), (&json!("working"), None));
}

/// Proves L14.
#[test]
fn a_repeated_prompt_carries_the_errors_beside_the_schema() {
    let problems = vec![Problem {
        path: "/amount".into(),
        code: "required".into(),
        message: "\"amount\" is missing".into(),
        expected: json!("amount"),
        got: None,
        hint: None,
    }];
    let event =
        Event::Refused { resume: resume(2), problems, question: question(), message_id: id("a-1") };
    let shown = shown(&event);
    assert_eq!(shown["final"], false);
    assert_eq!(shown["status"]["state"], "input-required");
    let message = &shown["status"]["message"];
    assert_eq!(message["metadata"]["validationErrors"][0]["path"], "/amount");
    assert_eq!(message["parts"][0]["metadata"]["schema"]["type"], "object");
}

/// Proves L10.
#[test]
fn ends_are_final_and_completion_carries_the_output() {
    let completed = shown(&Event::Completed { output: json!({"n": 1}), message_id: None });
    assert_eq!(completed["final"], true);
    assert_eq!(completed["status"]["state"], "completed");
    assert_eq!(completed["metadata"], json!({"output": {"n": 1}}));
    let bare = shown(&Event::Completed { output: Value::Null, message_id: None });
    assert_eq!(bare.get("metadata"), None);
    let canceled = shown(&Event::Canceled);
    assert_eq!(
        (&canceled["final"], &canceled["status"]["state"]),
        (&json!(true), &json!("canceled"))
    );
    let failure = trackway_domain::Failure::new("no luck");
    let failed = shown(&Event::Failed { failure, message_id: id("a-1") });
    assert_eq!(failed, status("failed", true, &json!([{"kind": "text", "text": "no luck"}])));
}

/// Proves L4.
#[test]
fn pieces_of_an_artifact_say_whether_more_comes() {
    let artifact = Artifact::new(ArtifactId::new("echo.txt").unwrap(), vec![Part::text("b")]);
    let chunk = ArtifactChunk { artifact, append: true, last: false, joined: false };
    let shown = shown(&Event::Artifact { op: op(OpKind::Artifact), chunk });
    assert_eq!((&shown["append"], &shown["lastChunk"]), (&json!(true), &json!(false)));
}
