//! The four patterns of the lifecycle document, on a server that keeps running and on one that is killed in
//! the middle.

use std::fs;

use serde_json::{Value, json};

use super::support::{
    CrashableServer, DrivenTask, all_methods_and_crashes, data_message, data_part, expected_artifact,
    expected_end, expected_question, expected_resumed, expected_status_message, expected_submitted_task,
    expected_working, normalize_events, text_part,
};

const FORM: &str = "Please provide your wallet address and amount to invest";

/// The first events of `invest`.
pub(super) fn invest_status() -> Value {
    expected_status_message(json!([
        text_part("Found 3 yield opportunities:"),
        data_part(json!({ "opportunities": [
            { "protocol": "Aave", "apy": 5.2 },
            { "protocol": "Compound", "apy": 4.8 },
            { "protocol": "Yearn", "apy": 6.1 },
        ] })),
    ]))
}

/// The events of `invest` before its first question.
pub(super) fn invest_preview_artifact(wallet: &str) -> Value {
    let filled = json!({ "walletAddress": wallet, "amount": 100 });
    let preview = json!({ "prefilledValues": filled, "suggestions": [wallet] });
    expected_artifact("investment-form-preview.json", "Investment Form", preview)
}

/// The first question of `invest`.
pub(super) fn invest_form_question(errors: Option<&Value>) -> Value {
    expected_question("input-required", FORM, &["walletAddress", "amount"], errors)
}

/// The second question of `invest`.
pub(super) fn invest_signature_question(amount: &str) -> Value {
    expected_question(
        "auth-required",
        &format!("Please sign the investment of {amount}"),
        &["signature"],
        None,
    )
}

/// Proves L2, L3, L8, L9, L10, L13, L18, X2.
#[tokio::test]
async fn pattern_1_a_text_becomes_a_whole_message() {
    for way in all_methods_and_crashes() {
        let message = data_message(json!({ "entries": 3, "delayMs": 300 }));
        let entry =
            |number: u32| expected_status_message(json!([text_part(&format!("Entry {number} of 3"))]));
        let first = |event: &Value| event["status"]["message"].is_object();
        let mut run = DrivenTask::start_until(way, "ledger", &message, first).await;
        run.crash_if_planned().await;
        let expected = [
            expected_submitted_task(&message),
            expected_working(),
            entry(1),
            entry(2),
            entry(3),
            expected_end("completed", None),
        ];
        assert_eq!(run.follow_to_end().await, expected);

        let ledger = fs::read_to_string(run.server.data_path().join("ledger.txt")).unwrap();
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
    for way in all_methods_and_crashes() {
        let message = data_message(json!({ "walletAddress": "0x123", "chainId": 42161 }));
        let mut run = DrivenTask::start(way, "invest", &message).await;
        run.crash_if_planned().await;
        let lone = json!({ "concurrentRequest": false, "requestOrder": 1, "primaryResume": true });
        let answer =
            run.answer_and_wait(data_message(json!({ "walletAddress": "0x456", "amount": 12.5 }))).await;
        assert_eq!(answer["metadata"], lone);
        run.crash_if_planned().await;
        let answer = run.answer_and_wait(data_message(json!({ "signature": "0xsigned" }))).await;
        assert_eq!(answer["metadata"], lone);
        run.crash_if_planned().await;

        let task = run.agent().get_task(&run.task).await;
        let artifacts = task["artifacts"].as_array().unwrap();
        assert_eq!(artifacts.len(), 2);
        let receipt = artifacts[1]["parts"][0]["data"].clone();
        assert_eq!(receipt["amount"], 12.5);
        let expected = [
            expected_submitted_task(&message),
            expected_working(),
            invest_status(),
            invest_preview_artifact("0x123"),
            invest_form_question(None),
            expected_resumed(false, 1),
            invest_signature_question("12.5"),
            expected_resumed(false, 1),
            expected_artifact("receipt.json", "Receipt", receipt),
            expected_end("completed", None),
        ];
        assert_eq!(run.follow_to_end().await, expected);
    }
}

/// Proves L7, L8, L13, X2.
#[tokio::test]
async fn pattern_4_an_early_reject_never_shows_working() {
    for way in all_methods_and_crashes() {
        let message = data_message(json!({ "walletAddress": "0x123", "chainId": 1 }));
        let mut run = DrivenTask::start(way, "invest", &message).await;
        run.crash_if_planned().await;
        let why = "Wallet address is not on Arbitrum network (chain ID 42161)";
        let expected = [expected_submitted_task(&message), expected_end("rejected", Some(why))];
        assert_eq!(run.follow_to_end().await, expected);
        assert_eq!(run.agent().get_task(&run.task).await["artifacts"], json!([]));
    }
}

/// Proves L8, L13, X2.
#[tokio::test]
async fn whatever_was_acknowledged_goes_on_after_a_kill_at_once() {
    let why = "Wallet address is not on Arbitrum network (chain ID 42161)";
    let mut server = CrashableServer::start();
    let reject = data_message(json!({ "walletAddress": "0x123", "chainId": 1 }));
    let fail = data_message(json!({ "message": "no luck" }));
    let rejected = server.agent("invest").send(&reject).await.unwrap();
    let failed = server.agent("fails").send(&fail).await.unwrap();
    server.crash();
    let whole = server.agent("invest").subscribe(&rejected, Some(0)).await.read_to_end().await;
    assert_eq!(
        normalize_events(&whole),
        [expected_submitted_task(&reject), expected_end("rejected", Some(why))]
    );
    let whole = server.agent("fails").subscribe(&failed, Some(0)).await.read_to_end().await;
    assert_eq!(
        normalize_events(&whole),
        [expected_submitted_task(&fail), expected_working(), expected_end("failed", Some("no luck"))]
    );
}
