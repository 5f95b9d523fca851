//! `artifact_list`: what there is.

use serde_json::{Value, json};
use trackway_runtime::{Tool, ToolCall, ToolFuture, ToolInfo, ToolOutput};

use crate::tools::shelf::{Kept, kind, look_through, size};

/// Most artifacts that are listed, the newest runs first.
/// Limit (Agents): artifacts that the listing tool names.
const LISTED_MAX: usize = 200;

#[derive(Debug)]
pub(in crate::tools) struct ArtifactList {
    info: ToolInfo,
}

impl ArtifactList {
    pub(in crate::tools) fn new() -> Self {
        let description = "Lists the artifacts (documents, data, files) of this conversation: name, \
                           task and workflow that made them, kinds of content and size.";
        let info = ToolInfo {
            name: "artifact_list".to_owned(),
            description: description.to_owned(),
            input_schema: json!({"type": "object", "properties": {}, "additionalProperties": false}),
        };
        Self { info }
    }
}

impl Tool for ArtifactList {
    fn info(&self) -> &ToolInfo {
        &self.info
    }

    fn call(&self, _: Value, call: ToolCall) -> ToolFuture {
        Box::pin(async move {
            let kept = look_through(&call).await?;
            let listed: Vec<Value> = kept.iter().take(LISTED_MAX).map(entry).collect();
            let mut value = json!({"artifacts": listed});
            if kept.len() > LISTED_MAX {
                value["truncated"] = json!(true);
            }
            Ok(ToolOutput::from(value))
        })
    }
}

fn entry(kept: &Kept) -> Value {
    let artifact = &kept.artifact;
    let mut kinds: Vec<&str> = artifact.parts.iter().map(kind).collect();
    kinds.dedup();
    let mut entry = json!({
        "name": artifact.id,
        "taskId": kept.run,
        "workflow": kept.workflow,
        "kinds": kinds,
        "bytes": artifact.parts.iter().map(size).sum::<usize>(),
    });
    if let Some(title) = artifact.name.as_deref().filter(|name| *name != artifact.id.as_str()) {
        entry["title"] = json!(title);
    }
    if let Some(description) = &artifact.description {
        entry["description"] = json!(description);
    }
    entry
}
