//! The current state that agents share. A turn reads it before every model call.

use std::{
    collections::BTreeMap,
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use trackway_runtime::{Program, Tool};

use crate::{AgentSpec, Provider, SERVER_MARK, Toolset, Usage, toolset::KeptToolsets};

/// How long a dispatch waits for a workflow's first answer, unless the workspace sets another time.
/// Limit (Agents): wait for the first answer of a dispatched workflow; `[dispatch] first_answer_timeout`.
pub const FIRST_ANSWER_TIMEOUT_DEFAULT: Duration = Duration::from_secs(5);

/// The state that agents share. Its content is replaced when the workspace changes.
#[derive(Debug, Default)]
pub struct Workshop {
    /// Locked only to read or replace the whole.
    stock: RwLock<Arc<Stock>>,
    toolsets: KeptToolsets,
}

/// The shared state at one moment.
#[derive(Debug, Clone)]
pub struct Stock {
    /// By the name that agents use.
    pub models: BTreeMap<String, Model>,
    /// The model of agents that name none.
    pub default_model: String,
    /// Every tool that an agent may be allowed.
    pub tools: Vec<Arc<dyn Tool>>,
    pub first_answer_timeout: Duration,
    /// Tool servers that are not running: the prefix of their tools' names, and the reason.
    pub servers_down: BTreeMap<String, String>,
}

/// A model that agents can use.
#[derive(Debug, Clone)]
pub struct Model {
    pub provider: Arc<dyn Provider>,
    pub price: Option<Price>,
}

/// The price of a million tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    pub input: f64,
    pub output: f64,
}

const MILLION: f64 = 1_000_000.0;

impl Price {
    /// The cost of a call.
    #[expect(clippy::cast_precision_loss, reason = "nobody pays for 2^52 tokens at once")]
    pub fn of(&self, usage: Usage) -> f64 {
        (usage.input_tokens as f64 * self.input + usage.output_tokens as f64 * self.output)
            / MILLION
    }
}

impl Default for Stock {
    fn default() -> Self {
        Self {
            models: BTreeMap::new(),
            default_model: String::new(),
            tools: Vec::new(),
            first_answer_timeout: FIRST_ANSWER_TIMEOUT_DEFAULT,
            servers_down: BTreeMap::new(),
        }
    }
}

impl Stock {
    /// Why a tool of that name is missing, if it belongs to a server that is not running.
    pub(crate) fn why_missing(&self, tool: &str) -> Option<String> {
        let (prefix, _) = tool.split_once(SERVER_MARK)?;
        let (server, reason) = self.servers_down.get_key_value(prefix)?;
        Some(format!("The MCP server `{server}` of the tool {tool:?} is not running: {reason}"))
    }

    /// The model of that name, or the default model; else an error with the known names.
    pub fn model(&self, name: Option<&str>) -> Result<&Model, NoModel> {
        let name = name.unwrap_or(&self.default_model);
        self.models.get(name).ok_or_else(|| NoModel {
            name: name.to_owned(),
            known: self.models.keys().cloned().collect(),
        })
    }
}

/// There is no such model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no model {name:?} (there are: {})", known.join(", "))]
pub struct NoModel {
    pub name: String,
    pub known: Vec<String>,
}

impl Workshop {
    pub fn new(stock: Stock) -> Self {
        Self { stock: RwLock::new(Arc::new(stock)), ..Self::default() }
    }

    /// The current state.
    pub fn stock(&self) -> Arc<Stock> {
        self.stock.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The tools of an agent, from this state and these programs.
    pub(crate) fn toolset(
        &self,
        spec: &Arc<AgentSpec>,
        stock: &Arc<Stock>,
        programs: &[Arc<dyn Program>],
    ) -> Arc<Toolset> {
        self.toolsets.of(spec, stock, programs)
    }

    pub fn restock(&self, stock: Stock) {
        *self.stock.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(stock);
    }
}
