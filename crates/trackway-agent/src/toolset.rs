//! The tools that a model is offered, and the target of each name.
//!
//! Each workflow that the agent may dispatch is the tool `dispatch_workflow_<name>` with the workflow's
//! input schema (D1), in addition to the tools that it may call (D7). The set is rebuilt if something
//! changed before a model call. Its order is stable, so that providers can cache the part before the
//! conversation.

mod kept;
mod name;

use std::{collections::BTreeMap, fmt, sync::Arc};

use serde_json::{Value, json};
use trackway_domain::matches_pattern;
use trackway_runtime::{ProgramInfo, ToolInfo, nearest};

use crate::{AgentSpec, Approval, ToolSpec};

pub(crate) use kept::KeptToolsets;
pub use name::{DISPATCH_PREFIX, REPLY_TOOL, STATUS_TOOL};

/// Longest description that a model receives; some servers reject longer ones.
/// Limit (Agents): description of a tool that a model is given.
const DESCRIPTION_CHARS_MAX: usize = 1_024;

/// Names that the error about an unknown tool lists. A model with more tools already has the list.
/// Limit (Agents): tool names in the error about an unknown tool.
const NAMES_TOLD_MAX: usize = 20;

/// The property for an input that is not an object.
const WRAP: &str = "input";

/// The tools of a model call.
#[derive(Debug, Clone, Default)]
pub struct Toolset {
    /// By name.
    tools: Vec<Offered>,
}

/// A tool as the model knows it, and its target.
#[derive(Debug, Clone, PartialEq)]
pub struct Offered {
    pub spec: Arc<ToolSpec>,
    pub target: Target,
    pub approval: Approval,
    /// The input is the property `input` of the arguments.
    wrapped: bool,
}

/// The target of a name, by its own name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    Workflow(String),
    Tool(String),
}

/// A call of an unknown tool. It prints as the message for the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownTool {
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
        let allowed = |patterns: &[String], name: &str| {
            patterns.iter().any(|pattern| matches_pattern(pattern, name))
        };
        let workflows = workflows.into_iter().filter(|info| info.name != spec.name);
        let workflows = workflows.filter(|info| allowed(&spec.workflows, &info.name));
        let mut wanted: Vec<Wanted<'_>> = workflows.map(Wanted::workflow).collect();
        let tools = tools.into_iter().filter(|info| allowed(&spec.tools, &info.name));
        wanted.extend(tools.map(Wanted::tool));
        // The result does not depend on the order of the inputs.
        wanted.sort_by(|a, b| a.target.cmp(&b.target));
        wanted.dedup_by(|later, first| later.target == first.target);

        let names =
            name::assigned(&wanted.iter().map(|wanted| wanted.name.clone()).collect::<Vec<_>>());
        let mut tools: Vec<Offered> = wanted
            .into_iter()
            .zip(names)
            .map(|(wanted, name)| wanted.offered(name, &spec.approvals))
            .collect();
        tools.sort_by(|a, b| a.spec.name.cmp(&b.spec.name));
        Self { tools }
    }

    /// The tools for the model: all except those that may never be called.
    pub fn specs(&self) -> Vec<Arc<ToolSpec>> {
        let shown = self.tools.iter().filter(|offered| offered.approval != Approval::Deny);
        shown.map(|offered| offered.spec.clone()).collect()
    }

    /// The target of a name that the model called. The approval decides whether the call continues.
    pub fn find(&self, called: &str) -> Result<&Offered, UnknownTool> {
        let found = self.tools.iter().find(|offered| offered.spec.name == called);
        found.ok_or_else(|| {
            let known: Vec<String> = self.specs().iter().map(|spec| spec.name.clone()).collect();
            // Models omit a prefix more often than they misspell a name.
            let bare = known.iter().find(|name| name::bare(name) == name::bare(called));
            let meant = bare.map(String::as_str);
            let meant = meant.or_else(|| nearest(called, known.iter().map(String::as_str)));
            UnknownTool { called: called.to_owned(), meant: meant.map(str::to_owned), known }
        })
    }
}

impl Offered {
    /// The input of the workflow or tool for these arguments.
    pub fn input(&self, arguments: Value) -> Value {
        match arguments {
            Value::Object(mut object) if self.wrapped => object.remove(WRAP).unwrap_or(Value::Null),
            arguments => arguments,
        }
    }
}

impl fmt::Display for UnknownTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "There is no tool {:?}.", self.called)?;
        match &self.meant {
            Some(meant) => write!(f, " Did you mean {meant:?}?"),
            None if self.known.is_empty() => f.write_str(" There are no tools."),
            None => {
                let told: Vec<&str> =
                    self.known.iter().take(NAMES_TOLD_MAX).map(String::as_str).collect();
                let more = if self.known.len() > NAMES_TOLD_MAX { ", …" } else { "" };
                write!(f, " There are: {}{more}.", told.join(", "))
            }
        }
    }
}

impl std::error::Error for UnknownTool {}

/// A candidate for the set, before it has its name.
struct Wanted<'a> {
    /// The preferred name, before invalid characters are replaced.
    name: String,
    target: Target,
    description: &'a str,
    schema: &'a Value,
}

impl<'a> Wanted<'a> {
    fn workflow(info: &'a ProgramInfo) -> Self {
        Self {
            name: format!("{DISPATCH_PREFIX}{}", info.name),
            target: Target::Workflow(info.name.clone()),
            description: &info.description,
            schema: &info.input_schema,
        }
    }

    fn tool(info: &'a ToolInfo) -> Self {
        Self {
            name: info.name.clone(),
            target: Target::Tool(info.name.clone()),
            description: &info.description,
            schema: &info.input_schema,
        }
    }

    fn offered(self, name: String, approvals: &BTreeMap<String, Approval>) -> Offered {
        let own = match &self.target {
            Target::Workflow(name) | Target::Tool(name) => name,
        };
        let approval = approval(approvals, [own, &name]);
        let description = match self.description.trim() {
            "" => format!("Runs {own}."),
            text if text.chars().count() > DESCRIPTION_CHARS_MAX => {
                let cut = text.chars().take(DESCRIPTION_CHARS_MAX - 1);
                cut.chain(['…']).collect()
            }
            text => text.to_owned(),
        };
        let (schema, wrapped) = schema_for_model(self.schema);
        let spec = Arc::new(ToolSpec { name, description, schema });
        Offered { spec, target: self.target, approval, wrapped }
    }
}

/// The approval of the longest pattern that matches one of the names; among equally long patterns the
/// strictest. Without a matching pattern no approval is needed.
pub(crate) fn approval(approvals: &BTreeMap<String, Approval>, names: [&str; 2]) -> Approval {
    let strictness = |approval: Approval| match approval {
        Approval::Allow => 0,
        Approval::Ask => 1,
        Approval::Deny => 2,
    };
    approvals
        .iter()
        .filter(|(pattern, _)| names.iter().any(|name| matches_pattern(pattern, name)))
        .max_by_key(|(pattern, approval)| (pattern.len(), strictness(**approval)))
        .map_or(Approval::Allow, |(_, approval)| *approval)
}

/// The schema of the arguments, which are always an object with the root type that servers expect, and
/// whether the input is only its property [`WRAP`].
fn schema_for_model(schema: &Value) -> (Value, bool) {
    let Value::Object(given) = schema else {
        // `true` accepts everything, including an object; any other non-object is not a schema.
        return (json!({ "type": "object" }), false);
    };
    match given.get("type") {
        Some(Value::String(kind)) if kind == "object" => (schema.clone(), false),
        None if !given.contains_key("enum") && !given.contains_key("const") => {
            let mut given = given.clone();
            given.insert("type".to_owned(), "object".into());
            (Value::Object(given), false)
        }
        _ => {
            let property =
                json!({ "type": "object", "properties": { WRAP: schema }, "required": [WRAP] });
            (property, true)
        }
    }
}

#[cfg(test)]
mod tests;
