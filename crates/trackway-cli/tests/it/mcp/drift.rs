//! Runs are pinned to the definition that they began with.

use serde_json::json;

use super::shop::{Shop, three};

/// Proves T3: a run goes on with what it began with when the file changes,
/// and says so.
#[test]
fn a_changed_file_warns_and_changes_nothing() {
    let shop = Shop::with(&[three()]);
    let mut agent = shop.agent();
    let start = agent.start_run("three", json!({}));
    assert_eq!(start.json["warnings"], json!([]));
    let mut other = three();
    other["steps"][1]["prompt"] = "Something else.".into();
    shop.write(&other);
    let second = agent.advance(&start, json!({}));
    assert_eq!(second.prompt(), "Do second.");
    assert_eq!(second.warnings(), ["definition-changed"]);
    assert_eq!(second.json["workflowHash"], start.json["workflowHash"]);
    assert_eq!(agent.look(&second.state()).warnings(), ["definition-changed"]);
    assert_eq!(agent.advance(&start, json!({})).bytes(), second.bytes(), "a replay is the same");
    let fresh = agent.start_run("three", json!({}));
    assert_ne!(fresh.json["workflowHash"], start.json["workflowHash"]);
    assert_eq!(agent.advance(&fresh, json!({})).prompt(), "Something else.");
    // Changed back, there is nothing to warn of; what was told stays as it was told.
    shop.write(&three());
    assert_eq!(agent.look(&second.state()).json["warnings"], json!([]));
    assert_eq!(agent.advance(&start, json!({})).bytes(), second.bytes());
}

/// Proves T3: a run goes on when its file is gone or broken, also in a new process, and says so.
#[test]
fn a_missing_file_warns_and_changes_nothing() {
    let shop = Shop::with(&[three()]);
    let mut agent = shop.agent();
    let start = agent.start_run("three", json!({}));
    shop.remove("three");
    let second = agent.advance(&start, json!({}));
    assert_eq!((second.step(), second.warnings()), ("second", vec!["definition-missing"]));
    agent.close();
    let mut agent = shop.agent();
    let third = agent.advance(&second, json!({}));
    assert_eq!((third.step(), third.warnings()), ("third", vec!["definition-missing"]));
    shop.write_text("three.json", "{ \"id\": \"three\", broken");
    let refused = agent.start_run("three", json!({}));
    assert_eq!(refused.error(), "invalid-workflow", "{refused:#?}");
    assert_eq!(agent.inspect("three").error(), "invalid-workflow");
    let look = agent.look(&third.state());
    assert_eq!(look.warnings(), ["definition-changed"]);
    let reason = look.json["warnings"][0]["message"].as_str().unwrap();
    assert!(reason.contains("three.json, line 1"), "{reason}");
    shop.write_text("three.json", "{ broken");
    let end = agent.advance(&third, json!({}));
    assert!(end.is_complete() && !end.warnings().is_empty(), "{end:#?}");
    assert!(agent.start_run("three", json!({})).is_error);
}
