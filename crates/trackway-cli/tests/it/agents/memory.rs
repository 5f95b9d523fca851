//! What the model is told, as it arrives at its server.

use insta::assert_json_snapshot;
use serde_json::{Value, json};
use trackway_testkit::Names;

use super::desk::{Desk, state};
use crate::a2a::support::text;

const AGENT: &str = "---\nname: helper\nworkflows: [echo]\ntools: [ledger_enter]\n---\nYou help.\n";

/// A request, without made ids.
fn request(desk: &Desk, number: usize) -> Value {
    Names::new().plain(&desk.model.asked()[number].body)
}

/// Proves L2: all parts of a message reach the model.
#[tokio::test]
async fn every_part_reaches_the_model() {
    let desk = Desk::open(&[("agents/helper.md", AGENT)]).await;
    desk.says("Many things.");
    let file = |name: &str, kind: &str, bytes: &str| json!({ "kind": "file", "file": { "name": name, "mimeType": kind, "bytes": bytes } });
    let parts = json!([
        { "kind": "text", "text": "First." },
        { "kind": "text", "text": "Second." },
        { "kind": "data", "data": { "amount": 5 } },
        file("notes.txt", "text/plain", "SGVsbG8="),
        file("dot.png", "image/png", "iVBORw0="),
    ]);
    let events = desk.turn(&text("").with("parts", parts)).await;
    assert_eq!(state(&events), "completed");
    assert_json_snapshot!("every_part", request(&desk, 0)["messages"]);
}

/// Proves D7: the second turn is told the calls and results of the first.
#[tokio::test]
async fn the_second_turn_knows_the_calls_of_the_first() {
    let desk = Desk::open(&[("agents/helper.md", AGENT)]).await;
    desk.calls(&[
        ("c1", "dispatch_workflow_echo", json!({ "text": "one" })),
        ("c2", "ledger_enter", json!({ "text": "wrong" })),
    ]);
    desk.says("It worked.");
    desk.says("You are welcome.");
    let first = desk.turn(&text("Please.")).await;
    // Its end is told to the next turn.
    let echo = desk.server.agent("echo").subscribe(&super::desk::child(&first, 0), Some(0)).await;
    echo.rest().await;
    desk.turn(&text("Thanks.").within(&first[0].result["contextId"])).await;
    assert_json_snapshot!("second_turn", request(&desk, 2));
}
