//! What the doctor checks in addition to the workspace's own files: workflows, and the data folder
//! with its keys.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use trackway_agent::{McpServerPhase, McpServerStatus, McpServers};
use trackway_ports::KeyDocumentName;
use trackway_runtime::{Catalogue, ProgramKind};
use trackway_sqlite::FolderKeys;

use super::{Workspace, front_matter::pointer_to_dotted_path, reference_check::AvailableCapabilities};
use crate::workspace::{
    WorkspaceError,
    finding::{Finding, FindingLevel},
};
use crate::{AgentSet, DataFolder, Server, ServerError};

impl AvailableCapabilities {
    /// What a server with these workflow folders offers to the agents of a workspace.
    pub fn capabilities_of_server(
        server: Server,
        workspace: &Workspace,
        folders: &[PathBuf],
    ) -> Result<Self, WorkspaceError> {
        // Steps of workflows may name agents, so the check needs their specs.
        let specs = workspace.agents.iter().map(|agent| agent.spec.clone()).collect();
        let server = server.agents(AgentSet { specs, ..AgentSet::default() });
        let registry = server.workflow_registry().map_err(ServerError::from)?;
        let tools = server.local_agent_tools(None)?;
        let names = |kind: ProgramKind| -> Vec<String> {
            let offered = registry.list_current_programs().into_iter();
            let offered = offered.filter(|program| program.info().kind == kind);
            offered.map(|program| program.info().name.clone()).collect()
        };
        let agents = names(ProgramKind::Agent);
        let listing = Arc::new(Catalogue::new(folders.to_vec())).list_definitions();
        let known = listing.workflows.iter().map(|known| known.definition.id.clone());
        let invalid = listing.invalid.iter().filter_map(|invalid| {
            let file = invalid.file.display();
            Some((invalid.workflow.clone()?, format!("{file} is not valid")))
        });
        let why_not = |name: &String| match agents.contains(name) {
            true => Some("an agent has its name".to_owned()),
            false => registry.workflow_unavailable_reason(name),
        };
        let aside = known.filter_map(|name| Some((why_not(&name)?, name)));
        Ok(Self {
            workflows: names(ProgramKind::Workflow),
            unavailable_workflows: aside.map(|(why, name)| (name, why)).chain(invalid).collect(),
            tools: tools.iter().map(|tool| tool.info().name.clone()).collect(),
        })
    }
}

/// Files that are not valid workflows, and workflows that only an outside agent can drive.
pub fn inspect_workflows(folders: &[PathBuf], available: &AvailableCapabilities) -> Vec<Finding> {
    let mut findings = Vec::new();
    let listing = Arc::new(Catalogue::new(folders.to_vec())).list_definitions();
    for invalid in &listing.invalid {
        for fault in &invalid.errors {
            let finding = Finding::error_finding(&fault.message)
                .located_in_file(&invalid.file)
                .located_at_line(fault.line);
            let finding = finding.located_at_key(pointer_to_dotted_path(&fault.path));
            findings.push(match &fault.suggestion {
                Some(suggestion) => finding.with_suggestion(suggestion),
                None => finding,
            });
        }
    }
    for known in &listing.workflows {
        if let Some(why) = available.unavailable_workflows.get(&known.definition.id) {
            let why = format!("it is offered to outside agents only: {why}");
            findings.push(Finding::new(FindingLevel::Note, why).located_in_file(&known.file));
        }
    }
    findings
}

/// How long the doctor waits for the servers of `mcp.json` to start.
///
/// Limit (CLI): time in which the servers of `mcp.json` have to start while the doctor looks.
const SERVERS_WAIT: Duration = Duration::from_secs(20);

/// Starts the servers of `mcp.json`, reports which do not run and what the others offer, and stops
/// them.
pub async fn inspect_mcp_servers(workspace: &Workspace) -> Vec<Finding> {
    if workspace.mcp.config.servers.is_empty() {
        return Vec::new();
    }
    let servers = McpServers::start_servers(workspace.mcp.config.clone(), workspace.folder.clone());
    // A server that takes longer is reported with its state at that time.
    let _late = tokio::time::timeout(SERVERS_WAIT, servers.wait_until_started()).await;
    let line = |name: &str| {
        let named = workspace.mcp.servers.iter().find(|server| server.name == name);
        named.and_then(|server| server.line)
    };
    let of = |level: FindingLevel, name: &str, why: String| {
        Finding::new(level, why).located_in_file(&workspace.mcp.path).located_at_line(line(name))
    };
    let findings = |status: McpServerStatus| {
        let odd = (!status.left_out.is_empty()).then(|| {
            let (name, left_out) = (&status.name, &status.left_out);
            let why = format!(
                "tools of the MCP server {name:?} are left out, since the protocol does not allow their names: {left_out:?}"
            );
            of(FindingLevel::Warning, name, why)
        });
        let (level, why) = match status.phase {
            McpServerPhase::Ready => {
                let count = status.tools.len();
                (
                    FindingLevel::Note,
                    format!("the MCP server {:?} runs and offers {count} tools", status.name),
                )
            }
            McpServerPhase::Starting => {
                let wait = SERVERS_WAIT.as_secs();
                (
                    FindingLevel::Warning,
                    format!("the MCP server {:?} was not ready within {wait} s", status.name),
                )
            }
            McpServerPhase::Down | McpServerPhase::Stopped => {
                let reason = status.reason.unwrap_or_else(|| "it was stopped".to_owned());
                (FindingLevel::Warning, format!("the MCP server {:?} does not run: {reason}", status.name))
            }
        };
        [Some(of(level, &status.name, why)), odd].into_iter().flatten()
    };
    let findings = servers.server_statuses().into_iter().flat_map(findings).collect();
    servers.shutdown().await;
    findings
}

/// The data folder, and who can read the keys in it.
pub fn inspect_data_folder(folder: &Path) -> Vec<Finding> {
    let shown = folder.display();
    let metadata = match fs::metadata(folder) {
        Ok(metadata) => metadata,
        Err(_) => {
            let why = format!("the data folder {shown} is created when something is served or run");
            return vec![Finding::new(FindingLevel::Note, why)];
        }
    };
    if !metadata.is_dir() {
        let finding = Finding::error_finding(format!("the data folder {shown} is not a folder"));
        return vec![finding.with_suggestion("name another one with --data or TRACKWAY_DATA")];
    }
    if metadata.permissions().readonly() {
        let finding = Finding::error_finding(format!("nothing can be written to the data folder {shown}"));
        return vec![finding.with_suggestion("name another one with --data or TRACKWAY_DATA")];
    }
    let keys = FolderKeys::in_folder(folder);
    let mut findings: Vec<Finding> = KeyDocumentName::ALL
        .iter()
        .filter_map(|name| finding_if_readable_by_others(&keys.path(*name)))
        .collect();
    if let Some(url) = DataFolder::running_server_url(folder) {
        let why = format!("the data folder {shown} is served at {url}");
        findings.push(Finding::new(FindingLevel::Note, why));
    }
    findings
}

#[cfg(unix)]
fn finding_if_readable_by_others(file: &Path) -> Option<Finding> {
    use std::os::unix::fs::PermissionsExt as _;
    /// Permission bits of the group and of others.
    const OTHERS: u32 = 0o077;
    let mode = fs::metadata(file).ok()?.permissions().mode();
    (mode & OTHERS != 0).then(|| {
        let finding = Finding::new(FindingLevel::Warning, "others on this machine can read these keys");
        finding.located_in_file(file).with_suggestion(format!("chmod 600 {}", file.display()))
    })
}

#[cfg(not(unix))]
fn finding_if_readable_by_others(_: &Path) -> Option<Finding> {
    None
}
