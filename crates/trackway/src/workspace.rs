//! The workspace: the folder with `trackway.toml`, `agents/`, `workflows/` and `mcp.json`.
//!
//! The whole folder is read at once, and every problem is collected with its file and line. `front_matter`
//! and `agent_files` read the agents, `resolved_models` finds the models, `mcp_file` finds the MCP servers,
//! and `reference_check` compares their references to each other. `open_models` opens the models, and
//! `workspace_loader` reads everything again when a file changes.

pub mod agent_files;
pub mod config;
pub mod duration;
pub mod env_reference;
pub mod finding;
mod front_matter;
pub mod mcp_file;
pub mod open_models;
pub mod peer_inspection;
pub mod reference_check;
pub mod resolved_models;
#[cfg(test)]
mod tests;
mod workspace_error;
pub mod workspace_inspection;
pub mod workspace_loader;
mod workspace_server;
pub mod workspace_settings;

use std::path::{Path, PathBuf};

use trackway_agent::{AgentSpec, TurnBudgets};

pub use workspace_error::WorkspaceError;
pub use workspace_server::apply_config_to_server;

use agent_files::AgentFile;
use config::WorkspaceConfig;
use env_reference::EnvLookup;
use finding::{Finding, FindingLevel};
use mcp_file::McpConfigFile;
use resolved_models::{ResolvedModels, SettingSource};

/// Default folder of the workflows.
pub const WORKFLOWS: &str = "workflows";

/// The agent of a workspace without agent files.
const ASSISTANT: &str = "assistant";
const ASSISTANT_DESCRIPTION: &str = "Talks, uses tools and runs the workflows of this server.";
/// Tools that every server has: see `trackway_agent::BuiltInTools`.
const ASSISTANT_TOOLS: [&str; 5] =
    ["artifact_list", "artifact_read", "artifact_write", "http_fetch", "time_now"];
const ASSISTANT_PROMPT: &str = "You are a helpful assistant. Use the tools and workflows that you \
have where they help, say what came of them, and be brief.";

/// The content of a workspace.
#[derive(Debug)]
pub struct Workspace {
    /// Empty for the current folder.
    pub folder: PathBuf,
    pub config: WorkspaceConfig,
    /// In the order of their files; the built-in agent if there are none.
    pub agents: Vec<AgentFile>,
    pub models: ResolvedModels,
    pub mcp: McpConfigFile,
    /// The agent at the addresses that name no agent, and of `trackway chat`.
    pub default_agent: String,
    pub default_agent_from: SettingSource,
}

impl Workspace {
    /// Reads the folder, and returns it with the findings so far.
    pub fn load_workspace(folder: &Path, variables: EnvLookup<'_>) -> (Self, Vec<Finding>) {
        let file = folder.join(config::FILE);
        let (config, mut findings) = WorkspaceConfig::load_config_with_findings(folder, variables);
        let (mut agents, more) = agent_files::load_agent_files(folder, variables);
        findings.extend(more);
        if agents.is_empty() && !findings.iter().any(Finding::is_error_level) {
            agents.push(builtin_assistant_agent());
        }
        let (models, more) = resolved_models::resolve_models(&file, &config, &agents, variables);
        findings.extend(more);
        let (mcp, more) = McpConfigFile::load_mcp_file(folder, variables);
        findings.extend(more);
        let (default_agent, default_agent_from) = resolve_default_agent(&file, &config, &agents);
        let folder = folder.to_owned();
        let workspace = Self { folder, config, agents, models, mcp, default_agent, default_agent_from };
        findings.extend(workspace.check_configured_default_agent());
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
    fn check_configured_default_agent(&self) -> Option<Finding> {
        let named = self.config.defaults.agent.as_ref()?;
        let names = || self.agents.iter().map(|agent| agent.spec.name.as_str());
        if names().any(|name| name == named.name) {
            return None;
        }
        let finding = Finding::new(FindingLevel::Error, format!("there is no agent {:?}", named.name));
        let finding =
            finding.located_in_file(&self.folder.join(config::FILE)).located_at_line(Some(named.line));
        Some(add_nearest_name_suggestion(
            finding.located_at_key("defaults.agent"),
            &named.name,
            &names().collect::<Vec<_>>(),
        ))
    }
}

/// Adds the name that was probably meant, otherwise the known names.
fn add_nearest_name_suggestion(finding: Finding, name: &str, known_names: &[&str]) -> Finding {
    match trackway_definition::nearest_known_word(name, known_names.iter().copied()) {
        Some(meant) => finding.with_nearest_name_suggestion(Some(meant)),
        None if known_names.is_empty() => finding,
        None => finding.with_suggestion(format!("there are: {}", known_names.join(", "))),
    }
}

fn resolve_default_agent(
    file: &Path,
    config: &WorkspaceConfig,
    agents: &[AgentFile],
) -> (String, SettingSource) {
    if let Some(named) = &config.defaults.agent {
        let from = SettingSource::File { file: file.to_owned(), line: Some(named.line) };
        return (named.name.clone(), from);
    }
    let first = agents.first().map_or(ASSISTANT, |agent| &agent.spec.name);
    (first.to_owned(), SettingSource::Default)
}

fn builtin_assistant_agent() -> AgentFile {
    let spec = AgentSpec {
        name: ASSISTANT.to_owned(),
        description: ASSISTANT_DESCRIPTION.to_owned(),
        model: None,
        tools: ASSISTANT_TOOLS.map(str::to_owned).to_vec(),
        workflows: vec!["*".to_owned()],
        peers: Vec::new(),
        approvals: Default::default(),
        budgets: TurnBudgets::default(),
        model_timeout: None,
        first_answer_timeouts: Default::default(),
        skills: Vec::new(),
        prompt: ASSISTANT_PROMPT.to_owned(),
    };
    AgentFile { spec, file: None, lines: Default::default() }
}
