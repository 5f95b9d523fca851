//! Imported runs: agents can look at them, and continue them once a user has adopted them.

use std::fs;

use serde_json::{Value, json};

use super::{
    answer::ToolAnswer,
    mcp_workspace::{McpWorkspace, three_step_workflow},
    raw_stdio_client::RawStdioClient,
};

fn advance(agent: &mut RawStdioClient, at: &ToolAnswer, notes: &str) -> ToolAnswer {
    let pair = json!({ "stateToken": at.state_token(), "ackToken": at.ack_token(), "notesMarkdown": notes });
    agent.call_tool("workflow_advance", pair)
}

/// What an agent that has only the session's name sees of its run.
fn found(agent: &mut RawStdioClient) -> ToolAnswer {
    let items = agent.call_tool("workflow_resume", json!({ "query": "s" })).json["items"].clone();
    agent.call_tool("workflow_advance", json!({ "stateToken": items[0]["stateToken"] }))
}

/// The session `s` of this workspace in another one, where tokens of the first are valid: as if the session
/// had been removed and imported again.
fn carried(shop: &McpWorkspace) -> McpWorkspace {
    let (other, file) = (shop.with_other_data_folder(), shop.path().join("bundle"));
    fs::create_dir(other.data()).unwrap();
    let keys = "token-keys.json";
    fs::copy(shop.data().join(keys), other.data().join(keys)).unwrap();
    let file = file.to_str().unwrap();
    shop.run_command(&["sessions", "export", "s", "--force", "--out", file]).expect(0);
    other.run_command(&["sessions", "import", file]).expect(0);
    other.run_command(&["sessions", "import", file]).expect(0);
    other
}

/// Issue 11, S-M5: an imported run that an agent drives cannot continue until a user adopts it, unfinished
/// or complete.
#[test]
fn an_imported_guided_run_waits_to_be_adopted() {
    for steps_done in [1, 3] {
        let shop = McpWorkspace::with_workflows(&[three_step_workflow()]);
        let mut agent = RawStdioClient::start_and_greet(&shop);
        let context = json!({ "sessionId": "s" });
        let start = agent.call_tool("workflow_start", json!({ "workflowId": "three", "context": context }));
        let mut at = start.clone();
        for _ in 0..steps_done {
            at = advance(&mut agent, &at, "done");
        }
        assert_eq!(at.is_complete(), steps_done == 3);
        drop(agent);

        let other = carried(&shop);
        let run = start.run_id();
        let args = ["--workflows", other.workflows(), "--checkpoints", "on"];
        let mut agent = RawStdioClient::start_and_greet_with(&other, &args);
        assert_eq!(other.run_json_command(&["runs", "show", run])["imported"], true);
        let look = found(&mut agent);
        assert_eq!(look.blocked_code(), "not-adopted", "{look:#?}");
        let notes = json!({ "stateToken": look.state_token(), "notesMarkdown": "n" });
        assert_eq!(agent.call_tool("workflow_checkpoint", notes.clone()).error_code(), "not-adopted");
        let refused = advance(&mut agent, &start, "another way");
        assert_eq!(refused.error_code(), "not-adopted");
        assert!(refused.text.contains(&format!("trackway runs adopt {run}")), "{refused:#?}");
        // Recorded answers are still repeated.
        assert_eq!(advance(&mut agent, &start, "done").step_id(), "second");
        let migrate = ["runs", "migrate", run, "--workflows", other.workflows()];
        let refused = other.run_command(&migrate).expect(1);
        assert!(refused.stderr.contains("docs/errors/not-adopted.md"), "{refused:?}");

        other.run_command(&["runs", "adopt", run]).expect(0);
        assert_eq!(other.run_json_command(&["runs", "show", run])["imported"], Value::Null);
        let look = found(&mut agent);
        assert_eq!(look.json["blocked"], Value::Null, "{look:#?}");
        assert!(!agent.call_tool("workflow_checkpoint", notes).is_error);
        let other_way = advance(&mut agent, &start, "another way");
        assert_eq!(other_way.json["branch"]["forked"], true, "{other_way:#?}");
    }
}
