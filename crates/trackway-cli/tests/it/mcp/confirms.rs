//! Steps that require a person's agreement: asked through the client if it can, otherwise through the text.

use serde_json::{Value, json};

use super::{
    client::{ConfirmationReply, ProtocolRevision},
    mcp_workspace::{McpWorkspace, prompt_step, workflow_definition},
};

fn careful() -> Value {
    let mut first = prompt_step("first");
    first["requireConfirmation"] = true.into();
    workflow_definition("careful", json!([first, prompt_step("second")]))
}

/// Proves T9, X6: the text tells a client that cannot ask to do so, and its advance is the agreement.
#[test]
fn a_client_that_cannot_ask_is_told_to() {
    for era in [ProtocolRevision::Newest, ProtocolRevision::Legacy] {
        let shop = McpWorkspace::with_workflows(&[careful()]);
        let mut agent = shop.connect_as(era, ConfirmationReply::Unasked);
        let start = agent.start_run("careful", json!({}));
        assert_eq!(start.json["pending"]["requireConfirmation"], true);
        assert!(start.text.contains("user"), "the text says to ask: {start:#?}");
        let second = agent.advance(&start, json!({}));
        assert_eq!(second.step_id(), "second");
        assert!(second.asked.is_empty());
    }
}

/// Proves T9: errors are reported before a person is asked.
#[test]
fn nobody_is_asked_about_an_answer_that_is_wrong() {
    let mut definition = careful();
    definition["steps"][0]["outputContract"] = json!({ "contractRef": "wr.contracts.loop_control" });
    let shop = McpWorkspace::with_workflows(&[definition]);
    let mut agent = shop.connect_as(ProtocolRevision::Newest, ConfirmationReply::Accepts);
    let start = agent.start_run("careful", json!({}));
    let blocked = agent.advance(&start, json!({}));
    assert_eq!(blocked.asked.len(), 0, "{blocked:#?}");
    assert!(blocked.blocked_code().starts_with("output-"), "{blocked:#?}");
}
