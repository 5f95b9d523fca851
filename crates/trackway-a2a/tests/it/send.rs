//! Sending messages: starts, answers, and which run a message is for.

use serde_json::{Value, json};

use crate::test_server::{TestServer, data_answer, text_message};

fn mark(task: &Value) -> (bool, u64, bool) {
    let metadata = &task["metadata"];
    (
        metadata["concurrentRequest"].as_bool().unwrap(),
        metadata["requestOrder"].as_u64().unwrap(),
        metadata["primaryResume"].as_bool().unwrap(),
    )
}

/// Proves L8.
#[tokio::test]
async fn a_send_answers_at_the_commit_or_when_the_run_rests() {
    let site = TestServer::new();
    let task = site.call_rpc("message/send", json!({"message": text_message("m-1", "ask")})).await.unwrap();
    assert_eq!(task["status"]["state"], "submitted");
    assert_eq!(task["history"][0]["messageId"], "m-1");
    let task = site.start_task("m-2", "ask").await;
    assert_eq!(task["status"]["state"], "input-required");
    assert_eq!(task["artifacts"][0]["artifactId"], "form.json");
    let task = site.start_task("m-3", "hello").await;
    assert_eq!(task["status"]["state"], "completed");
    assert_eq!(task["metadata"]["output"], json!({"said": "hello"}));
    let states =
        ["reject", "fail"].map(|text| async { site.start_task(text, text).await["status"]["state"].clone() });
    let [rejected, failed] = states;
    assert_eq!((rejected.await, failed.await), (json!("rejected"), json!("failed")));
}

/// Issue 11: a blocking send to a task that does not rest is answered with the current task.
#[tokio::test]
async fn a_blocking_send_has_a_limit() {
    let limit = std::time::Duration::from_millis(20);
    let site =
        TestServer::with_options(trackway_a2a::Options { blocking_timeout: limit, ..Default::default() });
    let task = site.start_task("m-1", "wait").await;
    let state = task["status"]["state"].as_str().unwrap();
    assert!(["submitted", "working"].contains(&state), "{task}");
    let canceled = site.call_rpc("tasks/cancel", json!({"id": task["id"]})).await.unwrap();
    assert_eq!(canceled["status"]["state"], "canceled", "it went on meanwhile");
}

/// Proves L9, L14.
#[tokio::test]
async fn answers_carry_their_order_and_validation_errors() {
    let site = TestServer::new();
    let task = site.start_task("m-1", "ask").await;
    let send = |message: Value| {
        site.call_rpc("message/send", json!({"message": message, "configuration": {"blocking": true}}))
    };

    let invalid = send(data_answer("m-2", &task, &json!({"amount": 0}))).await.unwrap();
    assert_eq!(invalid["status"]["state"], "input-required");
    assert_eq!(mark(&invalid), (false, 1, false));
    let errors = &invalid["metadata"]["validationErrors"];
    assert_eq!(errors[0]["path"], "/amount");
    assert_eq!(&invalid["status"]["message"]["metadata"]["validationErrors"], errors);
    assert!(invalid["status"]["message"]["parts"][0]["metadata"]["schema"].is_object());

    let valid = send(data_answer("m-3", &task, &json!({"amount": 5}))).await.unwrap();
    assert_eq!(valid["status"]["state"], "auth-required");
    assert_eq!(mark(&valid), (false, 2, true));
    assert_eq!(valid["metadata"].get("validationErrors"), None);

    // The same message again: the same task, in its current state.
    let again = send(data_answer("m-3", &task, &json!({"amount": 5}))).await.unwrap();
    assert_eq!((again["status"]["state"].as_str(), mark(&again)), (Some("auth-required"), (false, 2, true)));

    // An answer to the question that was already answered, while another one is open.
    let mut late = data_answer("m-4", &task, &json!({"amount": 6}));
    late["metadata"] = json!({"questionId": task["status"]["message"]["metadata"]["questionId"]});
    let late = send(late).await.unwrap();
    assert_eq!((late["status"]["state"].as_str(), mark(&late)), (Some("auth-required"), (true, 3, false)));

    // Text fills the only required string.
    let mut signed = text_message("m-5", "signed");
    signed["taskId"] = task["id"].clone();
    let done = send(signed).await.unwrap();
    assert_eq!(done["status"]["state"], "completed");
    assert_eq!(mark(&done), (false, 1, true));
    assert_eq!(done["metadata"]["output"], json!({"invested": 5}));
    let got = site.call_rpc("tasks/get", json!({"id": task["id"], "historyLength": 0})).await.unwrap();
    assert_eq!(mark(&got), (false, 1, true));
    assert_eq!(got.get("history"), None);
}

#[tokio::test]
async fn a_context_alone_resumes_the_one_run_that_waits_in_it() {
    let site = TestServer::new();
    let with = |mut message: Value, context: &Value| {
        message["contextId"] = context.clone();
        json!({"message": message, "configuration": {"blocking": true}})
    };
    let data = |id: &str, data: Value| json!({"messageId": id, "role": "user", "parts": [{"kind": "data", "data": data}]});
    let task = site.start_task("m-1", "ask").await;
    let context = &task["contextId"];

    let resumed =
        site.call_rpc("message/send", with(data("m-2", json!({"amount": 5})), context)).await.unwrap();
    assert_eq!((&resumed["id"], resumed["status"]["state"].as_str()), (&task["id"], Some("auth-required")));

    // At another workflow's address nothing waits in this context: a new run joins it.
    let other = with(text_message("m-3", "ask"), context);
    let other = site.call_rpc_at("other", "message/send", other).await.unwrap();
    assert_ne!(other["id"], task["id"]);
    assert_eq!(&other["contextId"], context);

    // A repetition of the message that resumed does not answer the next question.
    let again =
        site.call_rpc("message/send", with(data("m-2", json!({"amount": 5})), context)).await.unwrap();
    assert_eq!((&again["id"], again["status"]["state"].as_str()), (&task["id"], Some("auth-required")));

    let done = site.call_rpc("message/send", with(text_message("m-4", "signed"), context)).await.unwrap();
    assert_eq!((&done["id"], done["status"]["state"].as_str()), (&task["id"], Some("completed")));

    // Nothing waits any more: a new run, in the same context.
    let second = site.call_rpc("message/send", with(text_message("m-5", "ask"), context)).await.unwrap();
    assert_ne!(second["id"], task["id"]);
    assert_eq!(&second["contextId"], context);
}

#[tokio::test]
async fn a_context_in_which_two_runs_wait_takes_a_message_as_a_new_start() {
    let site = TestServer::new();
    let first = site.start_task("m-1", "ask").await;
    let session = trackway_domain::SessionId::new(first["contextId"].as_str().unwrap()).unwrap();
    // Directly to the engine: the front door would resume the first run.
    let submit = trackway_runtime::SubmitRunRequest {
        session: Some(session),
        ..trackway_runtime::SubmitRunRequest::new(
            "script",
            json!({"text": "ask"}),
            trackway_domain::Caller::local_without_auth(),
        )
    };
    let second = site.runtime.submit_run(submit).await.unwrap().view;
    site.runtime.wait_until_run_idle(second).await.unwrap();
    let mut third = text_message("m-3", "ask");
    third["contextId"] = first["contextId"].clone();
    let third = json!({"message": third, "configuration": {"blocking": true}});
    let third = site.call_rpc("message/send", third).await.unwrap();
    assert_eq!(third["status"]["state"], "input-required");
    assert_ne!(third["id"], first["id"]);
    let now = site.call_rpc("tasks/get", json!({"id": first["id"]})).await.unwrap();
    assert_eq!(now, first, "the first was left alone");
    // What would answer one of them lacks what a start needs.
    let late = json!({"messageId": "m-4", "role": "user", "contextId": first["contextId"],
        "parts": [{"kind": "data", "data": {"amount": 1}}]});
    let (code, data) = site.call_rpc("message/send", json!({"message": late})).await.unwrap_err();
    assert_eq!((code, &data["errors"][0]["path"]), (-32602, &json!("/text")));
    assert!(data["schema"].is_object());
}

#[tokio::test]
async fn an_answer_without_a_task_to_answer_starts_nothing() {
    let site = TestServer::new();
    let task = site.start_task("m-1", "ask").await;
    site.call_rpc("tasks/cancel", json!({"id": task["id"]})).await.unwrap();
    let mut lost = text_message("m-2", "hello");
    lost["contextId"] = task["contextId"].clone();
    lost["metadata"] = json!({"questionId": task["status"]["message"]["metadata"]["questionId"]});
    let (code, data) = site.call_rpc("message/send", json!({"message": lost})).await.unwrap_err();
    assert_eq!(code, -32602);
    assert_eq!(data["path"], "/params/message/metadata/questionId");
}

/// Proves L10.
#[tokio::test]
async fn cancel_answers_with_the_task_already_canceled() {
    let site = TestServer::new();
    for (id, text) in [("m-1", "ask"), ("m-2", "wait")] {
        let task = site.call_rpc("message/send", json!({"message": text_message(id, text)})).await.unwrap();
        let canceled = site.call_rpc("tasks/cancel", json!({"id": task["id"]})).await.unwrap();
        assert_eq!(canceled["status"]["state"], "canceled");
        assert_eq!(canceled["id"], task["id"]);
    }
    let task = site.start_task("m-3", "ask").await;
    let canceled = site.call_rpc("tasks/cancel", json!({"id": task["id"]})).await.unwrap();
    assert_eq!(canceled["status"].get("message"), None);
    assert_eq!(canceled["artifacts"], task["artifacts"], "what was made is kept");
    assert_eq!(canceled["artifacts"][0]["artifactId"], "form.json");
}

#[tokio::test]
async fn a_message_to_a_run_that_asks_nothing_joins_the_history() {
    let site = TestServer::new();
    let task = site.call_rpc("message/send", json!({"message": text_message("m-1", "wait")})).await.unwrap();
    let mut note = text_message("m-2", "by the way");
    note["taskId"] = task["id"].clone();
    let noted = site.call_rpc("message/send", json!({"message": note})).await.unwrap();
    assert_eq!(noted["id"], task["id"]);
    assert_eq!(noted.get("metadata"), None);
    let said: Vec<_> = noted["history"].as_array().unwrap().iter().map(|m| &m["messageId"]).collect();
    assert!(said.contains(&&json!("m-2")), "{said:?}");
}

/// Proves L16.
#[tokio::test(flavor = "multi_thread")]
async fn one_of_many_answers_resumes_and_each_has_its_order() {
    let site = std::sync::Arc::new(TestServer::new());
    let task = site.start_task("m-0", "ask").await;
    let question = &task["status"]["message"]["metadata"]["questionId"];
    let sends = (1..=64).map(|n| {
        let site = site.clone();
        let mut message = data_answer(&format!("m-{n}"), &task, &json!({"amount": n}));
        message["metadata"] = json!({ "questionId": question });
        tokio::spawn(async move { site.call_rpc("message/send", json!({"message": message})).await.unwrap() })
    });
    let mut marks = Vec::new();
    for send in sends.collect::<Vec<_>>() {
        marks.push(mark(&send.await.unwrap()));
    }
    marks.sort_by_key(|mark| mark.1);
    let orders: Vec<_> = marks.iter().map(|mark| mark.1).collect();
    assert_eq!(orders, (1..=64).collect::<Vec<_>>());
    assert_eq!(marks.iter().filter(|mark| mark.2).count(), 1);
    assert!(marks[1..].iter().all(|mark| mark.0), "all but a lone first are concurrent");
}
