//! The tools that a model is offered, and the target of each name.
//!
//! Each workflow that the agent may dispatch is the tool `dispatch_workflow_<name>` with the workflow's
//! input schema (D1), in addition to the tools that it may call (D7) and those of the peers that it may
//! call (I3). The set is rebuilt if something changed before a model call. Its order is stable, so that providers can cache the part before the
//! conversation.

mod tool_name_assignment;
mod toolset_cache;

use std::{collections::BTreeMap, fmt, sync::Arc};

use serde_json::Value;
use trackway_domain::matches_wildcard;
use trackway_runtime::{ArgumentsSchema, ProgramInfo, ToolInfo, ToolOrigin, nearest_known_word};

use crate::{AgentSpec, ToolPermission, ToolSpec};

pub use tool_name_assignment::{DISPATCH_PREFIX, PEER_WORKFLOW_PREFIX, REPLY_TOOL, STATUS_TOOL};
pub(crate) use toolset_cache::ToolsetCache;

/// Longest description that a model receives; some servers reject longer ones.
/// Limit (Agents): description of a tool that a model is given.
const DESCRIPTION_CHARS_MAX: usize = 1_024;

/// Names that the error about an unknown tool lists. A model with more tools already has the list.
/// Limit (Agents): tool names in the error about an unknown tool.
const NAMES_TOLD_MAX: usize = 20;

/// The tools of a model call.
#[derive(Debug, Clone, Default)]
pub struct Toolset {
    /// By name.
    tools: Vec<OfferedTool>,
}

/// A tool as the model knows it, and its target.
#[derive(Debug, Clone, PartialEq)]
pub struct OfferedTool {
    pub spec: Arc<ToolSpec>,
    pub target: ToolTarget,
    pub approval: ToolPermission,
    /// Where its work is done.
    pub origin: ToolOrigin,
    /// The input is the property `input` of the arguments.
    is_wrapped: bool,
}

/// The target of a name, by its own name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ToolTarget {
    Workflow(String),
    Tool(String),
    /// The tool of the peer of that name.
    Peer(String),
}

/// A call of an unknown tool. It prints as the message for the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownToolError {
    pub called: String,
    pub meant: Option<String>,
    pub known: Vec<String>,
}

impl Toolset {
    /// The tools of an agent, from all workflows and tools. An agent does not dispatch itself.
    pub fn new<'a>(
        spec: &AgentSpec,
        workflows: impl IntoIterator<Item = &'a ProgramInfo>,
        tools: impl IntoIterator<Item = &'a ToolInfo>,
    ) -> Self {
        let allowed =
            |patterns: &[String], name: &str| patterns.iter().any(|pattern| matches_wildcard(pattern, name));
        let workflows = workflows.into_iter().filter(|info| info.name != spec.name);
        let workflows = workflows.filter(|info| allowed(&spec.workflows, &info.name));
        let mut wanted: Vec<ToolCandidate<'_>> =
            workflows.map(ToolCandidate::candidate_from_workflow).collect();
        // A peer is selected by its own name; `tools` never reaches elsewhere.
        let tools = tools.into_iter().filter(|info| match info.origin.peer_name() {
            Some(peer) => allowed(&spec.peers, peer),
            None => allowed(&spec.tools, &info.name),
        });
        wanted.extend(tools.map(ToolCandidate::candidate_from_tool));
        // The result does not depend on the order of the inputs.
        wanted.sort_by(|a, b| a.target.cmp(&b.target));
        wanted.dedup_by(|later, first| later.target == first.target);

        let names = tool_name_assignment::assign_tool_names(
            &wanted.iter().map(|wanted| wanted.name.clone()).collect::<Vec<_>>(),
        );
        let mut tools: Vec<OfferedTool> = wanted
            .into_iter()
            .zip(names)
            .map(|(wanted, name)| wanted.into_offered_tool(name, &spec.approvals))
            .collect();
        tools.sort_by(|a, b| a.spec.name.cmp(&b.spec.name));
        Self { tools }
    }

    /// The tools for the model: all except those that may never be called.
    pub fn tool_specs(&self) -> Vec<Arc<ToolSpec>> {
        let shown = self.tools.iter().filter(|offered| offered.approval != ToolPermission::Deny);
        shown.map(|offered| offered.spec.clone()).collect()
    }

    /// Whether the model is offered a workflow of a peer, which takes its input in two ways.
    pub fn offers_peer_workflow(&self) -> bool {
        self.tools.iter().any(|offered| {
            offered.approval != ToolPermission::Deny
                && matches!(offered.origin, ToolOrigin::PeerWorkflow { .. })
        })
    }

    /// The target of a name that the model called. The approval decides whether the call continues.
    pub fn find_offered_tool(&self, tool_name: &str) -> Result<&OfferedTool, UnknownToolError> {
        let found = self.tools.iter().find(|offered| offered.spec.name == tool_name);
        found.ok_or_else(|| {
            let known: Vec<String> = self.tool_specs().iter().map(|spec| spec.name.clone()).collect();
            // Models omit a prefix more often than they misspell a name.
            let bare = known.iter().find(|name| {
                tool_name_assignment::strip_tool_name_prefix(name)
                    == tool_name_assignment::strip_tool_name_prefix(tool_name)
            });
            let meant = bare.map(String::as_str);
            let meant = meant.or_else(|| nearest_known_word(tool_name, known.iter().map(String::as_str)));
            UnknownToolError { called: tool_name.to_owned(), meant: meant.map(str::to_owned), known }
        })
    }
}

impl OfferedTool {
    /// The input of the workflow or tool for these arguments.
    pub fn tool_input_from_arguments(&self, arguments: Value) -> Value {
        ArgumentsSchema::input_from_arguments(arguments, self.is_wrapped)
    }
}

impl fmt::Display for UnknownToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "There is no tool {:?}.", self.called)?;
        match &self.meant {
            Some(meant) => write!(f, " Did you mean {meant:?}?"),
            None if self.known.is_empty() => f.write_str(" There are no tools."),
            None => {
                let told: Vec<&str> = self.known.iter().take(NAMES_TOLD_MAX).map(String::as_str).collect();
                let more = if self.known.len() > NAMES_TOLD_MAX { ", …" } else { "" };
                write!(f, " There are: {}{more}.", told.join(", "))
            }
        }
    }
}

impl std::error::Error for UnknownToolError {}

/// A candidate for the set, before it has its name.
struct ToolCandidate<'a> {
    /// The preferred name, before invalid characters are replaced.
    name: String,
    target: ToolTarget,
    description: &'a str,
    schema: &'a Value,
    origin: ToolOrigin,
}

impl<'a> ToolCandidate<'a> {
    fn candidate_from_workflow(info: &'a ProgramInfo) -> Self {
        Self {
            name: format!("{DISPATCH_PREFIX}{}", info.name),
            target: ToolTarget::Workflow(info.name.clone()),
            description: &info.description,
            schema: &info.input_schema,
            origin: ToolOrigin::Local,
        }
    }

    fn candidate_from_tool(info: &'a ToolInfo) -> Self {
        let target = match info.origin.peer_name() {
            Some(peer) => ToolTarget::Peer(peer.to_owned()),
            None => ToolTarget::Tool(info.name.clone()),
        };
        Self {
            name: info.name.clone(),
            target,
            description: &info.description,
            schema: &info.input_schema,
            origin: info.origin.clone(),
        }
    }

    fn into_offered_tool(self, name: String, approvals: &BTreeMap<String, ToolPermission>) -> OfferedTool {
        let own = match &self.target {
            ToolTarget::Workflow(name) | ToolTarget::Tool(name) | ToolTarget::Peer(name) => name,
        };
        let approval = match &self.target {
            ToolTarget::Peer(peer) => permission_for_tool_names(approvals, &[peer, &self.name, &name]),
            ToolTarget::Workflow(_) | ToolTarget::Tool(_) => {
                permission_for_tool_names(approvals, &[own, &name])
            }
        };
        let description = match self.description.trim() {
            "" => format!("Runs {own}."),
            text if text.chars().count() > DESCRIPTION_CHARS_MAX => {
                let cut = text.chars().take(DESCRIPTION_CHARS_MAX - 1);
                cut.chain(['…']).collect()
            }
            text => text.to_owned(),
        };
        let ArgumentsSchema { schema, is_wrapped } = ArgumentsSchema::from_input_schema(self.schema);
        let spec = Arc::new(ToolSpec { name, description, schema });
        OfferedTool { spec, target: self.target, approval, origin: self.origin, is_wrapped }
    }
}

/// The approval of the longest pattern that matches one of the names; among equally long patterns the
/// strictest. Without a matching pattern no approval is needed.
pub(crate) fn permission_for_tool_names(
    approvals: &BTreeMap<String, ToolPermission>,
    names: &[&str],
) -> ToolPermission {
    let strictness = |approval: ToolPermission| match approval {
        ToolPermission::Allow => 0,
        ToolPermission::Ask => 1,
        ToolPermission::Deny => 2,
    };
    approvals
        .iter()
        .filter(|(pattern, _)| names.iter().any(|name| matches_wildcard(pattern, name)))
        .max_by_key(|(pattern, approval)| (pattern.len(), strictness(**approval)))
        .map_or(ToolPermission::Allow, |(_, approval)| *approval)
}

#[cfg(test)]
mod tests;
