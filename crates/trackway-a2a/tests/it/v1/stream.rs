//! Streams of 1.0: their first item, their end, and how they continue after a break.

use axum::{body::Body, http::Request};
use serde_json::{Value, json};

use super::bindings::{TestBinding, WAYS, data_answer, read_to_end, summarize, text_message};
use crate::test_server::TestServer;

/// Proves L7, L8, L10: the task first, then its updates, up to the end or the first interruption.
#[tokio::test]
async fn a_start_shows_the_task_and_everything_up_to_its_rest() {
    for way in WAYS {
        let site = TestServer::new();
        for (text, expected) in [
            ("hello", &["task:SUBMITTED", "WORKING", "WORKING", "+said.txt", "COMPLETED"][..]),
            ("reject", &["task:SUBMITTED", "REJECTED"]),
            ("ask", &["task:SUBMITTED", "WORKING", "+form.json", "INPUT_REQUIRED"]),
            ("direct", &["message"]),
        ] {
            let params = json!({"message": text_message(text, text)});
            let events = site.read_v1_stream(way, "SendStreamingMessage", &params).await;
            assert_eq!(summarize(&events), expected, "{way:?}");
            assert!(events.is_sorted_by(|a, b| a.pos < b.pos));
        }
    }
}

/// Proves L5, L9.
#[tokio::test]
async fn an_answer_opens_the_next_stream() {
    for way in WAYS {
        let site = TestServer::new();
        let task = site.start_v1_task(way, "m-1", "ask").await;
        for (id, data, expected) in [
            ("m-2", json!({"amount": -1}), &["task:INPUT_REQUIRED", "INPUT_REQUIRED"][..]),
            ("m-3", json!({"amount": 1}), &["task:WORKING", "WORKING", "AUTH_REQUIRED"]),
            ("m-4", json!({"signature": "x"}), &["task:WORKING", "WORKING", "COMPLETED"]),
        ] {
            let params = json!({"message": data_answer(id, &task, &data)});
            let events = site.read_v1_stream(way, "SendStreamingMessage", &params).await;
            assert_eq!(summarize(&events), expected, "{way:?} {id}");
        }
    }
}

/// Two subscribers receive the same; one that leaves does not affect the other.
#[tokio::test]
async fn a_subscription_shows_the_task_first_and_stays_until_the_end() {
    for way in WAYS {
        let site = TestServer::new();
        let task = site.start_v1_task(way, "m-1", "ask").await;
        let id = json!({"id": task["id"]});
        let mut stays = site.open_v1_stream(way, "SubscribeToTask", &id, &[]).await;
        let mut leaves = site.open_v1_stream(way, "SubscribeToTask", &id, &[]).await;
        let mut events = vec![stays.next().await.unwrap()];
        assert_eq!(leaves.next().await.as_ref(), events.last());
        drop(leaves);
        assert_eq!(events[0].result["task"], task, "{way:?}");
        let params = json!({"message": data_answer("m-2", &task, &json!({"amount": 1}))});
        site.call_v1(way, "SendMessage", &params).await.unwrap();
        events.push(stays.next().await.unwrap());
        events.push(stays.next().await.unwrap());
        site.call_v1(way, "CancelTask", &id).await.unwrap();
        events.extend(read_to_end(&mut stays).await);
        let expected = ["task:INPUT_REQUIRED", "WORKING", "AUTH_REQUIRED", "CANCELED"];
        assert_eq!(summarize(&events), expected);
    }
}

/// Proves X5: there is nothing to subscribe to, and the refusal is plain JSON.
#[tokio::test]
async fn subscriptions_to_what_has_ended_or_never_was_are_refused() {
    for way in WAYS {
        let site = TestServer::new();
        let task = site.start_v1_task(way, "m-1", "hello").await;
        for (id, reason) in [
            (task["id"].clone(), "UNSUPPORTED_OPERATION"),
            (json!("run_00000000000000000000000000000000"), "TASK_NOT_FOUND"),
            (json!("no-such-task"), "TASK_NOT_FOUND"),
        ] {
            let refused = site.call_v1(way, "SubscribeToTask", &json!({ "id": id })).await;
            assert_eq!(refused.unwrap_err().reason(), reason, "{way:?} {id}");
        }
    }
}

/// A client that names a position may have missed the end, and receives it.
#[tokio::test]
async fn a_position_continues_without_gap_or_repetition_also_after_the_end() {
    for way in WAYS {
        let site = TestServer::new();
        let params = json!({"message": text_message("m-1", "hello")});
        let events = site.read_v1_stream(way, "SendStreamingMessage", &params).await;
        let id = json!({"id": events[0].result["task"]["id"]});
        for (index, event) in events.iter().enumerate() {
            let position = event.pos.to_string();
            let headers = [("last-event-id", position.as_str())];
            let mut stream = site.open_v1_stream(way, "SubscribeToTask", &id, &headers).await;
            assert_eq!(stream.headers["cache-control"], "no-store");
            assert_eq!(read_to_end(&mut stream).await, events[index + 1..], "{way:?}");
        }
        let headers = [super::bindings::V1, ("last-event-id", "x")];
        let at = "/a2a/agents/script";
        let refused = site.call_v1_at(way, at, "SubscribeToTask", &id, &headers).await.unwrap_err();
        assert_eq!(refused.error["message"], "the header Last-Event-ID is not a position");
    }
}

#[tokio::test]
async fn the_task_of_a_stream_has_as_much_history_as_is_asked_for() {
    for way in WAYS {
        let site = TestServer::new();
        let configuration = json!({"historyLength": 0});
        let params = json!({"message": text_message("m-1", "hello"), "configuration": configuration});
        let events = site.read_v1_stream(way, "SendStreamingMessage", &params).await;
        assert_eq!(events[0].result["task"].get("history"), None);
        assert_eq!(events[0].result["task"]["status"].get("message"), None::<&Value>);
    }
}

/// The specification's text says POST and its protobuf GET; both are served.
#[tokio::test]
async fn a_subscription_over_http_json_by_either_method() {
    let site = TestServer::new();
    let task = site.start_v1_task(TestBinding::Rest, "m-1", "ask").await;
    for method in ["GET", "POST"] {
        let path = format!("/a2a/agents/script/rest/tasks/{}:subscribe", task["id"].as_str().unwrap());
        let request = Request::builder().method(method).uri(path).body(Body::empty()).unwrap();
        let first = site.open_request(request).await.next().await.unwrap();
        assert_eq!(first.result["task"], task, "{method}");
    }
}

/// Proves X5: a position in the future does not wait forever for a task that has ended.
#[tokio::test]
async fn a_position_beyond_the_end_of_an_ended_task_ends_the_stream() {
    for way in WAYS {
        let site = TestServer::new();
        let task = site.start_v1_task(way, "m-1", "hello").await;
        let id = json!({"id": task["id"]});
        for beyond in ["4000000", "9223372036854775807", "18446744073709551615"] {
            let headers = [("last-event-id", beyond)];
            let mut stream = site.open_v1_stream(way, "SubscribeToTask", &id, &headers).await;
            assert_eq!(read_to_end(&mut stream).await, [], "{way:?} {beyond}");
        }
    }
}
