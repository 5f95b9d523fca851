//! Checks the references between the parts of a workspace: unknown names, and unused things.

use std::collections::{BTreeMap, BTreeSet};

use trackway_agent::{DISPATCH_PREFIX, REPLY_TOOL, STATUS_TOOL};
use trackway_definition::nearest_known_word;
use trackway_domain::matches_wildcard as fits;
use trackway_mesh::PEER_TOOL_PREFIXES;

use super::{
    Workspace, add_nearest_name_suggestion,
    agent_files::AgentFile,
    mcp_file::{JOINT, NamedMcpServer},
    resolved_models::MODEL_VARIABLE,
};
use crate::workspace::{
    config::{self, ModelProviderKind},
    finding::{Finding, FindingLevel},
};

/// What exists in addition to the workspace's own files.
#[derive(Debug, Default)]
pub struct AvailableCapabilities {
    /// Workflows that agents can dispatch.
    pub workflows: Vec<String>,
    /// Workflows that exist but cannot be dispatched, and why.
    pub unavailable_workflows: BTreeMap<String, String>,
    /// Tools, without those of MCP servers.
    pub tools: Vec<String>,
}

/// Everything that is wrong, odd or unused about the names in a workspace.
pub fn check_workspace(workspace: &Workspace, available: &AvailableCapabilities) -> Vec<Finding> {
    let mut findings = Vec::new();
    for agent in &workspace.agents {
        check_agent_name(agent, available, &mut findings);
        check_agent_tools(agent, workspace, available, &mut findings);
        check_agent_approvals(agent, available, &mut findings);
        check_agent_workflows(agent, available, &mut findings);
        check_first_answer_timeouts(agent, available, &mut findings);
        findings.extend(check_cost_budget(agent, workspace));
    }
    findings.extend(check_a2a_default_agent(workspace, available));
    findings.extend(find_unused_models_and_servers(workspace));
    findings.push(default_model_finding(workspace));
    findings
}

fn check_agent_name(agent: &AgentFile, available: &AvailableCapabilities, findings: &mut Vec<Finding>) {
    let name = &agent.spec.name;
    if available.workflows.contains(name) || available.unavailable_workflows.contains_key(name) {
        let why = format!("there is a workflow {name:?} too; both would have one address");
        findings.push(
            agent
                .finding_at_key("name", FindingLevel::Error, why)
                .with_suggestion("give the agent another name"),
        );
    }
}

fn check_agent_tools(
    agent: &AgentFile,
    workspace: &Workspace,
    available: &AvailableCapabilities,
    findings: &mut Vec<Finding>,
) {
    for (index, pattern) in agent.spec.tools.iter().enumerate() {
        let key = format!("tools[{index}]");
        if matches_any_tool(pattern, workspace, available) {
            continue;
        }
        if let Some((server, _)) = pattern.split_once(JOINT).filter(|(name, _)| !is_wildcard_pattern(name)) {
            let finding =
                agent.finding_at_key(&key, FindingLevel::Error, format!("there is no MCP server {server:?}"));
            let known: Vec<&str> = workspace.mcp.servers.iter().map(|server| server.name.as_str()).collect();
            findings.push(match known.is_empty() {
                true => finding.with_suggestion("mcp.json names the servers whose tools there are"),
                false => add_nearest_name_suggestion(finding, server, &known),
            });
        } else if is_wildcard_pattern(pattern) {
            let why = format!("no tool fits {pattern:?}");
            findings.push(agent.finding_at_key(&key, FindingLevel::Unused, why));
        } else {
            let finding =
                agent.finding_at_key(&key, FindingLevel::Error, format!("there is no tool {pattern:?}"));
            let known: Vec<&str> = available.tools.iter().map(String::as_str).collect();
            findings.push(add_nearest_name_suggestion(finding, pattern, &known));
        }
    }
}

/// Approvals of tools and workflows that the agent does not have. A workflow has its own name or that of
/// the tool that dispatches it.
fn check_agent_approvals(agent: &AgentFile, available: &AvailableCapabilities, findings: &mut Vec<Finding>) {
    let spec = &agent.spec;
    let is_allowed = |name: &&String| spec.workflows.iter().any(|pattern| fits(pattern, name));
    let workflows: Vec<&String> = available.workflows.iter().filter(is_allowed).collect();
    for approval in spec.approvals.keys() {
        let is_tool = spec.tools.iter().any(|pattern| {
            fits(pattern, approval)
                || fits(approval, pattern)
                || (is_wildcard_pattern(approval) && is_wildcard_pattern(pattern))
        });
        let is_workflow = workflows
            .iter()
            .any(|name| fits(approval, name) || fits(approval, &format!("{DISPATCH_PREFIX}{name}")));
        let is_own = [REPLY_TOOL, STATUS_TOOL].iter().any(|name| fits(approval, name));
        if !is_tool && !is_workflow && !is_own && !could_be_peer_approval(approval, &spec.peers) {
            let why = format!("{:?} may not use {approval:?} at all", spec.name);
            let finding = agent.finding_at_key(&format!("approvals.{approval}"), FindingLevel::Unused, why);
            let known = spec.tools.iter().chain(workflows.iter().copied()).map(String::as_str);
            findings.push(finding.with_nearest_name_suggestion(nearest_known_word(approval, known)));
        }
    }
}

/// Whether an approval can be about a peer, by its name or by its tool. Which peers there are is known only
/// while a server runs.
fn could_be_peer_approval(approval: &str, peers: &[String]) -> bool {
    let name = PEER_TOOL_PREFIXES.iter().find_map(|prefix| approval.strip_prefix(prefix)).unwrap_or(approval);
    let both_wild = |pattern: &String| is_wildcard_pattern(approval) && is_wildcard_pattern(pattern);
    peers.iter().any(|pattern| fits(pattern, name) || fits(name, pattern) || both_wild(pattern))
}

/// A cost budget for a model without a price.
fn check_cost_budget(agent: &AgentFile, workspace: &Workspace) -> Option<Finding> {
    agent.spec.budgets.cost?;
    let models = &workspace.models;
    let name = agent.spec.model.as_ref().unwrap_or(&models.default);
    let model = models.all.get(name).filter(|model| model.service.is_remote_service())?;
    if model.price.is_some() {
        return None;
    }
    let why = format!("the model {name:?} has no price, so that no cost is counted");
    let finding = agent.finding_at_key("budgets.cost", FindingLevel::Warning, why);
    Some(finding.with_suggestion("give it a price in a section [models.NAME] of trackway.toml"))
}

/// Whether it can match more than one name.
pub(super) fn is_wildcard_pattern(pattern: &str) -> bool {
    pattern.contains('*')
}

/// Whether a pattern can match a tool. The tools of an MCP server are known only when it runs.
fn matches_any_tool(pattern: &str, workspace: &Workspace, available: &AvailableCapabilities) -> bool {
    available.tools.iter().any(|tool| fits(pattern, tool))
        || workspace.mcp.servers.iter().any(|server| could_match_server_tool(pattern, server))
}

/// Whether a pattern could match a tool of this server.
fn could_match_server_tool(pattern: &str, mcp_server: &NamedMcpServer) -> bool {
    let prefix = mcp_server.tool_prefix();
    match pattern.split_once(JOINT) {
        Some((before, _)) => fits(before, &prefix),
        // `*` and `fi*` match across the separator.
        None => pattern.split_once('*').is_some_and(|(before, _)| {
            let whole = format!("{prefix}{JOINT}");
            whole.starts_with(before)
        }),
    }
}

fn check_agent_workflows(agent: &AgentFile, available: &AvailableCapabilities, findings: &mut Vec<Finding>) {
    for (index, pattern) in agent.spec.workflows.iter().enumerate() {
        if pattern == "*" || available.workflows.iter().any(|name| fits(pattern, name)) {
            continue;
        }
        let key = format!("workflows[{index}]");
        if is_wildcard_pattern(pattern) {
            let why = format!("no workflow fits {pattern:?}");
            findings.push(agent.finding_at_key(&key, FindingLevel::Unused, why));
        } else if let Some(why) = available.unavailable_workflows.get(pattern) {
            let why = format!("the workflow {pattern:?} cannot be dispatched: {why}");
            findings.push(agent.finding_at_key(&key, FindingLevel::Error, why));
        } else {
            let finding =
                agent.finding_at_key(&key, FindingLevel::Error, format!("there is no workflow {pattern:?}"));
            let known: Vec<&str> = available.workflows.iter().map(String::as_str).collect();
            findings.push(add_nearest_name_suggestion(finding, pattern, &known));
        }
    }
}

/// Timeouts for workflows that the agent cannot dispatch.
fn check_first_answer_timeouts(
    agent: &AgentFile,
    available: &AvailableCapabilities,
    findings: &mut Vec<Finding>,
) {
    let spec = &agent.spec;
    for pattern in spec.first_answer_timeouts.keys() {
        let is_allowed = |name: &&String| spec.workflows.iter().any(|own| fits(own, name));
        if !available.workflows.iter().filter(is_allowed).any(|name| fits(pattern, name)) {
            let why = format!("{:?} dispatches no workflow that fits {pattern:?}", spec.name);
            let key = format!("first_answer_timeouts.{pattern}");
            findings.push(agent.finding_at_key(&key, FindingLevel::Unused, why));
        }
    }
}

/// `[a2a] default_agent` may be an agent or a workflow.
fn check_a2a_default_agent(workspace: &Workspace, available: &AvailableCapabilities) -> Option<Finding> {
    let named = workspace.config.a2a.default_agent.as_ref()?;
    let agents = workspace.agents.iter().map(|agent| &agent.spec.name);
    let known: BTreeSet<&str> = agents.chain(&available.workflows).map(String::as_str).collect();
    if known.contains(named.name.as_str()) {
        return None;
    }
    let why = format!("there is no workflow {:?} to be the default agent, and no such agent", named.name);
    let finding = Finding::error_finding(why).located_in_file(&workspace.folder.join(config::FILE));
    let finding = finding.located_at_line(Some(named.line)).located_at_key("a2a.default_agent");
    Some(add_nearest_name_suggestion(finding, &named.name, &known.into_iter().collect::<Vec<_>>()))
}

fn find_unused_models_and_servers(workspace: &Workspace) -> Vec<Finding> {
    let file = workspace.folder.join(config::FILE);
    let line = |name: &String| match workspace.config.models.get(name) {
        Some(Some(section)) => Some(section.line),
        _ => None,
    };
    let models = workspace.models.unused.iter().map(|name| {
        let finding = Finding::new(FindingLevel::Unused, "no agent uses this model").located_in_file(&file);
        finding.located_at_line(line(name)).located_at_key(format!("models.{name}"))
    });
    let is_off = |server: &NamedMcpServer| workspace.mcp.config.disabled.contains(&server.name);
    let is_allowed = |server: &NamedMcpServer| {
        let mut patterns = workspace.agents.iter().flat_map(|agent| &agent.spec.tools);
        patterns.any(|pattern| could_match_server_tool(pattern, server))
    };
    let servers = workspace.mcp.servers.iter();
    let servers = servers.filter(|server| !is_off(server) && !is_allowed(server)).map(|server| {
        let why = format!("no agent may use the tools of MCP server {:?}", server.name);
        let finding = Finding::new(FindingLevel::Unused, why)
            .located_in_file(&workspace.mcp.path)
            .located_at_line(server.line);
        let prefix = server.tool_prefix();
        finding.with_suggestion(format!("an agent allows them with tools: [\"{prefix}{JOINT}*\"]"))
    });
    models.chain(servers).collect()
}

/// The model of agents that name none.
fn default_model_finding(workspace: &Workspace) -> Finding {
    let models = &workspace.models;
    let from = &models.default_from;
    match models.all.get(&models.default) {
        Some(model) if model.service == ModelProviderKind::Offline => {
            let why = format!("agents are answered by {}, not by a model ({from})", model.model_label());
            Finding::new(FindingLevel::Note, why).with_suggestion(format!(
                "set {MODEL_VARIABLE}=openai/<model> with OPENAI_API_KEY or OPENAI_BASE_URL, or \
                 [defaults] model in trackway.toml"
            ))
        }
        Some(model) => Finding::new(
            FindingLevel::Note,
            format!("agents that name no model ask {} ({from})", model.model_label()),
        ),
        None => Finding::new(FindingLevel::Note, format!("the default model is {:?}", models.default)),
    }
}
