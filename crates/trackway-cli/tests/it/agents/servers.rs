//! Tools of an MCP server that `serve` starts.

use std::fs;

use serde_json::json;
use trackway_testkit::ScriptedModelServer;

use super::agent_workspace::{AgentWorkspace, joined_text_response, last_state, serve_workspace};
use crate::a2a::support::text_message;

const STEPS: &str = "id: steps\nname: Steps\ndescription: One step.\nversion: \"1\"\n\
steps:\n  - { id: one, prompt: Do one. }\n";

/// Proves D7: its variables reach it, it is started once for
/// all agents, and the model calls its tools by their names.
#[tokio::test]
async fn a_server_of_the_workspace_is_started_once_and_called() {
    let start = "echo \"$COLOUR$OPENAI_API_KEY\" >> starts.txt; \
                 exec \"$BINARY\" mcp --workflows steps";
    let config = json!({ "mcpServers": { "shop": {
        "command": "sh", "args": ["-c", start],
        "env": {
            "COLOUR": "${env:SHADE}",
            "BINARY": env!("CARGO_BIN_EXE_trackway"),
            "TRACKWAY_DATA": "other-data",
        },
    } } });
    let agent = |name: &str| format!("---\nname: {name}\ntools: [\"shop__*\"]\n---\n");
    let files = [
        ("mcp.json", config.to_string()),
        ("agents/one.md", agent("one")),
        ("agents/two.md", agent("two")),
        ("steps/steps.yaml", STEPS.to_owned()),
    ];
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, &**text)).collect();
    let model = ScriptedModelServer::start().await;
    let url = model.base_url();
    let env = [
        ("OPENAI_BASE_URL", url.as_str()),
        ("OPENAI_API_KEY", "secret"),
        ("TRACKWAY_MODEL", "openai/small"),
        ("SHADE", "blue"),
    ];
    let desk = AgentWorkspace { server: serve_workspace(&files, &env), model };
    for (number, name) in ["one", "two"].into_iter().enumerate() {
        let input = json!({ "workflowId": "steps" });
        desk.queue_tool_calls(&[("c1", "shop__workflow_start", input)]);
        desk.queue_text("Started.");
        let events = desk.server.agent(name).stream_message(&text_message("Start.")).await;
        assert_eq!(
            (last_state(&events).as_str(), joined_text_response(&events).as_str()),
            ("completed", "Started.")
        );
        let told = desk.tool_result(2 * number + 1, "c1");
        assert_eq!(told["pending"]["stepId"], "one", "{told}");
    }
    let home = desk.server.workspace_path();
    let starts = fs::read_to_string(home.join("starts.txt")).unwrap();
    assert_eq!(starts, "blue\n", "once, with its variables and no others");
    assert!(home.join("other-data").is_dir(), "it worked where its variables say");
}
