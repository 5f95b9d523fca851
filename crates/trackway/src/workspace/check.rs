//! Checks the references between the parts of a workspace: unknown names, and unused things.

use std::collections::{BTreeMap, BTreeSet};

use trackway_agent::{DISPATCH_PREFIX, REPLY_TOOL, STATUS_TOOL};
use trackway_definition::nearest;
use trackway_domain::matches_pattern as fits;

use super::{
    Workspace,
    agents::Agent,
    mcp::{JOINT, Named},
    meant,
    models::MODEL_VARIABLE,
};
use crate::workspace::{
    config::{self, Service},
    finding::{Finding, Level},
};

/// What exists in addition to the workspace's own files.
#[derive(Debug, Default)]
pub struct Surroundings {
    /// Workflows that agents can dispatch.
    pub workflows: Vec<String>,
    /// Workflows that exist but cannot be dispatched, and why.
    pub aside: BTreeMap<String, String>,
    /// Tools, without those of MCP servers.
    pub tools: Vec<String>,
}

/// Everything that is wrong, odd or unused about the names in a workspace.
pub fn check(workspace: &Workspace, there: &Surroundings) -> Vec<Finding> {
    let mut findings = Vec::new();
    for agent in &workspace.agents {
        own_name(agent, there, &mut findings);
        tools(agent, workspace, there, &mut findings);
        approvals(agent, there, &mut findings);
        workflows(agent, there, &mut findings);
        waits(agent, there, &mut findings);
        findings.extend(priceless(agent, workspace));
        for (index, peer) in agent.spec.peers.iter().enumerate() {
            let why = format!("there is no peer {peer:?}");
            findings.push(agent.at(&format!("peers[{index}]"), Level::Warning, why));
        }
    }
    findings.extend(door_default(workspace, there));
    findings.extend(unused(workspace));
    findings.push(default_model(workspace));
    findings
}

fn own_name(agent: &Agent, there: &Surroundings, findings: &mut Vec<Finding>) {
    let name = &agent.spec.name;
    if there.workflows.contains(name) || there.aside.contains_key(name) {
        let why = format!("there is a workflow {name:?} too; both would have one address");
        findings.push(agent.at("name", Level::Error, why).suggest("give the agent another name"));
    }
}

fn tools(agent: &Agent, workspace: &Workspace, there: &Surroundings, findings: &mut Vec<Finding>) {
    for (index, pattern) in agent.spec.tools.iter().enumerate() {
        let key = format!("tools[{index}]");
        if is_tool(pattern, workspace, there) {
            continue;
        }
        if let Some((server, _)) = pattern.split_once(JOINT).filter(|(name, _)| !is_open(name)) {
            let finding =
                agent.at(&key, Level::Error, format!("there is no MCP server {server:?}"));
            let known: Vec<&str> =
                workspace.mcp.servers.iter().map(|server| server.name.as_str()).collect();
            findings.push(match known.is_empty() {
                true => finding.suggest("mcp.json names the servers whose tools there are"),
                false => meant(finding, server, &known),
            });
        } else if is_open(pattern) {
            let why = format!("no tool fits {pattern:?}");
            findings.push(agent.at(&key, Level::Unused, why));
        } else {
            let finding = agent.at(&key, Level::Error, format!("there is no tool {pattern:?}"));
            let known: Vec<&str> = there.tools.iter().map(String::as_str).collect();
            findings.push(meant(finding, pattern, &known));
        }
    }
}

/// Approvals of tools and workflows that the agent does not have. A workflow has its own name or that of
/// the tool that dispatches it.
fn approvals(agent: &Agent, there: &Surroundings, findings: &mut Vec<Finding>) {
    let spec = &agent.spec;
    let is_allowed = |name: &&String| spec.workflows.iter().any(|pattern| fits(pattern, name));
    let workflows: Vec<&String> = there.workflows.iter().filter(is_allowed).collect();
    for approval in spec.approvals.keys() {
        let is_tool = spec.tools.iter().any(|pattern| {
            fits(pattern, approval)
                || fits(approval, pattern)
                || (is_open(approval) && is_open(pattern))
        });
        let is_workflow = workflows.iter().any(|name| {
            fits(approval, name) || fits(approval, &format!("{DISPATCH_PREFIX}{name}"))
        });
        let is_own = [REPLY_TOOL, STATUS_TOOL].iter().any(|name| fits(approval, name));
        if !is_tool && !is_workflow && !is_own {
            let why = format!("{:?} may not use {approval:?} at all", spec.name);
            let finding = agent.at(&format!("approvals.{approval}"), Level::Unused, why);
            let known = spec.tools.iter().chain(workflows.iter().copied()).map(String::as_str);
            findings.push(finding.meant(nearest(approval, known)));
        }
    }
}

/// A cost budget for a model without a price.
fn priceless(agent: &Agent, workspace: &Workspace) -> Option<Finding> {
    agent.spec.budgets.cost?;
    let models = &workspace.models;
    let name = agent.spec.model.as_ref().unwrap_or(&models.default);
    let model = models.all.get(name).filter(|model| model.service.is_remote())?;
    if model.price.is_some() {
        return None;
    }
    let why = format!("the model {name:?} has no price, so that no cost is counted");
    let finding = agent.at("budgets.cost", Level::Warning, why);
    Some(finding.suggest("give it a price in a section [models.NAME] of trackway.toml"))
}

/// Whether it can match more than one name.
fn is_open(pattern: &str) -> bool {
    pattern.contains('*')
}

/// Whether a pattern can match a tool. The tools of an MCP server are known only when it runs.
fn is_tool(pattern: &str, workspace: &Workspace, there: &Surroundings) -> bool {
    there.tools.iter().any(|tool| fits(pattern, tool))
        || workspace.mcp.servers.iter().any(|server| allows(pattern, server))
}

/// Whether a pattern could match a tool of this server.
fn allows(pattern: &str, server: &Named) -> bool {
    let prefix = server.prefix();
    match pattern.split_once(JOINT) {
        Some((before, _)) => fits(before, &prefix),
        // `*` and `fi*` match across the separator.
        None => pattern.split_once('*').is_some_and(|(before, _)| {
            let whole = format!("{prefix}{JOINT}");
            whole.starts_with(before)
        }),
    }
}

fn workflows(agent: &Agent, there: &Surroundings, findings: &mut Vec<Finding>) {
    for (index, pattern) in agent.spec.workflows.iter().enumerate() {
        if pattern == "*" || there.workflows.iter().any(|name| fits(pattern, name)) {
            continue;
        }
        let key = format!("workflows[{index}]");
        if is_open(pattern) {
            let why = format!("no workflow fits {pattern:?}");
            findings.push(agent.at(&key, Level::Unused, why));
        } else if let Some(why) = there.aside.get(pattern) {
            let why = format!("the workflow {pattern:?} cannot be dispatched: {why}");
            findings.push(agent.at(&key, Level::Error, why));
        } else {
            let finding = agent.at(&key, Level::Error, format!("there is no workflow {pattern:?}"));
            let known: Vec<&str> = there.workflows.iter().map(String::as_str).collect();
            findings.push(meant(finding, pattern, &known));
        }
    }
}

/// Timeouts for workflows that the agent cannot dispatch.
fn waits(agent: &Agent, there: &Surroundings, findings: &mut Vec<Finding>) {
    let spec = &agent.spec;
    for pattern in spec.first_answer_timeouts.keys() {
        let is_allowed = |name: &&String| spec.workflows.iter().any(|own| fits(own, name));
        if !there.workflows.iter().filter(is_allowed).any(|name| fits(pattern, name)) {
            let why = format!("{:?} dispatches no workflow that fits {pattern:?}", spec.name);
            let key = format!("first_answer_timeouts.{pattern}");
            findings.push(agent.at(&key, Level::Unused, why));
        }
    }
}

/// `[a2a] default_agent` may be an agent or a workflow.
fn door_default(workspace: &Workspace, there: &Surroundings) -> Option<Finding> {
    let named = workspace.config.a2a.default_agent.as_ref()?;
    let agents = workspace.agents.iter().map(|agent| &agent.spec.name);
    let known: BTreeSet<&str> = agents.chain(&there.workflows).map(String::as_str).collect();
    if known.contains(named.name.as_str()) {
        return None;
    }
    let why =
        format!("there is no workflow {:?} to be the default agent, and no such agent", named.name);
    let finding = Finding::error(why).file(&workspace.folder.join(config::FILE));
    let finding = finding.line(Some(named.line)).key("a2a.default_agent");
    Some(meant(finding, &named.name, &known.into_iter().collect::<Vec<_>>()))
}

fn unused(workspace: &Workspace) -> Vec<Finding> {
    let file = workspace.folder.join(config::FILE);
    let line = |name: &String| match workspace.config.models.get(name) {
        Some(Some(section)) => Some(section.line),
        _ => None,
    };
    let models = workspace.models.unused.iter().map(|name| {
        let finding = Finding::new(Level::Unused, "no agent uses this model").file(&file);
        finding.line(line(name)).key(format!("models.{name}"))
    });
    let is_off = |server: &Named| workspace.mcp.config.disabled.contains(&server.name);
    let is_allowed = |server: &Named| {
        let mut patterns = workspace.agents.iter().flat_map(|agent| &agent.spec.tools);
        patterns.any(|pattern| allows(pattern, server))
    };
    let servers = workspace.mcp.servers.iter();
    let servers = servers.filter(|server| !is_off(server) && !is_allowed(server)).map(|server| {
        let why = format!("no agent may use the tools of MCP server {:?}", server.name);
        let finding = Finding::new(Level::Unused, why).file(&workspace.mcp.path).line(server.line);
        let prefix = server.prefix();
        finding.suggest(format!("an agent allows them with tools: [\"{prefix}{JOINT}*\"]"))
    });
    models.chain(servers).collect()
}

/// The model of agents that name none.
fn default_model(workspace: &Workspace) -> Finding {
    let models = &workspace.models;
    let from = &models.default_from;
    match models.all.get(&models.default) {
        Some(model) if model.service == Service::Offline => {
            let why = format!("agents are answered by {}, not by a model ({from})", model.label());
            Finding::new(Level::Note, why).suggest(format!(
                "set {MODEL_VARIABLE}=openai/<model> with OPENAI_API_KEY or OPENAI_BASE_URL, or \
                 [defaults] model in trackway.toml"
            ))
        }
        Some(model) => Finding::new(
            Level::Note,
            format!("agents that name no model ask {} ({from})", model.label()),
        ),
        None => Finding::new(Level::Note, format!("the default model is {:?}", models.default)),
    }
}
