//! Push notification configurations of 1.0, read and written.

use serde_json::{Value, json};
use trackway_a2a_wire::JsonDialect;

use super::*;
use crate::{error::A2aErrorDetail, operations::AgentCallOutcome, wire::ResponseBody};

fn read(sent: Value) -> Result<PushNotificationConfig, A2aError> {
    serde_json::from_value::<PushConfigParams>(sent).expect("of the right types").into_push_config("/params")
}

fn render_outcome(outcome: &AgentCallOutcome) -> Value {
    serde_json::to_value(ResponseBody { outcome, card: &Value::Null, dialect: JsonDialect::V1 }).unwrap()
}

/// Proves X6: a client receives exactly the configuration that it set.
#[test]
fn a_configuration_comes_out_as_it_went_in() {
    for sent in [
        json!({"id": "c", "taskId": "t", "url": "https://a.example/x"}),
        json!({"id": "c", "taskId": "t", "url": "https://a.example/x", "token": "tok",
            "authentication": {"scheme": "Bearer", "credentials": "secret"}}),
        json!({"id": "c", "taskId": "t", "url": "https://a.example/x",
            "authentication": {"scheme": "Basic"}}),
    ] {
        let push = Box::new(read(sent.clone()).unwrap());
        assert_eq!(push.generation, ProtocolVersion::V1);
        assert!(!format!("{push:?}").contains("secret"), "secrets stay out of logs");
        assert_eq!(render_outcome(&AgentCallOutcome::Push { task: "t".into(), push: push.clone() }), sent);
        assert_eq!(
            render_outcome(&AgentCallOutcome::Pushes {
                task: "t".into(),
                pushes: vec![*push],
                next: String::new()
            }),
            json!({"configs": [sent], "nextPageToken": ""})
        );
    }
}

#[test]
fn empty_texts_are_what_was_not_sent() {
    let push = read(json!({"tenant": "", "id": "", "task_id": "t", "url": "https://a.example",
        "token": "", "authentication": {"scheme": "Bearer", "credentials": ""}}));
    let push = push.unwrap();
    assert_eq!((push.id, push.token), (None, None));
    assert_eq!(push.authentication.unwrap().credentials, None);
}

/// Proves X5.
#[test]
fn what_is_missing_is_named() {
    for (sent, path) in [
        (json!({}), "/params/url"),
        (json!({"url": ""}), "/params/url"),
        (json!({"url": "https://a.example", "authentication": {}}), "/params/authentication/scheme"),
        (
            json!({"url": "https://a.example", "authentication": {"scheme": ""}}),
            "/params/authentication/scheme",
        ),
    ] {
        let fault = read(sent.clone()).unwrap_err();
        assert_eq!(fault.kind.json_rpc_code(), -32602);
        let A2aErrorDetail::Advice(advice) = *fault.detail else { panic!("advice for {sent}") };
        assert_eq!(advice.path.as_deref(), Some(path), "{sent}");
    }
}
