//! The four patterns of the lifecycle document, on a server that lives and on one that is killed in
//! the middle.

use std::fs;

use serde_json::{Value, json};

use super::support::{
    Run, Server, asked, data, data_part, ended, every_way, resumed, says, submitted, text_part,
    told, whole_artifact, working,
};

const FORM: &str = "Please provide your wallet address and amount to invest";

/// What `invest` says first.
pub(super) fn opportunities() -> Value {
    says(json!([
        text_part("Found 3 yield opportunities:"),
        data_part(json!({ "opportunities": [
            { "protocol": "Aave", "apy": 5.2 },
            { "protocol": "Compound", "apy": 4.8 },
            { "protocol": "Yearn", "apy": 6.1 },
        ] })),
    ]))
}

/// What `invest` shows before its first question.
pub(super) fn preview(wallet: &str) -> Value {
    let filled = json!({ "walletAddress": wallet, "amount": 100 });
    let preview = json!({ "prefilledValues": filled, "suggestions": [wallet] });
    whole_artifact("investment-form-preview.json", "Investment Form", preview)
}

/// The first question of `invest`.
pub(super) fn form(errors: Option<&Value>) -> Value {
    asked("input-required", FORM, &["walletAddress", "amount"], errors)
}

/// The second question of `invest`.
pub(super) fn signature(amount: &str) -> Value {
    asked("auth-required", &format!("Please sign the investment of {amount}"), &["signature"], None)
}

/// Proves L2, L3, L8, L9, L10, L13, L18, X2.
#[tokio::test]
async fn pattern_1_a_text_becomes_a_whole_message() {
    for way in every_way() {
        let message = data(json!({ "entries": 3, "delayMs": 300 }));
        let entry = |number: u32| says(json!([text_part(&format!("Entry {number} of 3"))]));
        let first = |event: &Value| event["status"]["message"].is_object();
        let mut run = Run::start_until(way, "ledger", &message, first).await;
        run.crash().await;
        let expected = [
            submitted(&message),
            working(),
            entry(1),
            entry(2),
            entry(3),
            ended("completed", None),
        ];
        assert_eq!(run.finish().await, expected);

        let ledger = fs::read_to_string(run.server.data().join("ledger.txt")).unwrap();
        let mut lines: Vec<&str> = ledger.lines().collect();
        // A step that was under way at the kill may have its line twice, the same both times.
        lines.dedup();
        let lines: Vec<Vec<&str>> = lines.iter().map(|line| line.split(' ').collect()).collect();
        let numbers: Vec<_> = lines.iter().map(|line| (line[0], line[1], line.len())).collect();
        let id = run.task["id"].as_str().unwrap();
        assert_eq!(numbers, [(id, "1", 3), (id, "2", 3), (id, "3", 3)]);
    }
}

/// Proves L2, L3, L6, L9, L10, L13, L18, X2.
#[tokio::test]
async fn patterns_2_and_3_rich_updates_and_questions_with_their_preview_first() {
    for way in every_way() {
        let message = data(json!({ "walletAddress": "0x123", "chainId": 42161 }));
        let mut run = Run::start(way, "invest", &message).await;
        run.crash().await;
        let lone = json!({ "concurrentRequest": false, "requestOrder": 1, "primaryResume": true });
        let answer = run.answer(data(json!({ "walletAddress": "0x456", "amount": 12.5 }))).await;
        assert_eq!(answer["metadata"], lone);
        run.crash().await;
        let answer = run.answer(data(json!({ "signature": "0xsigned" }))).await;
        assert_eq!(answer["metadata"], lone);
        run.crash().await;

        let task = run.agent().get(&run.task).await;
        let artifacts = task["artifacts"].as_array().unwrap();
        assert_eq!(artifacts.len(), 2);
        let receipt = artifacts[1]["parts"][0]["data"].clone();
        assert_eq!(receipt["amount"], 12.5);
        let expected = [
            submitted(&message),
            working(),
            opportunities(),
            preview("0x123"),
            form(None),
            resumed(false, 1),
            signature("12.5"),
            resumed(false, 1),
            whole_artifact("receipt.json", "Receipt", receipt),
            ended("completed", None),
        ];
        assert_eq!(run.finish().await, expected);
    }
}

/// Proves L7, L8, L13, X2.
#[tokio::test]
async fn pattern_4_an_early_reject_never_shows_working() {
    for way in every_way() {
        let message = data(json!({ "walletAddress": "0x123", "chainId": 1 }));
        let mut run = Run::start(way, "invest", &message).await;
        run.crash().await;
        let why = "Wallet address is not on Arbitrum network (chain ID 42161)";
        let expected = [submitted(&message), ended("rejected", Some(why))];
        assert_eq!(run.finish().await, expected);
        assert_eq!(run.agent().get(&run.task).await["artifacts"], json!([]));
    }
}

/// Proves L8, L13, X2.
#[tokio::test]
async fn whatever_was_acknowledged_goes_on_after_a_kill_at_once() {
    let why = "Wallet address is not on Arbitrum network (chain ID 42161)";
    let mut server = Server::start();
    let reject = data(json!({ "walletAddress": "0x123", "chainId": 1 }));
    let fail = data(json!({ "message": "no luck" }));
    let rejected = server.agent("invest").send(&reject).await.unwrap();
    let failed = server.agent("fails").send(&fail).await.unwrap();
    server.crash();
    let whole = server.agent("invest").subscribe(&rejected, Some(0)).await.rest().await;
    assert_eq!(told(&whole), [submitted(&reject), ended("rejected", Some(why))]);
    let whole = server.agent("fails").subscribe(&failed, Some(0)).await.rest().await;
    assert_eq!(told(&whole), [submitted(&fail), working(), ended("failed", Some("no luck"))]);
}
