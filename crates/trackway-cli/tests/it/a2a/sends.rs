//! `message/send`: when it returns, and how much it shows.

use serde_json::{Value, json};

use super::support::{Server, artifact, data, text, text_part};

fn state(task: &Value) -> &str {
    task["status"]["state"].as_str().unwrap()
}

/// Proves L8: without `blocking` the answer is the task as it was committed.
#[tokio::test]
async fn a_send_returns_with_the_submitted_task() {
    let server = Server::start();
    let agent = server.agent("ledger");
    let message = data(json!({ "entries": 1, "delayMs": 200 }));
    for configuration in [json!({}), json!({ "blocking": false }), Value::Null] {
        let params = json!({ "message": message.anew().json(), "configuration": configuration });
        let task = agent.call("message/send", params).await.unwrap();
        assert_eq!(state(&task), "submitted");
        assert_eq!(task["artifacts"], json!([]));
    }
}

/// Proves L6, L10: a blocking send returns at a question, at the next question, and at the end.
#[tokio::test]
async fn a_blocking_send_returns_wherever_the_task_rests() {
    let server = Server::start();
    let agent = server.agent("invest");
    let task = agent.settle(&data(json!({ "walletAddress": "0x1" }))).await.unwrap();
    assert_eq!(state(&task), "input-required");
    let next = agent
        .settle(&data(json!({ "walletAddress": "0x1", "amount": 2 })).to(&task))
        .await
        .unwrap();
    assert_eq!(state(&next), "auth-required");
    let invalid = agent.settle(&data(json!({})).to(&task)).await.unwrap();
    assert_eq!(state(&invalid), "auth-required");
    let done = agent.settle(&text("signed").to(&task)).await.unwrap();
    assert_eq!(state(&done), "completed");
    assert_eq!(done, {
        let mut now = agent.get(&task).await;
        now["metadata"] = done["metadata"].clone();
        now
    });
    let failed = server.agent("fails").settle(&data(json!({ "message": "no" }))).await.unwrap();
    assert_eq!(state(&failed), "failed");
}

/// Proves L3, L9, L14: the history has everything that was said, in order, and nothing was wiped.
#[tokio::test]
async fn history_is_kept_and_bounded_as_asked() {
    let server = Server::start();
    let agent = server.agent("invest");
    let start = data(json!({ "walletAddress": "0x1" }));
    let task = agent.settle(&start).await.unwrap();
    let wrong = data(json!({ "amount": -1 })).to(&task);
    agent.settle(&wrong).await.unwrap();
    let right = data(json!({ "walletAddress": "0x1", "amount": 2 })).to(&task);
    agent.settle(&right).await.unwrap();
    let get = |length: Value| {
        agent.call("tasks/get", json!({ "id": task["id"], "historyLength": length }))
    };
    let whole = get(Value::Null).await.unwrap();
    let said: Vec<String> = whole["history"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| {
            let first = &message["parts"][0];
            format!(
                "{}: {}",
                message["role"].as_str().unwrap(),
                first["text"].as_str().unwrap_or("(data)")
            )
        })
        .collect();
    let form = "agent: Please provide your wallet address and amount to invest";
    let expected = [
        "user: (data)",
        "agent: Found 3 yield opportunities:",
        form,
        "user: (data)",
        form,
        "user: (data)",
    ];
    assert_eq!(said, expected, "the current question is the status' own message");
    assert_eq!(get(json!(0)).await.unwrap().get("history"), None);
    let newest = get(json!(2)).await.unwrap()["history"].clone();
    assert_eq!(newest.as_array().unwrap()[..], whole["history"].as_array().unwrap()[4..]);
    assert_eq!(get(json!(100)).await.unwrap()["history"], whole["history"]);
    assert_eq!(get(json!(-1)).await.unwrap_err().code, -32602);
    let params = json!({ "message": data(json!({ "text": "x" })).json(), "configuration": { "historyLength": 0, "blocking": true } });
    assert_eq!(
        server.agent("echo").call("message/send", params).await.unwrap().get("history"),
        None
    );
}

/// Proves X5: text stands for the one required value, and several texts for the lines of a string.
#[tokio::test]
async fn text_is_the_input_of_a_workflow_that_asks_for_one_value() {
    let server = Server::start();
    let echoed = |task: &Value| task["artifacts"].clone();
    let echo = server.agent("echo");
    let task = echo.settle(&text("hello")).await.unwrap();
    assert_eq!(echoed(&task), json!([artifact("echo.txt", "Echo", json!([text_part("hello")]))]));
    let two = text("").with("parts", json!([text_part("one"), text_part("two")]));
    assert_eq!(
        echoed(&echo.settle(&two).await.unwrap())[0]["parts"],
        json!([text_part("one\ntwo")])
    );
    // A data part goes before text, wherever it stands.
    let both = text("")
        .with("parts", json!([text_part("no"), { "kind": "data", "data": { "text": "yes" } }]));
    assert_eq!(echoed(&echo.settle(&both).await.unwrap())[0]["parts"], json!([text_part("yes")]));
    let invest = server.agent("invest").settle(&text("0x123")).await.unwrap();
    assert_eq!(invest["artifacts"][0]["parts"][0]["data"]["suggestions"], json!(["0x123"]));
    let ledger = server.agent("ledger").settle(&text("2")).await.unwrap();
    assert_eq!(ledger["status"]["state"], "completed");
    let refused = server.agent("ledger").settle(&text("five")).await.unwrap_err();
    assert_eq!((refused.code, &refused.data["errors"][0]["path"]), (-32602, &json!("")));
}

/// Proves X5: invalid input is refused before there is a task, with everything that is wrong.
#[tokio::test]
async fn invalid_input_is_refused_with_its_errors_and_the_schema() {
    let server = Server::start();
    let agent = server.agent("echo");
    let before = agent.stream(&text("before")).await;
    let wrong = data(json!({ "chunks": 0, "loud": true }));
    let mut answers = Vec::new();
    for method in ["message/send", "message/stream"] {
        // `call` takes nothing but one plain JSON answer.
        let refused = agent.call(method, json!({ "message": wrong.json() })).await.unwrap_err();
        assert_eq!(refused.code, -32602);
        let fields: Vec<_> = refused.data.as_object().unwrap().keys().collect();
        assert_eq!(fields, ["errors", "schema"]);
        assert_eq!(refused.data["schema"]["required"], json!(["text"]));
        let mut paths: Vec<_> = refused.data["errors"]
            .as_array()
            .unwrap()
            .iter()
            .map(|error| {
                let fields: Vec<_> =
                    error.as_object().unwrap().keys().map(String::as_str).collect();
                let known = ["path", "code", "message", "expected", "got", "hint"];
                assert!(fields.iter().all(|field| known.contains(field)), "{fields:?}");
                assert!(known[..4].iter().all(|field| fields.contains(field)), "{fields:?}");
                error["path"].as_str().unwrap().to_owned()
            })
            .collect();
        paths.sort();
        assert_eq!(paths, ["/chunks", "/loud", "/text"]);
        answers.push(refused);
    }
    assert_eq!(answers[0], answers[1], "the same on a stream");
    let after = agent.stream(&text("after")).await;
    assert_eq!(after[0].pos, before.last().unwrap().pos + 1, "nothing was written in between");
}
