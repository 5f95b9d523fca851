//! Artifacts in pieces, failures, and rejects mid-way.

use serde_json::json;

use super::{
    scenarios::reviewed,
    support::{
        Server, artifact, chunk, data, ended, resumed, says, submitted, text, text_part, told,
        working,
    },
};

/// Proves L4: pieces are published as they come, and the task has them all.
#[tokio::test]
async fn an_echo_in_pieces_grows() {
    let server = Server::start();
    let agent = server.agent("echo");
    let message = data(json!({ "text": "abcdefg", "chunks": 3 }));
    let events = agent.stream(&message).await;
    let piece = |text: &str| artifact("echo.txt", "Echo", json!([text_part(text)]));
    let expected = [
        submitted(&message),
        working(),
        says(json!([text_part("Echoing 7 characters")])),
        chunk(piece("ab"), false, false),
        chunk(piece("cd"), true, false),
        chunk(piece("efg"), true, true),
        ended("completed", None),
    ];
    assert_eq!(told(&events), expected);
    let parts = json!([text_part("ab"), text_part("cd"), text_part("efg")]);
    let task = agent.get(&events[0].result).await;
    assert_eq!(task["artifacts"], json!([artifact("echo.txt", "Echo", parts)]));
    let whole = agent.stream(&text("abc")).await;
    assert_eq!(told(&whole)[3], chunk(piece("abc"), false, true));
}

/// Proves L10, L13: an error ends the task with its message.
#[tokio::test]
async fn a_failure_is_told_once_with_its_message() {
    let server = Server::start();
    let message = text("it broke: <b>\"ouch\"</b>");
    let events = server.agent("fails").stream(&message).await;
    let expected =
        [submitted(&message), working(), ended("failed", Some("it broke: <b>\"ouch\"</b>"))];
    assert_eq!(told(&events), expected);
}

/// Proves L7, L9: after a resume `working` comes first, also before a reject.
#[tokio::test]
async fn a_reject_mid_way_comes_after_working() {
    let server = Server::start();
    let agent = server.agent("review");
    let message = data(json!({ "subject": "tea" }));
    let task = agent.settle(&message).await.unwrap();
    let events = agent.stream(&data(json!({ "confirmed": false })).to(&task)).await;
    let tail = [resumed(false, 1), ended("rejected", Some("The reviewer did not confirm"))];
    assert_eq!(told(&events)[1..], tail);
    let mut expected = reviewed(&message, "tea");
    expected.extend(tail);
    assert_eq!(told(&agent.replay(&task).await), expected);
    let kept = agent.get(&task).await;
    assert_eq!(kept["artifacts"], task["artifacts"]);
    assert_eq!(
        kept["status"]["message"]["parts"],
        json!([text_part("The reviewer did not confirm")])
    );
}
