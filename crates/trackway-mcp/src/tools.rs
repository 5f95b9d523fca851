//! The tools of the door as clients see them: `tools.json` has the purpose, the parameters and the answer
//! of each.

pub(crate) mod advance_tool;
pub(crate) mod checkpoint_tool;
pub(crate) mod inspect_tool;
pub(crate) mod list_tool;
pub(crate) mod resume_tool;
pub(crate) mod start_tool;

use std::sync::{Arc, LazyLock};

use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool, ToolAnnotations};
use serde::Deserialize;
use serde_json::{Value, json};
use trackway_definition::follow_schema_references;

use crate::{
    arguments::{CheckedToolArguments, ToolParameter},
    refusal::ToolRefusal,
};

/// What this server offers in addition to the five tools that always exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CheckpointSwitches {
    /// `workflow_checkpoint` is offered.
    pub checkpoints: bool,
    /// `workflow_checkpoint` also accepts a session instead of a snapshot.
    pub session_checkpoints: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ToolName {
    List,
    Inspect,
    Start,
    Advance,
    Checkpoint,
    Resume,
}

impl ToolName {
    /// In the order in which they are listed, which is that of `tools.json`.
    pub(crate) const ALL: [Self; 6] =
        [Self::List, Self::Inspect, Self::Start, Self::Advance, Self::Checkpoint, Self::Resume];

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::List => "workflow_list",
            Self::Inspect => "workflow_inspect",
            Self::Start => "workflow_start",
            Self::Advance => "workflow_advance",
            Self::Checkpoint => "workflow_checkpoint",
            Self::Resume => "workflow_resume",
        }
    }

    pub(crate) fn find_by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.as_str() == name)
    }

    /// The description and the parameters of the tool, with the server's switches applied.
    fn tool_signature(self, switches: CheckpointSwitches) -> &'static ToolSignature {
        let tool = &TOOLS[self as usize];
        let with_sessions = tool.with_sessions.as_ref().filter(|_| switches.session_checkpoints);
        with_sessions.unwrap_or(&tool.signature)
    }

    /// The arguments of a call, if they fit the tool.
    pub(crate) fn parse_arguments(
        self,
        switches: CheckpointSwitches,
        raw: Option<Value>,
    ) -> Result<CheckedToolArguments, ToolRefusal> {
        CheckedToolArguments::parse_checked_arguments(
            self.as_str(),
            &self.tool_signature(switches).parameters,
            raw,
        )
    }

    fn to_mcp_tool(self, switches: CheckpointSwitches) -> Tool {
        let ToolSpec { annotations, output_schema, .. } = &TOOLS[self as usize];
        let ToolSignature { description, parameters } = self.tool_signature(switches);
        let mut tool =
            Tool::new(self.as_str(), description.as_str(), Arc::new(tool_input_schema(parameters)))
                .with_raw_output_schema(output_schema.clone())
                .with_annotations(annotations.clone());
        tool.title.clone_from(&annotations.title);
        tool
    }
}

/// A tool as it is in `tools.json`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ToolSpec {
    annotations: ToolAnnotations,
    #[serde(flatten)]
    signature: ToolSignature,
    /// Used if checkpoints also accept a session.
    with_sessions: Option<ToolSignature>,
    output_schema: Arc<JsonObject>,
}

#[derive(Deserialize)]
struct ToolSignature {
    description: String,
    parameters: Vec<ToolParameter>,
}

static TOOLS: LazyLock<Vec<ToolSpec>> = LazyLock::new(|| {
    let file: Value = serde_json::from_str(include_str!("tools.json")).expect("it is JSON");
    let mut tools = file["tools"].clone();
    inline_schema_refs(&mut tools, &file);
    serde_json::from_value(tools).expect("every tool has this form, as the tests prove")
});

/// Replaces the references in a schema by their targets: not every client follows references.
fn inline_schema_refs(schema: &mut Value, file: &Value) {
    if schema.get("$ref").is_some() {
        *schema = follow_schema_references(file, schema).clone();
    }
    match schema {
        Value::Array(items) => items.iter_mut().for_each(|item| inline_schema_refs(item, file)),
        Value::Object(entries) => entries.values_mut().for_each(|entry| inline_schema_refs(entry, file)),
        _ => {}
    }
}

fn tool_input_schema(parameters: &[ToolParameter]) -> JsonObject {
    let properties: JsonObject =
        parameters.iter().map(|parameter| (parameter.name.clone(), parameter.to_json_schema())).collect();
    let required = parameters.iter().filter(|parameter| parameter.required);
    let required: Vec<&str> = required.map(|parameter| parameter.name.as_str()).collect();
    let schema = [
        ("type", json!("object")),
        ("properties", Value::Object(properties)),
        ("required", json!(required)),
        ("additionalProperties", json!(false)),
    ];
    schema.map(|(key, value)| (key.to_owned(), value)).into_iter().collect()
}

/// Every tool that is offered, always in the same order.
pub(crate) fn list_enabled_tools(switches: CheckpointSwitches) -> Vec<Tool> {
    ToolName::ALL
        .into_iter()
        .filter(|name| *name != ToolName::Checkpoint || switches.checkpoints)
        .map(|name| name.to_mcp_tool(switches))
        .collect()
}

/// An answer as JSON and as text.
pub(crate) fn tool_result(text: String, structured: Value) -> CallToolResult {
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.structured_content = Some(structured);
    result
}
