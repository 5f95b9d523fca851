//! Configurations of sends, and the calls that they become.

use serde_json::{Value, json};

use super::*;
use crate::request_options::HISTORY_MESSAGES_MAX;

fn configured(configuration: &Value) -> Result<(SendWaitFor, HistoryLength), i32> {
    let params = json!({
        "message": {"messageId": "m", "role": "user", "parts": [{"kind": "text", "text": "hi"}]},
        "configuration": configuration,
    });
    match parse_send_message(serde_json::from_value(params).unwrap()) {
        Ok(AgentCall::Send { wait, history, .. }) => Ok((wait, history)),
        Ok(other) => panic!("{other:?}"),
        Err(fault) => Err(fault.kind.json_rpc_code()),
    }
}

#[test]
fn blocking_is_asked_for_and_history_has_a_bound() {
    for (sent, expected) in [
        (json!(null), (SendWaitFor::Commit, HISTORY_MESSAGES_MAX)),
        (json!({}), (SendWaitFor::Commit, HISTORY_MESSAGES_MAX)),
        (json!({"blocking": null, "historyLength": null}), (SendWaitFor::Commit, HISTORY_MESSAGES_MAX)),
        (json!({"blocking": false}), (SendWaitFor::Commit, HISTORY_MESSAGES_MAX)),
        (json!({"blocking": true, "historyLength": 0, "unknown": 1}), (SendWaitFor::Idle, 0)),
        (json!({"historyLength": 7, "pushNotificationConfig": null}), (SendWaitFor::Commit, 7)),
    ] {
        assert_eq!(configured(&sent), Ok(expected), "{sent}");
    }
    assert_eq!(configured(&json!({"historyLength": -1})), Err(-32602));
    let no_scheme =
        json!({"url": "https://a.example", "authentication": {"schemes": [], "credentials": "x"}});
    assert_eq!(configured(&json!({"pushNotificationConfig": no_scheme})), Err(-32602));
}
