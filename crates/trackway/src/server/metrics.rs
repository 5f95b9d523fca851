//! Numbers for Prometheus at `/metrics`: counts of this process since its start.
//!
//! Only committed events are counted, so a number is never ahead of the log. Names follow
//! OpenTelemetry's GenAI conventions if there is one, in the spelling of Prometheus. The full list:
//!
//! | name | what |
//! | --- | --- |
//! | `gen_ai_client_token_usage` | tokens of a model call, by `gen_ai_token_type` |
//! | `trackway_model_calls_total` | model calls that were answered |
//! | `trackway_model_cost_total` | what they cost, in the currency of the prices |
//! | `trackway_turns_total` | turns of agents that have ended, by `outcome` |
//! | `trackway_tool_calls_total` | calls of tools and dispatches, by `outcome` |
//! | `trackway_runs_total` | runs that have ended, agents' turns among them, by `outcome` |
//! | `trackway_mcp_server_up` | 1 for each MCP server that is ready, else 0 |
//! | `trackway_mcp_server_starts` | how often each was started since it is in the configuration |

mod metric_table;

use std::sync::{Arc, Mutex, PoisonError, Weak};

use axum::{
    Extension, Router,
    http::header,
    response::{IntoResponse, Response},
    routing::get,
};
use trackway_agent::{McpServerPhase, McpServers, ToolCallPosition, ToolCallRecord, model_usage_of_event};
use trackway_domain::{Event, OpKind, RunSubmission, StateName, StepOutcome};
use trackway_http::{Authenticated, HttpError, OptionalAuthenticator};
use trackway_runtime::{CommitObserver, ProgramKind, ProgramRegistry};

use metric_table::{MetricFamily, MetricTable};

const TOKENS: MetricFamily = MetricFamily::histogram("gen_ai_client_token_usage", "Tokens of a model call.");
const MODEL_CALLS: MetricFamily =
    MetricFamily::counter("trackway_model_calls_total", "Model calls that were answered.");
const COST: MetricFamily = MetricFamily::counter(
    "trackway_model_cost_total",
    "What model calls cost, in the currency of the prices.",
);
const TURNS: MetricFamily = MetricFamily::counter("trackway_turns_total", "Turns of agents that have ended.");
const TOOL_CALLS: MetricFamily =
    MetricFamily::counter("trackway_tool_calls_total", "Calls of tools, and dispatches.");
const RUNS: MetricFamily = MetricFamily::counter("trackway_runs_total", "Runs that have ended.");

const SERVER_UP: MetricFamily =
    MetricFamily::gauge("trackway_mcp_server_up", "Whether an MCP server is ready.");
const SERVER_STARTS: MetricFamily =
    MetricFamily::gauge("trackway_mcp_server_starts", "How often an MCP server was started.");

/// Every metric, in the order of the output.
const FAMILIES: [MetricFamily; 8] =
    [TOKENS, MODEL_CALLS, COST, TURNS, TOOL_CALLS, RUNS, SERVER_UP, SERVER_STARTS];

/// Labels of the conventions.
const AGENT: &str = "gen_ai_agent_name";
const PROVIDER: &str = "gen_ai_provider_name";
const MODEL: &str = "gen_ai_request_model";
const TOKEN_TYPE: &str = "gen_ai_token_type";
const TOOL: &str = "gen_ai_tool_name";
const OUTCOME: &str = "outcome";
const WORKFLOW: &str = "workflow";
const SERVER: &str = "server";

/// Counts committed events.
#[derive(Debug)]
pub(super) struct Metrics {
    registry: Arc<ProgramRegistry>,
    /// Read when the metrics are printed. Weak: the servers end with the `Server`, not with their
    /// metrics.
    servers: Weak<McpServers>,
    /// Locked to add a number or to print all of them.
    table: Mutex<MetricTable>,
}

impl Metrics {
    pub(super) fn new(registry: Arc<ProgramRegistry>, servers: Weak<McpServers>) -> Self {
        Self { registry, servers, table: Mutex::default() }
    }

    /// The metrics in the text format of Prometheus.
    pub(super) fn render_prometheus_text(&self) -> String {
        let servers = self.servers.upgrade().map(|servers| servers.server_statuses()).unwrap_or_default();
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        table.clear_metric_family(&SERVER_UP);
        table.clear_metric_family(&SERVER_STARTS);
        for server in &servers {
            let by = [(SERVER, server.name.as_str())];
            let is_up = server.phase == McpServerPhase::Ready;
            table.observe_value(&SERVER_UP, &by, f64::from(u8::from(is_up)));
            table.observe_value(&SERVER_STARTS, &by, f64::from(server.starts));
        }
        table.render_metric_families(&FAMILIES)
    }

    fn observe_metric(&self, family: &MetricFamily, labels: &[(&str, &str)], value: f64) {
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        table.observe_value(family, labels, value);
    }

    fn count_ended_run(&self, run: &RunSubmission, state: StateName) {
        let (name, outcome) = (run.workflow.name.as_str(), state.as_str());
        self.observe_metric(&RUNS, &[(WORKFLOW, name), (OUTCOME, outcome)], 1.0);
        let program = self.registry.current_program(name);
        if program.is_some_and(|program| program.info().kind == ProgramKind::Agent) {
            self.observe_metric(&TURNS, &[(AGENT, name), (OUTCOME, outcome)], 1.0);
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "no call has 2^52 tokens")]
    fn count_model_and_tool_call(&self, run: &RunSubmission, event: &Event) {
        let agent = run.workflow.name.as_str();
        if let Some((label, spent)) = model_usage_of_event(event) {
            let (provider, model) = label.split_once('/').unwrap_or((&label, ""));
            let by = [(AGENT, agent), (PROVIDER, provider), (MODEL, model)];
            self.observe_metric(&MODEL_CALLS, &by, 1.0);
            for (kind, tokens) in [("input", spent.input_tokens), ("output", spent.output_tokens)] {
                let [agent, provider, model] = by;
                let by = [agent, provider, model, (TOKEN_TYPE, kind)];
                self.observe_metric(&TOKENS, &by, tokens as f64);
            }
            if let Some(cost) = spent.cost {
                self.observe_metric(&COST, &by, cost);
            }
        }
        if let Some((tool, failed)) = recorded_tool_call(event) {
            let outcome = if failed { "failed" } else { "done" };
            self.observe_metric(&TOOL_CALLS, &[(AGENT, agent), (TOOL, tool), (OUTCOME, outcome)], 1.0);
        }
    }
}

pub(super) fn metrics_router(gate: OptionalAuthenticator, metrics: Arc<Metrics>) -> Router {
    Router::new().route("/metrics", get(get_metrics)).layer(Extension(metrics)).with_state(gate)
}

/// The numbers cover all tenants, so this needs a caller that may see all of them.
async fn get_metrics(
    caller: Authenticated,
    Extension(metrics): Extension<Arc<Metrics>>,
) -> Result<Response, HttpError> {
    caller.check_can_see_all_tenants()?;
    let kind = [(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")];
    Ok((kind, metrics.render_prometheus_text()).into_response())
}

impl CommitObserver for Metrics {
    fn on_event_committed(&self, run: &RunSubmission, event: &Event) {
        match event {
            Event::StepDone { op, .. } if op.kind == OpKind::Step => {
                self.count_model_and_tool_call(run, event)
            }
            Event::Completed { .. } => self.count_ended_run(run, StateName::Completed),
            Event::Failed { .. } => self.count_ended_run(run, StateName::Failed),
            Event::Canceled => self.count_ended_run(run, StateName::Canceled),
            Event::Rejected { .. } => self.count_ended_run(run, StateName::Rejected),
            _ => {}
        }
    }
}

/// The tool of a recorded call, and whether the call failed.
fn recorded_tool_call(event: &Event) -> Option<(&str, bool)> {
    let Event::StepDone { op, outcome } = event else { return None };
    ToolCallPosition::position_from_step_key(&op.key)?;
    let tool = op.key.splitn(3, ' ').nth(2)?;
    let failed = match outcome {
        StepOutcome::Ok(value) => ToolCallRecord::from_value(value).ok()?.failed,
        StepOutcome::Err(_) => true,
    };
    Some((tool, failed))
}

#[cfg(test)]
mod tests;
