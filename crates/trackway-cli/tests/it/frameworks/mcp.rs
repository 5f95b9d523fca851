//! Frameworks that use MCP: they list the tools, start a workflow and lead it to its end.

use std::process::Command;

use serde_json::{Value, json};

use super::{FrameworkServer, node, python, run_client};

const TEA: &str = "id: tea\nname: Tea\ndescription: Makes tea.\nversion: \"1\"\nsteps:\n\
\x20 - { id: boil, prompt: Boil the water. }\n\
\x20 - { id: pour, prompt: Pour it. }\n";

/// Everything that a framework did: the tools, the list, two steps and the end, and a clean close.
async fn leads_a_workflow_to_its_end(mut command: Command) {
    let site = FrameworkServer::start(&[("workflows/tea.yaml", TEA)], &[]);
    command.arg(format!("{}/mcp", site.server.url)).arg("tea");
    let (lines, errors) = run_client(command).await;
    let ops: Vec<&str> = lines.iter().map(|line| line["op"].as_str().unwrap()).collect();
    assert_eq!(ops, ["tools", "list", "start", "advance", "advance", "closed"]);
    let tools = lines[0]["tools"].as_array().unwrap();
    for tool in ["workflow_list", "workflow_inspect", "workflow_start", "workflow_advance"] {
        assert!(tools.contains(&json!(tool)), "{tools:?}");
    }
    assert_eq!(lines[1]["workflows"], json!(["tea"]));
    let prompts: Vec<&Value> = lines[2..5].iter().map(|line| &line["step"]["pending"]["prompt"]).collect();
    assert_eq!(prompts, [&json!("Boil the water."), &json!("Pour it."), &Value::Null]);
    assert_eq!(lines[4]["step"]["isComplete"], true);
    assert_eq!(errors, "", "nothing to complain about, also when it closes");
}

/// Proves T1.
#[tokio::test]
async fn fastmcp_leads_a_workflow_to_its_end() {
    let client = python("TRACKWAY_TEST_FRAMEWORKS_MCP", "fastmcp_client.py");
    leads_a_workflow_to_its_end(client).await;
}

/// Proves T1.
#[tokio::test]
async fn openai_agents_lead_a_workflow_to_its_end() {
    let client = python("TRACKWAY_TEST_FRAMEWORKS_MCP", "openai_agents.py");
    leads_a_workflow_to_its_end(client).await;
}

/// Proves T1.
#[tokio::test]
async fn vercel_leads_a_workflow_to_its_end() {
    leads_a_workflow_to_its_end(node("TRACKWAY_TEST_VERCEL", "vercel.mjs")).await;
}
