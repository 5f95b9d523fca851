//! The stream items for each output of a workflow and each event of its run.

use serde_json::{Value, json};
use trackway_a2a_wire::JsonDialect;
use trackway_domain::{
    Artifact, ArtifactChunk, ArtifactId, Event, Failure, InterruptReason, Message, MessageRole, OpKind, Part,
    Question, StateName, ValidationError,
};

use super::{DIALECTS, message, part};
use crate::wire::wire_samples::{
    QUESTION, RUN, render_event, sample_message_id, sample_op, sample_resume_request, sample_resumed_event,
};

/// A status update: marked as the last in 0.3, wrapped in 1.0.
fn status(dialect: JsonDialect, states: (&str, &str), last: bool, parts: Option<&Value>) -> Value {
    let mut status = json!({"timestamp": "1970-01-01T00:00:00.000Z"});
    if let Some(parts) = parts {
        status["message"] = message(dialect, "a-1", ("agent", "ROLE_AGENT"), parts);
    }
    status["state"] = if dialect == JsonDialect::V03 { states.0 } else { states.1 }.into();
    let update = json!({"taskId": RUN, "contextId": "ctx", "status": status});
    if dialect == JsonDialect::V03 {
        let mut update = update;
        update["kind"] = json!("status-update");
        update["final"] = json!(last);
        return update;
    }
    json!({ "statusUpdate": update })
}

/// The update itself, with or without its wrapper.
fn inner(mut update: Value, member: &str) -> Value {
    if update.get("kind").is_some() { update } else { update[member].take() }
}

fn text(dialect: JsonDialect, text: &str) -> Value {
    part(dialect, "text", json!({ "text": text }))
}

const WORKING: (&str, &str) = ("working", "TASK_STATE_WORKING");
const INPUT_REQUIRED: (&str, &str) = ("input-required", "TASK_STATE_INPUT_REQUIRED");

fn question() -> Question {
    Question {
        id: QUESTION.parse().unwrap(),
        reason: InterruptReason::InputRequired,
        prompt: vec![Part::text("Amount?"), Part::text("In USD.")],
        schema: json!({"type": "object", "required": ["amount"]}),
        answer_type: None,
    }
}

/// Proves L2, L3, L18.
#[test]
fn progress_with_text_and_data() {
    for dialect in DIALECTS {
        let found = json!({"opportunities": [{"protocol": "Aave", "apy": 5.2}]});
        let parts = vec![Part::text("Found 1:"), Part::data(found.clone())];
        let message = Message::new(sample_message_id("a-1"), MessageRole::Agent, parts);
        let event = Event::Status { op: sample_op(OpKind::Status), state: StateName::Working, message };
        let data = json!({"data": found, "metadata": {"mimeType": "application/json"}});
        let parts = json!([text(dialect, "Found 1:"), part(dialect, "data", data)]);
        assert_eq!(render_event(&event, dialect), status(dialect, WORKING, false, Some(&parts)));
    }
}

/// Proves L4, L6.
#[test]
fn artifacts_say_whether_they_extend_and_whether_more_comes() {
    for (append, last) in [(false, true), (true, false)] {
        for dialect in DIALECTS {
            let parts = vec![Part::data(json!({"amount": 100}))];
            let mut artifact = Artifact::new(ArtifactId::new("form.json").unwrap(), parts);
            artifact.name = Some("Investment Form".into());
            let chunk = ArtifactChunk { artifact, append, last, joined: false };
            let data = json!({"data": {"amount": 100}, "metadata": {"mimeType": "application/json"}});
            let mut expected = json!({
                "taskId": RUN, "contextId": "ctx", "append": append, "lastChunk": last,
                "artifact": {"artifactId": "form.json", "name": "Investment Form",
                    "parts": [part(dialect, "data", data)]},
            });
            if dialect == JsonDialect::V03 {
                expected["kind"] = json!("artifact-update");
            } else {
                expected = json!({ "artifactUpdate": expected });
            }
            assert_eq!(
                render_event(&Event::Artifact { op: sample_op(OpKind::Ask), chunk }, dialect),
                expected
            );
        }
    }
}

/// Proves L5, L14.
#[test]
fn a_question_and_its_repetition_with_the_errors() {
    for dialect in DIALECTS {
        let event = Event::Asked {
            op: sample_op(OpKind::Ask),
            question: question(),
            message_id: sample_message_id("a-1"),
        };
        let prompt = json!({"text": "Amount?", "metadata": {
            "schema": {"type": "object", "required": ["amount"]}, "mimeType": "application/json"}});
        let parts = json!([part(dialect, "text", prompt), text(dialect, "In USD.")]);
        let expected = status(dialect, INPUT_REQUIRED, false, Some(&parts));
        let mut expected = inner(expected, "statusUpdate");
        expected["status"]["message"]["metadata"] = json!({"questionId": QUESTION});
        assert_eq!(inner(render_event(&event, dialect), "statusUpdate"), expected);

        let problem = ValidationError {
            path: "/amount".into(),
            code: "required".into(),
            message: "\"amount\" is missing".into(),
            expected: json!("amount"),
            got: None,
            hint: None,
        };
        let refused = Event::Refused {
            request: sample_resume_request(2),
            problems: vec![problem],
            question: question(),
            message_id: sample_message_id("a-1"),
        };
        let repeated = inner(render_event(&refused, dialect), "statusUpdate");
        assert_eq!(repeated["status"]["state"], expected["status"]["state"]);
        assert_eq!(repeated.get("final"), expected.get("final"));
        let message = &repeated["status"]["message"];
        assert_eq!(message["metadata"]["validationErrors"][0]["path"], "/amount");
        assert_eq!(message["parts"][0]["metadata"]["schema"]["type"], "object");
    }
}

/// Proves L9, L16.
#[test]
fn the_working_of_a_resume_says_which_request_it_was() {
    for dialect in DIALECTS {
        let mut expected = inner(status(dialect, WORKING, false, None), "statusUpdate");
        assert_eq!(inner(render_event(&Event::Started, dialect), "statusUpdate"), expected);
        expected["metadata"] = json!({"concurrentRequest": false, "requestOrder": 1, "primaryResume": true});
        assert_eq!(inner(render_event(&sample_resumed_event(1), dialect), "statusUpdate"), expected);
    }
}

/// Proves L7, L10: 0.3 marks the last update, 1.0 leaves that to the state.
#[test]
fn ends_carry_their_reason_or_their_output() {
    for dialect in DIALECTS {
        let rejected = Event::Rejected { reason: "not today".into(), message_id: sample_message_id("a-1") };
        let failed = Event::Failed { failure: Failure::new("no luck"), message_id: sample_message_id("a-1") };
        for (event, states, reason) in [
            (rejected, ("rejected", "TASK_STATE_REJECTED"), Some("not today")),
            (failed, ("failed", "TASK_STATE_FAILED"), Some("no luck")),
            (Event::Canceled, ("canceled", "TASK_STATE_CANCELED"), None),
        ] {
            let parts = reason.map(|reason| json!([text(dialect, reason)]));
            let expected = status(dialect, states, true, parts.as_ref());
            assert_eq!(render_event(&event, dialect), expected);
        }
        for (output, metadata) in [(json!({"n": 1}), Some(json!({"output": {"n": 1}}))), (Value::Null, None)]
        {
            let states = ("completed", "TASK_STATE_COMPLETED");
            let mut expected = inner(status(dialect, states, true, None), "statusUpdate");
            if let Some(metadata) = metadata {
                expected["metadata"] = metadata;
            }
            let completed = Event::Completed { output, message_id: None };
            assert_eq!(inner(render_event(&completed, dialect), "statusUpdate"), expected);
        }
    }
}
