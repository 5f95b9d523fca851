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

mod table;

use std::sync::{Arc, Mutex, PoisonError, Weak};

use axum::{
    Extension, Router,
    http::header,
    response::{IntoResponse, Response},
    routing::get,
};
use trackway_agent::{CallRecord, McpServers, Phase, Place, model_call};
use trackway_domain::{Event, OpKind, StateName, StepOutcome, Submission};
use trackway_http::{Authenticated, Gate, Refusal};
use trackway_runtime::{Kind, Observer, Registry};

use table::{Family, Table};

const TOKENS: Family = Family::histogram("gen_ai_client_token_usage", "Tokens of a model call.");
const MODEL_CALLS: Family =
    Family::counter("trackway_model_calls_total", "Model calls that were answered.");
const COST: Family = Family::counter(
    "trackway_model_cost_total",
    "What model calls cost, in the currency of the prices.",
);
const TURNS: Family = Family::counter("trackway_turns_total", "Turns of agents that have ended.");
const TOOL_CALLS: Family =
    Family::counter("trackway_tool_calls_total", "Calls of tools, and dispatches.");
const RUNS: Family = Family::counter("trackway_runs_total", "Runs that have ended.");

const SERVER_UP: Family =
    Family::gauge("trackway_mcp_server_up", "Whether an MCP server is ready.");
const SERVER_STARTS: Family =
    Family::gauge("trackway_mcp_server_starts", "How often an MCP server was started.");

/// Every metric, in the order of the output.
const FAMILIES: [Family; 8] =
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
    registry: Arc<Registry>,
    /// Read when the metrics are printed. Weak: the servers end with the `Server`, not with their
    /// metrics.
    servers: Weak<McpServers>,
    /// Locked to add a number or to print all of them.
    table: Mutex<Table>,
}

impl Metrics {
    pub(super) fn new(registry: Arc<Registry>, servers: Weak<McpServers>) -> Self {
        Self { registry, servers, table: Mutex::default() }
    }

    /// The metrics in the text format of Prometheus.
    pub(super) fn text(&self) -> String {
        let servers = self.servers.upgrade().map(|servers| servers.status()).unwrap_or_default();
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        table.clear(&SERVER_UP);
        table.clear(&SERVER_STARTS);
        for server in &servers {
            let by = [(SERVER, server.name.as_str())];
            let is_up = server.phase == Phase::Ready;
            table.add(&SERVER_UP, &by, f64::from(u8::from(is_up)));
            table.add(&SERVER_STARTS, &by, f64::from(server.starts));
        }
        table.text(&FAMILIES)
    }

    fn add(&self, family: &Family, labels: &[(&str, &str)], value: f64) {
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        table.add(family, labels, value);
    }

    fn ended(&self, run: &Submission, state: StateName) {
        let (name, outcome) = (run.workflow.name.as_str(), state.as_str());
        self.add(&RUNS, &[(WORKFLOW, name), (OUTCOME, outcome)], 1.0);
        let program = self.registry.get(name);
        if program.is_some_and(|program| program.info().kind == Kind::Agent) {
            self.add(&TURNS, &[(AGENT, name), (OUTCOME, outcome)], 1.0);
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "no call has 2^52 tokens")]
    fn step(&self, run: &Submission, event: &Event) {
        let agent = run.workflow.name.as_str();
        if let Some((label, spent)) = model_call(event) {
            let (provider, model) = label.split_once('/').unwrap_or((&label, ""));
            let by = [(AGENT, agent), (PROVIDER, provider), (MODEL, model)];
            self.add(&MODEL_CALLS, &by, 1.0);
            for (kind, tokens) in [("input", spent.input_tokens), ("output", spent.output_tokens)] {
                let [agent, provider, model] = by;
                let by = [agent, provider, model, (TOKEN_TYPE, kind)];
                self.add(&TOKENS, &by, tokens as f64);
            }
            if let Some(cost) = spent.cost {
                self.add(&COST, &by, cost);
            }
        }
        if let Some((tool, failed)) = tool_call(event) {
            let outcome = if failed { "failed" } else { "done" };
            self.add(&TOOL_CALLS, &[(AGENT, agent), (TOOL, tool), (OUTCOME, outcome)], 1.0);
        }
    }
}

pub(super) fn router(gate: Gate, metrics: Arc<Metrics>) -> Router {
    Router::new().route("/metrics", get(show)).layer(Extension(metrics)).with_state(gate)
}

/// The numbers cover all tenants, so this needs a caller that may see all of them.
async fn show(
    caller: Authenticated,
    Extension(metrics): Extension<Arc<Metrics>>,
) -> Result<Response, Refusal> {
    caller.may_see_all()?;
    let kind = [(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")];
    Ok((kind, metrics.text()).into_response())
}

impl Observer for Metrics {
    fn committed(&self, run: &Submission, event: &Event) {
        match event {
            Event::StepDone { op, .. } if op.kind == OpKind::Step => self.step(run, event),
            Event::Completed { .. } => self.ended(run, StateName::Completed),
            Event::Failed { .. } => self.ended(run, StateName::Failed),
            Event::Canceled => self.ended(run, StateName::Canceled),
            Event::Rejected { .. } => self.ended(run, StateName::Rejected),
            _ => {}
        }
    }
}

/// The tool of a recorded call, and whether the call failed.
fn tool_call(event: &Event) -> Option<(&str, bool)> {
    let Event::StepDone { op, outcome } = event else { return None };
    Place::of_key(&op.key)?;
    let tool = op.key.splitn(3, ' ').nth(2)?;
    let failed = match outcome {
        StepOutcome::Ok(value) => CallRecord::from_value(value).ok()?.failed,
        StepOutcome::Err(_) => true,
    };
    Some((tool, failed))
}

#[cfg(test)]
mod tests;
