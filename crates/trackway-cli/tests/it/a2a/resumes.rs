//! Answers: how each is judged, and what its sender is told.

use serde_json::{Value, json};

use super::{
    scenarios::reviewed,
    support::{Agent, Refused, Server, data, ended, resumed, text, told},
};

async fn invest(server: &Server) -> (Agent, Value) {
    let agent = server.agent("invest");
    let task = agent.settle(&data(json!({ "walletAddress": "0x1" }))).await.unwrap();
    (agent, task)
}

fn question(task: &Value) -> &Value {
    &task["status"]["message"]["metadata"]["questionId"]
}

/// The order, whether it was concurrent, whether it resumed.
fn place(task: &Value) -> (u64, bool, bool) {
    let metadata = &task["metadata"];
    let is = |field: &str| metadata[field].as_bool().unwrap_or_else(|| panic!("{field}: {task}"));
    (metadata["requestOrder"].as_u64().unwrap(), is("concurrentRequest"), is("primaryResume"))
}

/// Proves L9: the Task of the answer, and the task from then on.
#[tokio::test]
async fn a_lone_answer_is_the_first_and_resumes() {
    let server = Server::start();
    let (agent, task) = invest(&server).await;
    let answer =
        agent.send(&data(json!({ "walletAddress": "0x1", "amount": 1 })).to(&task)).await.unwrap();
    assert_eq!(answer["status"]["state"], "working");
    assert_eq!(place(&answer), (1, false, true));
    assert_eq!(answer["metadata"].get("validationErrors"), None);
    assert_eq!(place(&agent.get(&task).await), (1, false, true), "the task keeps it");
}

/// Proves L14: every mistake is told, each with its place and what was expected.
#[tokio::test]
async fn an_invalid_answer_is_told_everything_that_is_wrong() {
    let server = Server::start();
    let (agent, task) = invest(&server).await;
    let wrong = data(json!({ "amount": "much", "colour": "red" })).to(&task);
    let answer = agent.settle(&wrong).await.unwrap();
    assert_eq!(
        (answer["status"]["state"].as_str(), place(&answer)),
        (Some("input-required"), (1, false, false))
    );
    let errors = &answer["metadata"]["validationErrors"];
    let mut told: Vec<_> = errors
        .as_array()
        .unwrap()
        .iter()
        .map(|error| {
            assert!(error["message"].is_string() && error.get("expected").is_some());
            (error["path"].as_str().unwrap(), error["code"].as_str().unwrap(), error.get("got"))
        })
        .collect();
    told.sort_by_key(|error| error.0);
    let (red, much) = (json!("red"), json!("much"));
    assert_eq!(
        told,
        [
            ("/amount", "type", Some(&much)),
            ("/colour", "additionalProperties", Some(&red)),
            ("/walletAddress", "required", None),
        ]
    );
    let prompt = &answer["status"]["message"];
    assert_eq!(&prompt["metadata"]["validationErrors"], errors);
    assert_eq!(
        prompt["parts"][0]["metadata"]["schema"]["required"],
        json!(["walletAddress", "amount"])
    );
    assert_eq!(question(&answer), question(&task));
}

/// Proves L14: text fills a schema of one string, and no other.
#[tokio::test]
async fn text_answers_a_question_for_one_string_only() {
    let server = Server::start();
    let (agent, task) = invest(&server).await;
    let refused = agent.settle(&text("0x1, and 5 please").to(&task)).await.unwrap();
    assert_eq!(refused["status"]["state"], "input-required");
    let error = &refused["metadata"]["validationErrors"][0];
    assert_eq!((&error["path"], &error["expected"]), (&json!(""), &json!("object")));
    assert!(error["hint"].as_str().unwrap().contains("data"));
    agent.settle(&data(json!({ "walletAddress": "0x1", "amount": 5 })).to(&task)).await.unwrap();
    let done = agent.settle(&text("signed by hand").to(&task)).await.unwrap();
    assert_eq!(done["status"]["state"], "completed");
    let receipt = &done["artifacts"][1]["parts"][0]["data"];
    assert_eq!(receipt["signature"], "signed by hand");
}

/// Proves L16: an answer is judged by the question that it names, not by the one that is open.
#[tokio::test]
async fn a_named_question_that_was_answered_stays_answered() {
    let server = Server::start();
    let (agent, task) = invest(&server).await;
    let form =
        data(json!({ "walletAddress": "0x1", "amount": 1 })).to(&task).about(question(&task));
    let second = agent.settle(&form).await.unwrap();
    assert_eq!(second["status"]["state"], "auth-required");
    assert_ne!(question(&second), question(&task));

    // Also what would have been wrong with it, and also when it would fit the open question.
    for (late, errors) in
        [(form.anew(), 0), (data(json!({ "signature": "x" })).to(&task).about(question(&task)), 3)]
    {
        let before = agent.get(&task).await;
        let answer = agent.settle(&late).await.unwrap();
        assert_eq!(answer["status"], before["status"]);
        let (order, concurrent, primary) = place(&answer);
        assert!(order > 1 && concurrent && !primary);
        assert_eq!(answer["metadata"]["validationErrors"].as_array().map_or(0, Vec::len), errors);
    }
    let signed = data(json!({ "signature": "x" })).to(&task).about(question(&second));
    let done = agent.settle(&signed).await.unwrap();
    assert_eq!(
        (done["status"]["state"].as_str(), place(&done)),
        (Some("completed"), (1, false, true))
    );
}

/// Proves X5.
#[tokio::test]
async fn a_question_that_was_never_asked_is_refused_and_nothing_changes() {
    let server = Server::start();
    let (agent, task) = invest(&server).await;
    for unknown in [json!("qst_00000000000070008000000000000000"), json!("what?")] {
        let answer = data(json!({ "walletAddress": "0x1", "amount": 1 })).to(&task).about(&unknown);
        let refused = agent.send(&answer).await.unwrap_err();
        assert_eq!(
            (refused.code, &refused.data["path"]),
            (-32602, &json!("/params/message/metadata/questionId"))
        );
    }
    assert_eq!(agent.get(&task).await, task);
}

/// Proves L9, L16: while the task works on after its answer, whoever comes late is told so.
#[tokio::test]
async fn an_answer_to_a_working_task_is_told_its_place() {
    let server = Server::start();
    let agent = server.agent("review");
    let message = data(json!({ "subject": "tea", "delayMs": 1000 }));
    let task = agent.settle(&message).await.unwrap();
    let yes = data(json!({ "confirmed": true })).to(&task);
    agent.send(&yes).await.unwrap();
    let late = agent.stream(&yes.anew()).await;
    assert_eq!(place(&late[0].result), (2, true, false));
    assert_eq!(told(&late[1..]), [ended("completed", None)], "its stream goes on to the end");
    let mut expected = reviewed(&message, "tea");
    expected.extend([resumed(false, 1), ended("completed", None)]);
    assert_eq!(told(&agent.replay(&task).await), expected, "and nobody else sees anything of it");
}

/// Proves L9.
#[tokio::test]
async fn a_message_to_a_working_task_that_asks_nothing_joins_the_history() {
    let server = Server::start();
    let agent = server.agent("ledger");
    let start = data(json!({ "entries": 3, "delayMs": 150 }));
    let task = agent.send(&start).await.unwrap();
    let note = text("by the way").to(&task);
    let answer = agent.send(&note).await.unwrap();
    assert_eq!(answer.get("metadata"), None, "it is no answer to anything");
    let said = |task: &Value| -> Vec<Value> {
        let history = task["history"].as_array().unwrap();
        let by_user = history.iter().filter(|message| message["role"] == "user");
        by_user.map(|message| message["messageId"].clone()).collect()
    };
    let ids = [&start, &note].map(|message| message.json()["messageId"].clone());
    assert_eq!(said(&answer), ids);
    let events = agent.subscribe(&task, Some(0)).await.rest().await;
    assert_eq!(events.len(), 6, "watchers see nothing of it");
    assert_eq!(said(&agent.get(&task).await), ids);
}

/// Proves L12, X5: the protocol's own errors, and nothing changes.
#[tokio::test]
async fn finished_unknown_and_foreign_tasks_take_no_answer() {
    let server = Server::start();
    let (agent, task) = invest(&server).await;
    let done = agent.cancel(&task).await.unwrap();
    let (_, waiting) = invest(&server).await;
    let answer = data(json!({ "walletAddress": "0x1", "amount": 1 }));
    let unknown = json!({ "id": "run_00000000000070008000000000000000" });
    let elsewhere = json!("another-context");
    for (message, code) in [
        (answer.anew().to(&task), -32004),
        (answer.anew().to(&unknown), -32001),
        (answer.anew().to(&json!({ "id": "no such form" })), -32001),
        (answer.anew().to(&waiting).within(&elsewhere), -32602),
    ] {
        for method in ["message/send", "message/stream"] {
            let params = json!({ "message": message.json() });
            let Refused { code: got, message: why, .. } =
                agent.call(method, params).await.unwrap_err();
            assert_eq!(got, code, "{method}: {why}");
        }
    }
    // A run of another workflow does not exist at this address.
    let refused = server.agent("review").send(&answer.anew().to(&waiting)).await.unwrap_err();
    assert_eq!(refused.code, -32001);
    assert_eq!(agent.get(&task).await, done);
    assert_eq!(agent.get(&waiting).await, waiting);
    let own = answer.anew().to(&waiting).within(&waiting["contextId"]);
    assert_eq!(agent.send(&own).await.unwrap()["status"]["state"], "working");
}
