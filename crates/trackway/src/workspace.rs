//! The workspace: the folder with `trackway.toml`, `agents/`, `workflows/` and `mcp.json`.
//!
//! The whole folder is read at once, and every problem is collected with its file and line. `front` and
//! `agents` read the agents, `models` finds the models, `mcp` finds the MCP servers, and `check` compares
//! their references to each other. `stock` opens the models, and `follow` reads everything again when a
//! file changes.

pub mod agents;
pub mod check;
pub mod config;
mod error;
pub mod finding;
pub mod follow;
mod front;
pub mod look;
pub mod mcp;
pub mod models;
pub mod reference;
mod serve;
pub mod shown;
pub mod span;
pub mod stock;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use trackway_agent::{AgentSpec, Budgets};

pub use error::WorkspaceError;
pub use serve::apply;

use agents::Agent;
use config::Config;
use finding::{Finding, Level};
use mcp::McpFile;
use models::{Models, Source};
use reference::Variables;

/// Default folder of the workflows.
pub const WORKFLOWS: &str = "workflows";

/// The agent of a workspace without agent files.
const ASSISTANT: &str = "assistant";
const ASSISTANT_DESCRIPTION: &str = "Talks, uses tools and runs the workflows of this server.";
/// Tools that every server has: see `trackway_agent::BuiltIn`.
const ASSISTANT_TOOLS: [&str; 5] =
    ["artifact_list", "artifact_read", "artifact_write", "http_fetch", "time_now"];
const ASSISTANT_PROMPT: &str = "You are a helpful assistant. Use the tools and workflows that you \
have where they help, say what came of them, and be brief.";

/// The content of a workspace.
#[derive(Debug)]
pub struct Workspace {
    /// Empty for the current folder.
    pub folder: PathBuf,
    pub config: Config,
    /// In the order of their files; the built-in agent if there are none.
    pub agents: Vec<Agent>,
    pub models: Models,
    pub mcp: McpFile,
    /// The agent at the addresses that name no agent, and of `trackway chat`.
    pub default_agent: String,
    pub default_agent_from: Source,
}

impl Workspace {
    /// Reads the folder, and returns it with the findings so far.
    pub fn read(folder: &Path, variables: Variables<'_>) -> (Self, Vec<Finding>) {
        let file = folder.join(config::FILE);
        let (config, mut findings) = Config::read(folder, variables);
        let (mut agents, more) = agents::read(folder, variables);
        findings.extend(more);
        if agents.is_empty() && !findings.iter().any(Finding::is_error) {
            agents.push(assistant());
        }
        let (models, more) = models::resolve(&file, &config, &agents, variables);
        findings.extend(more);
        let (mcp, more) = McpFile::read(folder, variables);
        findings.extend(more);
        let (default_agent, default_agent_from) = default_agent(&file, &config, &agents);
        let folder = folder.to_owned();
        let workspace =
            Self { folder, config, agents, models, mcp, default_agent, default_agent_from };
        findings.extend(workspace.odd_default());
        (workspace, findings)
    }

    /// The folders of the workflow definitions: those of `trackway.toml`, otherwise the default folder next
    /// to it.
    pub fn workflow_folders(&self) -> Vec<PathBuf> {
        match &self.config.workflows.folders {
            Some(folders) => folders.clone(),
            None => vec![self.folder.join(WORKFLOWS)],
        }
    }

    /// Reports that `[defaults] agent` names an unknown agent.
    fn odd_default(&self) -> Option<Finding> {
        let named = self.config.defaults.agent.as_ref()?;
        let names = || self.agents.iter().map(|agent| agent.spec.name.as_str());
        if names().any(|name| name == named.name) {
            return None;
        }
        let finding = Finding::new(Level::Error, format!("there is no agent {:?}", named.name));
        let finding = finding.file(&self.folder.join(config::FILE)).line(Some(named.line));
        Some(meant(finding.key("defaults.agent"), &named.name, &names().collect::<Vec<_>>()))
    }
}

/// Adds the name that was probably meant, otherwise the known names.
fn meant(finding: Finding, name: &str, known: &[&str]) -> Finding {
    match trackway_definition::nearest(name, known.iter().copied()) {
        Some(meant) => finding.meant(Some(meant)),
        None if known.is_empty() => finding,
        None => finding.suggest(format!("there are: {}", known.join(", "))),
    }
}

fn default_agent(file: &Path, config: &Config, agents: &[Agent]) -> (String, Source) {
    if let Some(named) = &config.defaults.agent {
        let from = Source::File { file: file.to_owned(), line: Some(named.line) };
        return (named.name.clone(), from);
    }
    let first = agents.first().map_or(ASSISTANT, |agent| &agent.spec.name);
    (first.to_owned(), Source::Default)
}

fn assistant() -> Agent {
    let spec = AgentSpec {
        name: ASSISTANT.to_owned(),
        description: ASSISTANT_DESCRIPTION.to_owned(),
        model: None,
        tools: ASSISTANT_TOOLS.map(str::to_owned).to_vec(),
        workflows: vec!["*".to_owned()],
        peers: Vec::new(),
        approvals: Default::default(),
        budgets: Budgets::default(),
        model_timeout: None,
        first_answer_timeouts: Default::default(),
        skills: Vec::new(),
        prompt: ASSISTANT_PROMPT.to_owned(),
    };
    Agent { spec, file: None, lines: Default::default() }
}
