//! Parameters of 1.0 in all the spellings that the JSON form of protobuf allows.

use serde_json::{Value, json};
use trackway_domain::StateName;

use super::*;
use crate::{error::A2aErrorDetail, request_options::HISTORY_MESSAGES_MAX};

fn refused(call: Result<AgentCall, A2aError>) -> String {
    let fault = call.unwrap_err();
    assert_eq!(fault.kind.json_rpc_code(), -32602);
    let A2aErrorDetail::Advice(advice) = *fault.detail else { panic!("advice") };
    advice.path.unwrap_or_default()
}

fn listed(params: Value) -> Result<AgentCall, A2aError> {
    parse_list_tasks(serde_json::from_value(params).expect("of the right types"))
}

#[test]
fn a_list_in_either_spelling_with_integers_as_they_come() {
    let camel = json!({"contextId": "c", "status": "TASK_STATE_WORKING", "pageSize": 5,
        "pageToken": "t", "historyLength": 2, "includeArtifacts": true,
        "statusTimestampAfter": "1970-01-01T00:00:01.000Z"});
    let snake = json!({"context_id": "c", "status": "TASK_STATE_WORKING", "page_size": "5",
        "page_token": "t", "history_length": 2.0, "include_artifacts": true,
        "status_timestamp_after": "1970-01-01T00:00:01.000Z"});
    for params in [camel, snake] {
        let Ok(AgentCall::List { query, history: 2, artifacts: true }) = listed(params.clone()) else {
            panic!("{params}")
        };
        assert_eq!(
            *query,
            TaskQuery {
                session: Some(SessionId::new("c").unwrap()),
                state: Some(StateName::Working),
                since: Some(Timestamp(1_000)),
                page_size: Some(5),
                page_token: "t".into(),
            }
        );
    }
    for nothing in [
        json!({}),
        json!({"contextId": "", "status": "TASK_STATE_UNSPECIFIED", "pageToken": "",
            "statusTimestampAfter": ""}),
        json!({"contextId": null, "status": null, "pageSize": null, "historyLength": null}),
    ] {
        let Ok(AgentCall::List { query, history, artifacts: false }) = listed(nothing) else { panic!() };
        assert_eq!((*query, history), (TaskQuery::default(), HISTORY_MESSAGES_MAX));
    }
}

/// Proves X5.
#[test]
fn filters_that_mean_nothing_are_refused_at_their_place() {
    for (params, path) in [
        (json!({"status": "working"}), "/params/status"),
        (json!({"statusTimestampAfter": "yesterday"}), "/params/statusTimestampAfter"),
        (json!({"contextId": "x".repeat(257)}), "/params/contextId"),
        (json!({"historyLength": -1}), "/params/historyLength"),
    ] {
        assert_eq!(refused(listed(params)), path);
    }
    for wrong in [json!("five"), json!(1.5), json!(1e300), json!(u64::MAX), json!(true), json!("")] {
        let params = json!({"pageSize": wrong});
        assert!(serde_json::from_value::<ListTasksParams>(params).is_err(), "{wrong}");
    }
}

#[test]
fn a_send_waits_unless_told_not_to() {
    let message = json!({"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "x"}]});
    let sent = |configuration: Value| {
        let params = json!({"message": message, "configuration": configuration});
        parse_send_message(serde_json::from_value(params).expect("of the right types"))
    };
    for (configuration, waits, length) in [
        (Value::Null, SendWaitFor::Idle, HISTORY_MESSAGES_MAX),
        (json!({}), SendWaitFor::Idle, HISTORY_MESSAGES_MAX),
        (json!({"returnImmediately": false, "historyLength": "3"}), SendWaitFor::Idle, 3),
        (json!({"return_immediately": true, "history_length": 0}), SendWaitFor::Commit, 0),
    ] {
        let Ok(AgentCall::Send { wait, history, .. }) = sent(configuration.clone()) else { panic!() };
        assert_eq!((wait, history), (waits, length), "{configuration}");
    }
    let config = json!({"acceptedOutputModes": ["text/plain"],
        "task_push_notification_config": {"url": "https://a.example"}});
    let Ok(AgentCall::Send { incoming, .. }) = sent(config) else { panic!() };
    assert_eq!(incoming.accepted_modes, ["text/plain"]);
    assert_eq!(incoming.push.unwrap().url, "https://a.example");
    assert_eq!(
        refused(sent(json!({"taskPushNotificationConfig": {}}))),
        "/params/configuration/taskPushNotificationConfig/url"
    );
    assert_eq!(refused(sent(json!({"historyLength": -1}))), "/params/configuration/historyLength");
}

/// Proves X5.
#[test]
fn a_push_configuration_belongs_to_a_task() {
    let params = serde_json::from_value(json!({"url": "https://a.example"})).unwrap();
    assert_eq!(refused(parse_set_push(params)), "/params/taskId");
}
