//! What the doctor checks in addition to the workspace's own files: workflows, and the data folder
//! with its keys.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use trackway_agent::{McpServers, Phase, ServerStatus};

use crate::{Agents, DataFolder, KeyFile, Server, ServerError};
use trackway_runtime::{Catalogue, Kind};

use super::{Workspace, check::Surroundings, front::dotted};
use crate::workspace::{
    WorkspaceError,
    finding::{Finding, Level},
};

impl Surroundings {
    /// What a server with these workflow folders offers to the agents of a workspace.
    pub fn of(
        server: Server,
        workspace: &Workspace,
        folders: &[PathBuf],
    ) -> Result<Self, WorkspaceError> {
        // Steps of workflows may name agents, so the check needs their specs.
        let specs = workspace.agents.iter().map(|agent| agent.spec.clone()).collect();
        let server = server.agents(Agents { specs, ..Agents::default() });
        let registry = server.registry().map_err(ServerError::from)?;
        let tools = server.agent_tools()?;
        let names = |kind: Kind| -> Vec<String> {
            let offered = registry.list().into_iter();
            let offered = offered.filter(|program| program.info().kind == kind);
            offered.map(|program| program.info().name.clone()).collect()
        };
        let agents = names(Kind::Agent);
        let listing = Arc::new(Catalogue::new(folders.to_vec())).list();
        let known = listing.workflows.iter().map(|known| known.definition.id.clone());
        let invalid = listing.invalid.iter().filter_map(|invalid| {
            let file = invalid.file.display();
            Some((invalid.workflow.clone()?, format!("{file} is not valid")))
        });
        let why_not = |name: &String| match agents.contains(name) {
            true => Some("an agent has its name".to_owned()),
            false => registry.why_not(name),
        };
        let aside = known.filter_map(|name| Some((why_not(&name)?, name)));
        Ok(Self {
            workflows: names(Kind::Workflow),
            aside: aside.map(|(why, name)| (name, why)).chain(invalid).collect(),
            tools: tools.iter().map(|tool| tool.info().name.clone()).collect(),
        })
    }
}

/// Files that are not valid workflows, and workflows that only an outside agent can drive.
pub fn workflows(folders: &[PathBuf], there: &Surroundings) -> Vec<Finding> {
    let mut findings = Vec::new();
    let listing = Arc::new(Catalogue::new(folders.to_vec())).list();
    for invalid in &listing.invalid {
        for fault in &invalid.errors {
            let finding = Finding::error(&fault.message).file(&invalid.file).line(fault.line);
            let finding = finding.key(dotted(&fault.path));
            findings.push(match &fault.suggestion {
                Some(suggestion) => finding.suggest(suggestion),
                None => finding,
            });
        }
    }
    for known in &listing.workflows {
        if let Some(why) = there.aside.get(&known.definition.id) {
            let why = format!("it is offered to outside agents only: {why}");
            findings.push(Finding::new(Level::Note, why).file(&known.file));
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
pub async fn servers(workspace: &Workspace) -> Vec<Finding> {
    if workspace.mcp.config.servers.is_empty() {
        return Vec::new();
    }
    let servers = McpServers::start(workspace.mcp.config.clone(), workspace.folder.clone());
    // A server that takes longer is reported with its state at that time.
    let _late = tokio::time::timeout(SERVERS_WAIT, servers.settled()).await;
    let line = |name: &str| {
        let named = workspace.mcp.servers.iter().find(|server| server.name == name);
        named.and_then(|server| server.line)
    };
    let of = |level: Level, name: &str, why: String| {
        Finding::new(level, why).file(&workspace.mcp.path).line(line(name))
    };
    let findings = |status: ServerStatus| {
        let odd = (!status.left_out.is_empty()).then(|| {
            let (name, left_out) = (&status.name, &status.left_out);
            let why = format!(
                "tools of the MCP server {name:?} are left out, since the protocol does not allow their names: {left_out:?}"
            );
            of(Level::Warning, name, why)
        });
        let (level, why) = match status.phase {
            Phase::Ready => {
                let count = status.tools.len();
                (
                    Level::Note,
                    format!("the MCP server {:?} runs and offers {count} tools", status.name),
                )
            }
            Phase::Starting => {
                let wait = SERVERS_WAIT.as_secs();
                (
                    Level::Warning,
                    format!("the MCP server {:?} was not ready within {wait} s", status.name),
                )
            }
            Phase::Down | Phase::Stopped => {
                let reason = status.reason.unwrap_or_else(|| "it was stopped".to_owned());
                (Level::Warning, format!("the MCP server {:?} does not run: {reason}", status.name))
            }
        };
        [Some(of(level, &status.name, why)), odd].into_iter().flatten()
    };
    let findings = servers.status().into_iter().flat_map(findings).collect();
    servers.shutdown().await;
    findings
}

/// The data folder, and who can read the keys in it.
pub fn data(folder: &Path) -> Vec<Finding> {
    let shown = folder.display();
    let metadata = match fs::metadata(folder) {
        Ok(metadata) => metadata,
        Err(_) => {
            let why = format!("the data folder {shown} is created when something is served or run");
            return vec![Finding::new(Level::Note, why)];
        }
    };
    if !metadata.is_dir() {
        let finding = Finding::error(format!("the data folder {shown} is not a folder"));
        return vec![finding.suggest("name another one with --data or TRACKWAY_DATA")];
    }
    if metadata.permissions().readonly() {
        let finding = Finding::error(format!("nothing can be written to the data folder {shown}"));
        return vec![finding.suggest("name another one with --data or TRACKWAY_DATA")];
    }
    let mut findings: Vec<Finding> =
        [KeyFile::in_folder(folder).path(), folder.join(trackway_mcp::KEYS_FILE)]
            .iter()
            .filter_map(|file| readable_by_others(file))
            .collect();
    if let Some(url) = DataFolder::served_at(folder) {
        let why = format!("the data folder {shown} is served at {url}");
        findings.push(Finding::new(Level::Note, why));
    }
    findings
}

#[cfg(unix)]
fn readable_by_others(file: &Path) -> Option<Finding> {
    use std::os::unix::fs::PermissionsExt as _;
    /// Permission bits of the group and of others.
    const OTHERS: u32 = 0o077;
    let mode = fs::metadata(file).ok()?.permissions().mode();
    (mode & OTHERS != 0).then(|| {
        let finding = Finding::new(Level::Warning, "others on this machine can read these keys");
        finding.file(file).suggest(format!("chmod 600 {}", file.display()))
    })
}

#[cfg(not(unix))]
fn readable_by_others(_: &Path) -> Option<Finding> {
    None
}
