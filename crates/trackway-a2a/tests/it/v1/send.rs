//! Sends messages of 1.0 and checks the results.

use serde_json::{Value, json};

use super::bindings::{WAYS, data_answer, short_state, text_message};
use crate::test_server::TestServer;

/// Proves L8: a send waits unless the client disables it.
#[tokio::test]
async fn a_send_answers_when_the_task_rests_or_at_once() {
    for way in WAYS {
        let site = TestServer::new();
        for (text, expected) in
            [("hello", "COMPLETED"), ("ask", "INPUT_REQUIRED"), ("reject", "REJECTED"), ("fail", "FAILED")]
        {
            let task = site.start_v1_task(way, text, text).await;
            assert_eq!(short_state(&task["status"]), expected, "{way:?} {text}");
            assert!(task["contextId"].is_string());
        }
        let at_once = json!({"message": text_message("m-1", "ask"),
            "configuration": {"returnImmediately": true}});
        let task = &site.call_v1(way, "SendMessage", &at_once).await.unwrap()["task"];
        assert_eq!(short_state(&task["status"]), "SUBMITTED", "{way:?}");
        assert_eq!(task["history"][0]["messageId"], "m-1");
    }
}

/// Proves L9, L14.
#[tokio::test]
async fn a_question_is_answered_until_the_answer_fits() {
    for way in WAYS {
        let site = TestServer::new();
        let task = site.start_v1_task(way, "m-1", "ask").await;
        let send = |message: Value| {
            let (site, params) = (&site, json!({ "message": message }));
            async move { site.call_v1(way, "SendMessage", &params).await.unwrap()["task"].take() }
        };
        let wrong = send(data_answer("m-2", &task, &json!({"amount": 0}))).await;
        assert_eq!(short_state(&wrong["status"]), "INPUT_REQUIRED");
        assert_eq!(wrong["metadata"]["validationErrors"][0]["path"], "/amount");
        let right = send(data_answer("m-3", &task, &json!({"amount": 5}))).await;
        assert_eq!(short_state(&right["status"]), "AUTH_REQUIRED");
        assert_eq!(
            right["metadata"],
            json!({"concurrentRequest": false, "requestOrder": 2, "primaryResume": true})
        );
        // A context alone finds the only task in it that waits.
        let mut signed = text_message("m-4", "signed");
        signed["contextId"] = task["contextId"].clone();
        let done = send(signed).await;
        assert_eq!((&done["id"], short_state(&done["status"])), (&task["id"], "COMPLETED"));
        assert_eq!(done["metadata"]["output"], json!({"invested": 5}));
    }
}

/// Proves L2: a request that needs no task is answered by a message, and leaves nothing behind.
#[tokio::test]
async fn a_direct_answer_is_a_message() {
    for way in WAYS {
        let site = TestServer::new();
        let mut direct = text_message("m-1", "direct");
        direct["contextId"] = json!("ctx-1");
        let sent = site.call_v1(way, "SendMessage", &json!({ "message": direct })).await.unwrap();
        let said = &sent["message"];
        assert_eq!(
            *said,
            json!({"messageId": said["messageId"], "contextId": "ctx-1", "role": "ROLE_AGENT",
                "parts": [{"text": "no task is needed for that"}]})
        );
        let page = site.call_v1(way, "ListTasks", &json!({})).await.unwrap();
        assert_eq!(page["totalSize"], 0);
        // Sent to a task it is an ordinary message.
        let task = site.start_v1_task(way, "m-2", "ask").await;
        direct["taskId"] = task["id"].clone();
        direct["contextId"] = task["contextId"].clone();
        direct["messageId"] = json!("m-3");
        let sent = site.call_v1(way, "SendMessage", &json!({ "message": direct })).await.unwrap();
        assert_eq!(sent["task"]["id"], task["id"]);
    }
}

/// Proves L18.
#[tokio::test]
async fn a_task_is_shown_with_as_much_history_as_is_asked_for() {
    for way in WAYS {
        let site = TestServer::new();
        let task = site.start_v1_task(way, "m-1", "ask").await;
        let params = json!({"message": data_answer("m-2", &task, &json!({"amount": 5}))});
        site.call_v1(way, "SendMessage", &params).await.unwrap();
        let ids = |history: Value| {
            let mut params = json!({"id": task["id"]});
            if !history.is_null() {
                params["historyLength"] = history;
            }
            let site = &site;
            async move {
                let task = site.call_v1(way, "GetTask", &params).await.unwrap();
                let history = task.get("history").and_then(Value::as_array).cloned();
                history.map(|all| all.iter().map(|m| m["messageId"].clone()).collect::<Vec<_>>())
            }
        };
        let all = ids(Value::Null).await.unwrap();
        assert_eq!((all.first(), all.last()), (Some(&json!("m-1")), Some(&json!("m-2"))));
        assert_eq!(ids(json!(0)).await, None, "{way:?}");
        assert_eq!(ids(json!(1)).await.unwrap(), ["m-2"]);
        assert_eq!(ids(json!("1")).await.unwrap(), ["m-2"]);
        assert_eq!(ids(json!(100)).await.unwrap(), all);
        let none = json!({"message": text_message("m-3", "hello"), "configuration": {"historyLength": 0}});
        let sent = site.call_v1(way, "SendMessage", &none).await.unwrap();
        assert_eq!(sent["task"].get("history"), None);
    }
}

/// Proves L10.
#[tokio::test]
async fn a_task_is_canceled_once() {
    for way in WAYS {
        let site = TestServer::new();
        let task = site.start_v1_task(way, "m-1", "ask").await;
        let id = json!({"id": task["id"]});
        let canceled = site.call_v1(way, "CancelTask", &id).await.unwrap();
        assert_eq!((&canceled["id"], short_state(&canceled["status"])), (&task["id"], "CANCELED"));
        assert_eq!(site.call_v1(way, "GetTask", &id).await.unwrap(), canceled);
        let refused = site.call_v1(way, "CancelTask", &id).await.unwrap_err();
        assert_eq!(refused.reason(), "TASK_NOT_CANCELABLE");
    }
}

/// Proves L16: a message that is sent again is the same message, on either binding.
#[tokio::test]
async fn a_repeated_message_makes_no_second_task() {
    let site = TestServer::new();
    let first = site.start_v1_task(WAYS[0], "m-1", "hello").await;
    for way in WAYS {
        assert_eq!(site.start_v1_task(way, "m-1", "hello").await, first);
        let params = json!({"message": text_message("m-1", "hello")});
        let events = site.read_v1_stream(way, "SendStreamingMessage", &params).await;
        assert_eq!(events.len(), 1);
        assert_eq!(events[0].result["task"], first);
        assert_eq!(site.call_v1(way, "ListTasks", &json!({})).await.unwrap()["totalSize"], 1);
    }
}

/// Both spellings of a field are accepted, on both bindings, also in queries.
#[tokio::test]
async fn snake_case_is_understood_everywhere() {
    for way in WAYS {
        let site = TestServer::new();
        let sent = json!({
            "message": {"message_id": "m-1", "context_id": "ctx", "role": "ROLE_USER", "parts": [{"text": "ask"}]},
            "configuration": {"return_immediately": false, "history_length": 0},
        });
        let task = site.call_v1(way, "SendMessage", &sent).await.unwrap()["task"].take();
        assert_eq!((short_state(&task["status"]), task.get("history")), ("INPUT_REQUIRED", None));
        let got = site.call_v1(way, "GetTask", &json!({"id": task["id"], "history_length": 0})).await;
        assert_eq!(got.unwrap(), task, "{way:?}");
        let list = json!({"context_id": "ctx", "page_size": 1, "page_token": "", "history_length": 0,
            "include_artifacts": true, "status_timestamp_after": "1970-01-01T00:00:00Z"});
        let page = site.call_v1(way, "ListTasks", &list).await.unwrap();
        assert_eq!((&page["tasks"][0], &page["pageSize"]), (&task, &json!(1)), "{way:?}");
    }
}
