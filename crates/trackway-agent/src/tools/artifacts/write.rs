//! `artifact_write`: what the model leaves behind.

use serde_json::{Value, json};
use trackway_domain::{Artifact, ArtifactId, Failure, Part};
use trackway_runtime::{Tool, ToolCall, ToolFuture, ToolInfo, ToolOutput};

use crate::tools::shelf::is_talk;

/// Largest text of one artifact. It is recorded with the run.
/// Limit (Agents): text of an artifact that an agent writes.
const TEXT_BYTES_MAX: usize = 1024 * 1024;

#[derive(Debug)]
pub(in crate::tools) struct ArtifactWrite {
    info: ToolInfo,
}

impl ArtifactWrite {
    pub(in crate::tools) fn new() -> Self {
        let description = "Writes an artifact (a document or data) that the user can keep. Writing the \
                           same name again in this turn replaces it.";
        let info = ToolInfo {
            name: "artifact_write".to_owned(),
            description: description.to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "name": {"type": "string", "description": "A file-like name such as report.md"},
                    "text": {"type": "string", "description": "Its content, where it is text"},
                    "data": {"description": "Its content, where it is JSON"},
                    "description": {"type": "string"},
                },
                "required": ["name"],
                "additionalProperties": false,
            }),
        };
        Self { info }
    }
}

impl Tool for ArtifactWrite {
    fn info(&self) -> &ToolInfo {
        &self.info
    }

    fn call(&self, arguments: Value, call: ToolCall) -> ToolFuture {
        Box::pin(async move {
            let artifact = made(&arguments)?;
            let id = artifact.id.clone();
            call.artifact(artifact).await?;
            Ok(ToolOutput::from(json!({"written": id})))
        })
    }
}

/// The artifact that the arguments describe.
pub(super) fn made(arguments: &Value) -> Result<Artifact, Failure> {
    let name = arguments["name"].as_str().unwrap_or_default();
    if is_talk(name) {
        return Err(Failure::new(format!(
            "{name:?} is the name of a part of the conversation itself"
        )));
    }
    let id = ArtifactId::new(name).map_err(|error| Failure::new(error.to_string()))?;
    let part = match (arguments.get("text"), arguments.get("data")) {
        (Some(Value::String(text)), None) => Part::text(text.clone()),
        (None, Some(data)) => Part::data(data.clone()),
        _ => return Err(Failure::new("give either `text` or `data`")),
    };
    if crate::tools::shelf::size(&part) > TEXT_BYTES_MAX {
        return Err(Failure::new("it is larger than 1 MiB; write it in several artifacts"));
    }
    if part.is_too_deep() {
        return Err(Failure::new("its data is nested too deeply"));
    }
    let artifact = Artifact::new(id, vec![part]).named(name);
    Ok(match arguments["description"].as_str() {
        Some(description) => artifact.described(description),
        None => artifact,
    })
}
