//! Requests of 0.3 clients over HTTP+JSON.

use serde_json::{Value, json};

use super::*;

fn push(body: Value) -> Result<AgentCall, A2aError> {
    serde_json::from_value::<RestPushParams>(body).unwrap().into_set_push_call("run_1")
}

/// The official clients differ: one sends the request of the protocol, one the bare configuration.
#[test]
fn a_push_configuration_comes_wrapped_or_bare() {
    let config = json!({"pushNotificationConfig": {"id": "mine", "url": "https://example.org/"}});
    for body in [json!({"parent": "tasks/run_1", "config": config}), config] {
        let Ok(AgentCall::SetPush { task, push }) = push(body.clone()) else { panic!("{body}") };
        assert_eq!((task.as_str(), push.id.as_deref()), ("run_1", Some("mine")), "{body}");
    }
    assert!(push(json!({"parent": "tasks/run_1"})).is_err(), "one is needed");
}
