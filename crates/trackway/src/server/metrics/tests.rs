//! Committed events as numbers.

use std::path::PathBuf;

use serde_json::{Value, json};
use trackway_agent::{McpConfig, MissingEnvVar};
use trackway_domain::{CallChain, Caller, Op, RunId, SessionId, WorkflowRef};
use trackway_ports::IdSource as _;
use trackway_runtime::SystemIds;

use super::*;

fn run() -> RunSubmission {
    RunSubmission {
        run: RunId::new(SystemIds.new_uuid()),
        session: SessionId::from_uuid(SystemIds.new_uuid()),
        workflow: WorkflowRef { name: "assistant".to_owned(), version: "1".to_owned() },
        caller: Caller::local_without_auth(),
        input: Value::Null,
        message: None,
        parent: None,
        deadline: None,
        guided: false,
        exit: None,
        forked_from: None,
        awaited: false,
        call_chain: CallChain::default(),
        linked_session: None,
    }
}

fn done(key: &str, value: Value) -> Event {
    let op = Op { kind: OpKind::Step, key: key.into(), occurrence: 0 };
    Event::StepDone { op, outcome: StepOutcome::Ok(value) }
}

/// Proves X7: tokens, cost, calls and ends are counted from what was committed.
#[test]
fn a_turn_is_counted() {
    let metrics = Metrics::new(Arc::default(), Weak::new());
    let answer = json!({
        "answer": {
            "text": "", "reasoning": "", "calls": [], "finish": "stop",
            "usage": { "input_tokens": 10, "output_tokens": 2 },
        },
        "label": "openai/small",
        "cost": 0.5,
        "ended_at": 1,
    });
    metrics.on_event_committed(&run(), &done("model", answer));
    metrics.on_event_committed(&run(), &done("call 0.0 time_now", json!({ "pieces": [] })));
    metrics.on_event_committed(&run(), &done("call 0.1 time_now", json!({ "pieces": [], "failed": true })));
    metrics.on_event_committed(&run(), &done("begin", json!({})));
    metrics.on_event_committed(&run(), &Event::Canceled);
    let text = metrics.render_prometheus_text();
    let by = "gen_ai_agent_name=\"assistant\",gen_ai_provider_name=\"openai\",gen_ai_request_model=\"small\"";
    for line in [
        format!("trackway_model_calls_total{{{by}}} 1"),
        format!("trackway_model_cost_total{{{by}}} 0.5"),
        format!("gen_ai_client_token_usage_sum{{{by},gen_ai_token_type=\"input\"}} 10"),
        format!("gen_ai_client_token_usage_sum{{{by},gen_ai_token_type=\"output\"}} 2"),
        "trackway_tool_calls_total{gen_ai_agent_name=\"assistant\",gen_ai_tool_name=\"time_now\",outcome=\"done\"} 1".to_owned(),
        "trackway_tool_calls_total{gen_ai_agent_name=\"assistant\",gen_ai_tool_name=\"time_now\",outcome=\"failed\"} 1".to_owned(),
        "trackway_runs_total{workflow=\"assistant\",outcome=\"canceled\"} 1".to_owned(),
    ] {
        assert!(text.lines().any(|known| known == line), "{line}\n{text}");
    }
}

/// Proves X7: the metrics show an MCP server that does not run, and no longer show a removed one.
#[tokio::test]
async fn servers_of_tools_are_shown_as_they_are() {
    let resolve = |name: &str| Err(MissingEnvVar { name: name.to_owned() });
    let broken = r#"{"mcpServers": {"files": {"command": "/nowhere/at/all"}}}"#;
    let servers =
        McpServers::start_servers(McpConfig::parse_mcp_config(broken, &resolve).unwrap(), PathBuf::new());
    servers.wait_until_started().await;
    let metrics = Metrics::new(Arc::default(), Arc::downgrade(&servers));
    let up = "trackway_mcp_server_up{server=\"files\"} 0";
    assert!(
        metrics.render_prometheus_text().lines().any(|line| line == up),
        "{}",
        metrics.render_prometheus_text()
    );
    servers.shutdown().await;
    assert!(!metrics.render_prometheus_text().contains("files"), "{}", metrics.render_prometheus_text());
}
