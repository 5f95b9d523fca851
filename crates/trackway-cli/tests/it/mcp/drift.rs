//! Runs are pinned to the definition that they began with.

use serde_json::json;

use super::mcp_workspace::{McpWorkspace, three_step_workflow};

/// Proves T3: a run continues with its definition when the file changes, and says so.
#[test]
fn a_changed_file_warns_and_changes_nothing() {
    let shop = McpWorkspace::with_workflows(&[three_step_workflow()]);
    let mut agent = shop.connect();
    let start = agent.start_run("three", json!({}));
    assert_eq!(start.json["warnings"], json!([]));
    let mut other = three_step_workflow();
    other["steps"][1]["prompt"] = "Something else.".into();
    shop.write_workflow(&other);
    let second = agent.advance(&start, json!({}));
    assert_eq!(second.prompt(), "Do second.");
    assert_eq!(second.warning_codes(), ["definition-changed"]);
    assert_eq!(second.json["workflowHash"], start.json["workflowHash"]);
    assert_eq!(agent.look(&second.state_token()).warning_codes(), ["definition-changed"]);
    assert_eq!(
        agent.advance(&start, json!({})).text_and_json(),
        second.text_and_json(),
        "a replay is the same"
    );
    let fresh = agent.start_run("three", json!({}));
    assert_ne!(fresh.json["workflowHash"], start.json["workflowHash"]);
    assert_eq!(agent.advance(&fresh, json!({})).prompt(), "Something else.");
    // Once the file is changed back, there is no warning; recorded answers stay unchanged.
    shop.write_workflow(&three_step_workflow());
    assert_eq!(agent.look(&second.state_token()).json["warnings"], json!([]));
    assert_eq!(agent.advance(&start, json!({})).text_and_json(), second.text_and_json());
}

/// Proves T3: a run continues when its file is missing or broken, also in a new process, and says so.
#[test]
fn a_missing_file_warns_and_changes_nothing() {
    let shop = McpWorkspace::with_workflows(&[three_step_workflow()]);
    let mut agent = shop.connect();
    let start = agent.start_run("three", json!({}));
    shop.remove_workflow("three");
    let second = agent.advance(&start, json!({}));
    assert_eq!((second.step_id(), second.warning_codes()), ("second", vec!["definition-missing"]));
    agent.close();
    let mut agent = shop.connect();
    let third = agent.advance(&second, json!({}));
    assert_eq!((third.step_id(), third.warning_codes()), ("third", vec!["definition-missing"]));
    shop.write_text("three.json", "{ \"id\": \"three\", broken");
    let refused = agent.start_run("three", json!({}));
    assert_eq!(refused.error_code(), "invalid-workflow", "{refused:#?}");
    assert_eq!(agent.inspect("three").error_code(), "invalid-workflow");
    let look = agent.look(&third.state_token());
    assert_eq!(look.warning_codes(), ["definition-changed"]);
    let reason = look.json["warnings"][0]["message"].as_str().unwrap();
    assert!(reason.contains("three.json, line 1"), "{reason}");
    shop.write_text("three.json", "{ broken");
    let end = agent.advance(&third, json!({}));
    assert!(end.is_complete() && !end.warning_codes().is_empty(), "{end:#?}");
    assert!(agent.start_run("three", json!({})).is_error);
}
