//! What a workflow's types cannot hold, from outside: refused with the reasons, in a small answer, and
//! nothing is made of it.

use serde_json::{Map, Value, json};

use super::support::{Agent, Refused, Server, data, soon, text};

/// An answer of ours: the reasons and the prompt, and nothing of what was sent.
const ANSWER_BYTES_MAX: usize = 48 * 1024;

async fn runs(server: &Server) -> usize {
    let request = server.http().get(server.url("/api/runs")).send();
    let list: Value = soon("the list", request).await.unwrap().json().await.unwrap();
    list["runs"].as_array().unwrap().len()
}

/// The places that are wrong, of a start that was refused.
fn places(refused: Result<Value, Refused>) -> (i64, Vec<String>) {
    let Refused { code, data, .. } = refused.unwrap_err();
    (code, paths(&data["errors"]))
}

fn paths(errors: &Value) -> Vec<String> {
    let errors = errors.as_array().unwrap();
    errors.iter().map(|error| error["path"].as_str().unwrap().to_owned()).collect()
}

/// Proves L14: Protobuf and JavaScript clients have no other numbers.
#[tokio::test]
async fn integral_numbers_are_integers_however_they_are_written() {
    let server = Server::start();
    for (name, input) in [
        ("ledger", json!({ "entries": 2.0 })),
        ("ledger", json!({ "entries": 2e0, "delayMs": 1.0 })),
        ("echo", json!({ "text": "a b", "chunks": 1.0 })),
    ] {
        let task = server.agent(name).settle(&data(input.clone())).await.unwrap();
        assert_eq!(task["status"]["state"], "completed", "{name} {input}: {task}");
    }
}

/// Proves L14: there is no task that could fail for it.
#[tokio::test]
async fn an_input_that_the_type_cannot_hold_makes_no_task() {
    let server = Server::start();
    for (name, input, path) in [
        ("ledger", json!({ "entries": 2.5 }), "/entries"),
        ("ledger", json!({ "entries": -1.0 }), "/entries"),
        ("ledger", json!({ "entries": 1, "delayMs": 1e30 }), "/delayMs"),
        (
            "invest",
            json!({ "walletAddress": "0x1", "chainId": 18_446_744_073_709_551_616.0 }),
            "/chainId",
        ),
    ] {
        let refused = server.agent(name).send(&data(input.clone())).await;
        assert_eq!(places(refused), (-32602, vec![path.to_owned()]), "{name} {input}");
    }
    assert_eq!(runs(&server).await, 0);
}

/// Proves L14: text-only clients reach every field.
#[tokio::test]
async fn the_json_of_an_object_sent_as_text_is_that_object() {
    let server = Server::start();
    let agent = server.agent("invest");
    let other_chain = text(r#"{"walletAddress":"0x1","chainId":1}"#);
    let rejected = agent.settle(&other_chain).await.unwrap();
    assert_eq!(rejected["status"]["state"], "rejected", "as with data: {rejected}");
    let task = agent.settle(&text("0x1")).await.unwrap();
    agent.settle(&text(r#"{"walletAddress":"0x1","amount":5}"#).to(&task)).await.unwrap();
    let done = agent.settle(&text(r#"{"signature":"me"}"#).to(&task)).await.unwrap();
    assert_eq!(done["status"]["state"], "completed");
    assert_eq!(done["artifacts"][1]["parts"][0]["data"]["signature"], "me");
}

/// Proves L14: what is wrong is also in the text, which is all that many clients show.
#[tokio::test]
async fn a_refused_answer_says_the_reasons_in_words() {
    let server = Server::start();
    let agent = server.agent("invest");
    let task = agent.settle(&data(json!({ "walletAddress": "0x1" }))).await.unwrap();
    let prompt = |task: &Value| task["status"]["message"]["parts"].as_array().unwrap().clone();
    let asked = prompt(&task);
    let wrong = data(json!({ "walletAddress": "0x1", "amount": -5 })).to(&task);
    let refused = prompt(&agent.settle(&wrong).await.unwrap());
    let (again, reasons) = refused.split_at(asked.len());
    assert_eq!(again, asked, "the prompt comes first");
    let [reason] = reasons else { panic!("{reasons:?}") };
    assert_eq!(
        reason["text"],
        "The answer was not accepted:\n- /amount: -5 is less than or equal to the minimum of 0"
    );
}

/// An object with that many fields that nobody knows.
fn strange(fields: usize) -> Map<String, Value> {
    (0..fields).map(|number| (format!("k{number}"), json!(number))).collect()
}

async fn small(agent: &Agent, method: &str, params: Value) -> Result<Value, Refused> {
    let answer = agent.call(method, params).await;
    let bytes = match &answer {
        Ok(result) => result.to_string().len(),
        Err(refused) => refused.message.len() + refused.data.to_string().len(),
    };
    assert!(bytes <= ANSWER_BYTES_MAX, "{method}: {bytes} bytes");
    answer
}

/// Proves L14, X5: an answer of 20,000 wrong fields is refused in a few kilobytes, here and for everybody
/// who asks for the task later.
#[tokio::test]
async fn a_large_wrong_answer_gets_a_small_reply() {
    let mut server = Server::start();
    let task =
        server.agent("invest").settle(&data(json!({ "walletAddress": "0x1" }))).await.unwrap();
    let mut long = strange(100);
    long.insert("amount".to_owned(), json!("x".repeat(1_000_000)));
    for input in [strange(20_000), long] {
        let agent = server.agent("invest");
        let configuration = json!({ "blocking": true, "historyLength": 0 });
        let message = data(Value::Object(input.clone())).to(&task);
        let params = json!({ "message": message.json(), "configuration": configuration });
        let refused = small(&agent, "message/send", params).await.unwrap();
        assert_eq!(refused["status"]["state"], "input-required");
        let errors = refused["metadata"]["validationErrors"].as_array().unwrap();
        assert!(!errors.is_empty() && errors.len() <= 32, "{}", errors.len());
        let start = json!({ "message": data(Value::Object(input)).json() });
        let refused = small(&agent, "message/send", start).await.unwrap_err();
        assert!(refused.data["errors"].as_array().unwrap().len() <= 32);
        server.crash();
        let params = json!({ "id": task["id"], "historyLength": 0 });
        small(&server.agent("invest"), "tasks/get", params).await.unwrap();
    }
    let agent = server.agent("invest");
    let form = data(json!({ "walletAddress": "0x1", "amount": 1.0 })).to(&task);
    assert_eq!(agent.settle(&form).await.unwrap()["status"]["state"], "auth-required");
}
