//! Checks the references between the parts of a workspace: unknown names, and unused things.

use std::collections::{BTreeMap, BTreeSet};

use trackway_agent::{DISPATCH_PREFIX, REPLY_TOOL, STATUS_TOOL};
use trackway_definition::nearest;
use trackway_domain::matches_pattern as fits;

use super::{
    Workspace,
    agent_files::AgentFile,
    mcp_file::{JOINT, NamedServer},
    models::MODEL_VARIABLE,
    suggest_nearest,
};
use crate::workspace::{
    config::{self, ProviderKind},
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
pub fn check_workspace(workspace: &Workspace, there: &AvailableCapabilities) -> Vec<Finding> {
    let mut findings = Vec::new();
    for agent in &workspace.agents {
        check_agent_name(agent, there, &mut findings);
        check_tools(agent, workspace, there, &mut findings);
        check_approvals(agent, there, &mut findings);
        check_workflows(agent, there, &mut findings);
        check_first_answer_timeouts(agent, there, &mut findings);
        findings.extend(check_cost_budget(agent, workspace));
        for (index, peer) in agent.spec.peers.iter().enumerate() {
            let why = format!("there is no peer {peer:?}");
            findings.push(agent.finding_at(&format!("peers[{index}]"), FindingLevel::Warning, why));
        }
    }
    findings.extend(check_a2a_default_agent(workspace, there));
    findings.extend(find_unused(workspace));
    findings.push(describe_default_model(workspace));
    findings
}

fn check_agent_name(agent: &AgentFile, there: &AvailableCapabilities, findings: &mut Vec<Finding>) {
    let name = &agent.spec.name;
    if there.workflows.contains(name) || there.unavailable_workflows.contains_key(name) {
        let why = format!("there is a workflow {name:?} too; both would have one address");
        findings.push(
            agent.finding_at("name", FindingLevel::Error, why).with_suggestion("give the agent another name"),
        );
    }
}

fn check_tools(
    agent: &AgentFile,
    workspace: &Workspace,
    there: &AvailableCapabilities,
    findings: &mut Vec<Finding>,
) {
    for (index, pattern) in agent.spec.tools.iter().enumerate() {
        let key = format!("tools[{index}]");
        if matches_any_tool(pattern, workspace, there) {
            continue;
        }
        if let Some((server, _)) = pattern.split_once(JOINT).filter(|(name, _)| !is_wildcard(name)) {
            let finding =
                agent.finding_at(&key, FindingLevel::Error, format!("there is no MCP server {server:?}"));
            let known: Vec<&str> = workspace.mcp.servers.iter().map(|server| server.name.as_str()).collect();
            findings.push(match known.is_empty() {
                true => finding.with_suggestion("mcp.json names the servers whose tools there are"),
                false => suggest_nearest(finding, server, &known),
            });
        } else if is_wildcard(pattern) {
            let why = format!("no tool fits {pattern:?}");
            findings.push(agent.finding_at(&key, FindingLevel::Unused, why));
        } else {
            let finding =
                agent.finding_at(&key, FindingLevel::Error, format!("there is no tool {pattern:?}"));
            let known: Vec<&str> = there.tools.iter().map(String::as_str).collect();
            findings.push(suggest_nearest(finding, pattern, &known));
        }
    }
}

/// Approvals of tools and workflows that the agent does not have. A workflow has its own name or that of
/// the tool that dispatches it.
fn check_approvals(agent: &AgentFile, there: &AvailableCapabilities, findings: &mut Vec<Finding>) {
    let spec = &agent.spec;
    let is_allowed = |name: &&String| spec.workflows.iter().any(|pattern| fits(pattern, name));
    let workflows: Vec<&String> = there.workflows.iter().filter(is_allowed).collect();
    for approval in spec.approvals.keys() {
        let is_tool = spec.tools.iter().any(|pattern| {
            fits(pattern, approval)
                || fits(approval, pattern)
                || (is_wildcard(approval) && is_wildcard(pattern))
        });
        let is_workflow = workflows
            .iter()
            .any(|name| fits(approval, name) || fits(approval, &format!("{DISPATCH_PREFIX}{name}")));
        let is_own = [REPLY_TOOL, STATUS_TOOL].iter().any(|name| fits(approval, name));
        if !is_tool && !is_workflow && !is_own {
            let why = format!("{:?} may not use {approval:?} at all", spec.name);
            let finding = agent.finding_at(&format!("approvals.{approval}"), FindingLevel::Unused, why);
            let known = spec.tools.iter().chain(workflows.iter().copied()).map(String::as_str);
            findings.push(finding.with_nearest_name(nearest(approval, known)));
        }
    }
}

/// A cost budget for a model without a price.
fn check_cost_budget(agent: &AgentFile, workspace: &Workspace) -> Option<Finding> {
    agent.spec.budgets.cost?;
    let models = &workspace.models;
    let name = agent.spec.model.as_ref().unwrap_or(&models.default);
    let model = models.all.get(name).filter(|model| model.service.is_remote())?;
    if model.price.is_some() {
        return None;
    }
    let why = format!("the model {name:?} has no price, so that no cost is counted");
    let finding = agent.finding_at("budgets.cost", FindingLevel::Warning, why);
    Some(finding.with_suggestion("give it a price in a section [models.NAME] of trackway.toml"))
}

/// Whether it can match more than one name.
fn is_wildcard(pattern: &str) -> bool {
    pattern.contains('*')
}

/// Whether a pattern can match a tool. The tools of an MCP server are known only when it runs.
fn matches_any_tool(pattern: &str, workspace: &Workspace, there: &AvailableCapabilities) -> bool {
    there.tools.iter().any(|tool| fits(pattern, tool))
        || workspace.mcp.servers.iter().any(|server| could_match_server_tool(pattern, server))
}

/// Whether a pattern could match a tool of this server.
fn could_match_server_tool(pattern: &str, server: &NamedServer) -> bool {
    let prefix = server.tool_prefix();
    match pattern.split_once(JOINT) {
        Some((before, _)) => fits(before, &prefix),
        // `*` and `fi*` match across the separator.
        None => pattern.split_once('*').is_some_and(|(before, _)| {
            let whole = format!("{prefix}{JOINT}");
            whole.starts_with(before)
        }),
    }
}

fn check_workflows(agent: &AgentFile, there: &AvailableCapabilities, findings: &mut Vec<Finding>) {
    for (index, pattern) in agent.spec.workflows.iter().enumerate() {
        if pattern == "*" || there.workflows.iter().any(|name| fits(pattern, name)) {
            continue;
        }
        let key = format!("workflows[{index}]");
        if is_wildcard(pattern) {
            let why = format!("no workflow fits {pattern:?}");
            findings.push(agent.finding_at(&key, FindingLevel::Unused, why));
        } else if let Some(why) = there.unavailable_workflows.get(pattern) {
            let why = format!("the workflow {pattern:?} cannot be dispatched: {why}");
            findings.push(agent.finding_at(&key, FindingLevel::Error, why));
        } else {
            let finding =
                agent.finding_at(&key, FindingLevel::Error, format!("there is no workflow {pattern:?}"));
            let known: Vec<&str> = there.workflows.iter().map(String::as_str).collect();
            findings.push(suggest_nearest(finding, pattern, &known));
        }
    }
}

/// Timeouts for workflows that the agent cannot dispatch.
fn check_first_answer_timeouts(
    agent: &AgentFile,
    there: &AvailableCapabilities,
    findings: &mut Vec<Finding>,
) {
    let spec = &agent.spec;
    for pattern in spec.first_answer_timeouts.keys() {
        let is_allowed = |name: &&String| spec.workflows.iter().any(|own| fits(own, name));
        if !there.workflows.iter().filter(is_allowed).any(|name| fits(pattern, name)) {
            let why = format!("{:?} dispatches no workflow that fits {pattern:?}", spec.name);
            let key = format!("first_answer_timeouts.{pattern}");
            findings.push(agent.finding_at(&key, FindingLevel::Unused, why));
        }
    }
}

/// `[a2a] default_agent` may be an agent or a workflow.
fn check_a2a_default_agent(workspace: &Workspace, there: &AvailableCapabilities) -> Option<Finding> {
    let named = workspace.config.a2a.default_agent.as_ref()?;
    let agents = workspace.agents.iter().map(|agent| &agent.spec.name);
    let known: BTreeSet<&str> = agents.chain(&there.workflows).map(String::as_str).collect();
    if known.contains(named.name.as_str()) {
        return None;
    }
    let why = format!("there is no workflow {:?} to be the default agent, and no such agent", named.name);
    let finding = Finding::error(why).with_file(&workspace.folder.join(config::FILE));
    let finding = finding.with_line(Some(named.line)).with_key("a2a.default_agent");
    Some(suggest_nearest(finding, &named.name, &known.into_iter().collect::<Vec<_>>()))
}

fn find_unused(workspace: &Workspace) -> Vec<Finding> {
    let file = workspace.folder.join(config::FILE);
    let line = |name: &String| match workspace.config.models.get(name) {
        Some(Some(section)) => Some(section.line),
        _ => None,
    };
    let models = workspace.models.unused.iter().map(|name| {
        let finding = Finding::new(FindingLevel::Unused, "no agent uses this model").with_file(&file);
        finding.with_line(line(name)).with_key(format!("models.{name}"))
    });
    let is_off = |server: &NamedServer| workspace.mcp.config.disabled.contains(&server.name);
    let is_allowed = |server: &NamedServer| {
        let mut patterns = workspace.agents.iter().flat_map(|agent| &agent.spec.tools);
        patterns.any(|pattern| could_match_server_tool(pattern, server))
    };
    let servers = workspace.mcp.servers.iter();
    let servers = servers.filter(|server| !is_off(server) && !is_allowed(server)).map(|server| {
        let why = format!("no agent may use the tools of MCP server {:?}", server.name);
        let finding =
            Finding::new(FindingLevel::Unused, why).with_file(&workspace.mcp.path).with_line(server.line);
        let prefix = server.tool_prefix();
        finding.with_suggestion(format!("an agent allows them with tools: [\"{prefix}{JOINT}*\"]"))
    });
    models.chain(servers).collect()
}

/// The model of agents that name none.
fn describe_default_model(workspace: &Workspace) -> Finding {
    let models = &workspace.models;
    let from = &models.default_from;
    match models.all.get(&models.default) {
        Some(model) if model.service == ProviderKind::Offline => {
            let why = format!("agents are answered by {}, not by a model ({from})", model.label());
            Finding::new(FindingLevel::Note, why).with_suggestion(format!(
                "set {MODEL_VARIABLE}=openai/<model> with OPENAI_API_KEY or OPENAI_BASE_URL, or \
                 [defaults] model in trackway.toml"
            ))
        }
        Some(model) => Finding::new(
            FindingLevel::Note,
            format!("agents that name no model ask {} ({from})", model.label()),
        ),
        None => Finding::new(FindingLevel::Note, format!("the default model is {:?}", models.default)),
    }
}
