//! Tools of an MCP server that `serve` starts.

use std::fs;

use serde_json::json;
use trackway_testkit::ModelServer;

use super::desk::{Desk, serve, spoken, state};
use crate::a2a::support::text;

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
    let model = ModelServer::start().await;
    let url = model.base_url();
    let env = [
        ("OPENAI_BASE_URL", url.as_str()),
        ("OPENAI_API_KEY", "secret"),
        ("TRACKWAY_MODEL", "openai/small"),
        ("SHADE", "blue"),
    ];
    let desk = Desk { server: serve(&files, &env), model };
    for (number, name) in ["one", "two"].into_iter().enumerate() {
        let input = json!({ "workflowId": "steps" });
        desk.calls(&[("c1", "shop__workflow_start", input)]);
        desk.says("Started.");
        let events = desk.server.agent(name).stream(&text("Start.")).await;
        assert_eq!((state(&events).as_str(), spoken(&events).as_str()), ("completed", "Started."));
        let told = desk.result(2 * number + 1, "c1");
        assert_eq!(told["pending"]["stepId"], "one", "{told}");
    }
    let home = desk.server.home();
    let starts = fs::read_to_string(home.join("starts.txt")).unwrap();
    assert_eq!(starts, "blue\n", "once, with its variables and no others");
    assert!(home.join("other-data").is_dir(), "it worked where its variables say");
}
