//! Every error of the runtime has its code and names the next action.

use serde_json::json;
use trackway_domain::{MessageId, QuestionId, RunId, SessionId, StateName};

use super::*;

fn run() -> RunId {
    "run_0199a0b1c2d37e4f8a9b0c1d2e3f4a5b".parse().unwrap()
}

/// Proves X5.
#[test]
fn runtime_errors_become_the_errors_of_the_protocol() {
    let question: QuestionId = "qst_0199a0b1c2d37e4f8a9b0c1d2e3f4a5b".parse().unwrap();
    for (error, number, code) in [
        (
            Error::UnknownWorkflow { name: "nope".into(), known: vec!["echo".into()], why: None },
            -32601,
            "unknown-workflow",
        ),
        (Error::UnknownRun { run: run().to_string() }, -32001, "unknown-run"),
        (
            Error::SessionMismatch { run: run(), session: SessionId::new("s").unwrap() },
            -32602,
            "session-mismatch",
        ),
        (Error::Ended { run: run(), state: StateName::Completed }, -32004, "run-ended"),
        (Error::UnknownQuestion { run: run(), question }, -32602, "invalid-request"),
        (
            Error::MessageReused { message: MessageId::new("m").unwrap(), run: run() },
            -32602,
            "message-reused",
        ),
        (Error::Damaged { run: run(), reason: "secret".into() }, -32603, "damaged-log"),
        (Error::Store { reason: "disk at secret".into() }, -32603, "store-failed"),
        (Error::Internal { reason: "at secret".into() }, -32603, "internal"),
        (Error::Stopping, -32603, "stopping"),
    ] {
        let fault = A2aError::from(error);
        assert_eq!(fault.kind.json_rpc_code(), number, "{}", fault.message);
        let data = serde_json::to_value(&fault.detail).unwrap();
        assert_eq!(data["code"], code);
        assert!(!data["next"].as_str().unwrap().is_empty());
        assert!(!fault.message.contains("secret"), "internals stay inside: {}", fault.message);
    }
}

#[test]
fn invalid_input_carries_the_errors_and_the_schema_and_nothing_else() {
    let problem = ValidationError {
        path: "/amount".into(),
        code: "exclusiveMinimum".into(),
        message: "0 is not greater than 0".into(),
        expected: json!(0),
        got: Some(json!(0)),
        hint: None,
    };
    let schema = json!({"type": "object"});
    let fault = A2aError::from(Error::InvalidInput { problems: vec![problem], schema });
    assert_eq!(fault.kind, A2aErrorKind::InvalidParams);
    assert_eq!(
        serde_json::to_value(&fault.detail).unwrap(),
        json!({
            "errors": [{"path": "/amount", "code": "exclusiveMinimum",
                "message": "0 is not greater than 0", "expected": 0, "got": 0}],
            "schema": {"type": "object"},
        })
    );
}

#[test]
fn only_a_few_words_of_a_strange_id_come_back() {
    let fault = A2aError::unknown_task_error(&"x".repeat(10_000));
    assert!(fault.message.len() < 200);
}
