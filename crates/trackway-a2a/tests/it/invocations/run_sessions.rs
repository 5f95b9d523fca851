//! `sessionBehavior: RUN_BASED`: a task with a context of its own. And how deep calls may be.

use serde_json::{Value, json};

use super::test_desk::{TestDesk, uuid};

fn message(id: &str, behavior: Option<&str>, data: &Value) -> Value {
    let mut message = json!({ "kind": "message", "messageId": id, "role": "user", "contextId": "talk",
        "parts": [{ "kind": "data", "data": data }] });
    if let Some(behavior) = behavior {
        message["metadata"] = json!({ "sessionBehavior": behavior });
    }
    message
}

/// Proves I7: each call has its own context, which names the one that the message was sent in.
#[tokio::test]
async fn each_run_based_call_has_a_context_of_its_own() {
    let desk = TestDesk::open().await;
    let input = || json!({ "name": "Ann" });
    let send = |message| desk.send("acme/ann", "intake", message);
    let first = send(message("m-1", Some("RUN_BASED"), &input())).await.unwrap();
    let second = send(message("m-2", Some("RUN_BASED"), &input())).await.unwrap();
    let shared = send(message("m-3", Some("PERSISTENT"), &input())).await.unwrap();
    let plain = send(message("m-4", None, &input())).await.unwrap();
    assert_eq!((&shared["contextId"], &plain["contextId"]), (&json!("talk"), &json!("talk")));
    assert_eq!(plain["metadata"]["linkedContextId"], Value::Null);
    assert_ne!(first["contextId"], second["contextId"]);
    for task in [&first, &second] {
        assert_ne!(task["contextId"], "talk");
        assert_eq!(task["metadata"]["linkedContextId"], "talk");
        assert_eq!(task["history"][0]["contextId"], task["contextId"]);
    }
    let again = send(message("m-1", Some("RUN_BASED"), &input())).await.unwrap();
    assert_eq!((&again["id"], &again["contextId"]), (&first["id"], &first["contextId"]), "a repetition");
}

/// Proves I7: a task that waits in the context of the caller is not answered by a call of its own.
#[tokio::test]
async fn a_run_based_call_answers_no_question() {
    let desk = TestDesk::open().await;
    let ask = |id: &str, behavior| message(id, behavior, &json!({ "text": "ask" }));
    let waiting = desk.send("acme/ann", "script", ask("m-1", None)).await.unwrap();
    assert_eq!(waiting["status"]["state"], "input-required");
    let own = desk.send("acme/ann", "script", ask(&uuid(), Some("RUN_BASED"))).await.unwrap();
    assert_ne!((&own["id"], &own["contextId"]), (&waiting["id"], &waiting["contextId"]));
    // Its question is answered in its own context.
    let mut answer = message("m-3", None, &json!({ "amount": 5 }));
    answer["contextId"] = own["contextId"].clone();
    let answered = desk.send("acme/ann", "script", answer).await.unwrap();
    assert_eq!((&answered["id"], &answered["status"]["state"]), (&own["id"], &json!("auth-required")));
}

/// Proves I7: agents that call each other in a ring end at the limit, with an error that says so.
#[tokio::test]
async fn a_chain_of_calls_has_a_limit() {
    let desk = TestDesk::open().await;
    let send = |id: &'static str, depth: &'static str| {
        desk.send_at_depth("acme/ann", "intake", message(id, None, &json!({ "name": "Ann" })), depth)
    };
    let task = send("m-1", "8").await.unwrap();
    assert_eq!(task["status"]["state"], "completed");
    let (code, data, text) = send("m-2", "9").await.unwrap_err();
    assert_eq!((code, &data["code"]), (-32004, &json!("invalid-request")));
    assert!(text.contains("called each other 9 times") && text.contains("the limit is 8"), "{text}");
    let run = task["id"].as_str().unwrap().parse().unwrap();
    let address = trackway_runtime::RunAddress {
        run,
        access: trackway_domain::Access::own_only(trackway_domain::Caller::new("acme", "ann")),
        workflow: None,
    };
    let view = desk.server.runtime.current_run_view(&address).await.unwrap();
    assert_eq!(view.submission.call_chain.depth, 8, "children inherit it");
}
