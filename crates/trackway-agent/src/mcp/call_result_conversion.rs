//! Converts a server's answer to a call into a tool result.

use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde_json::Value;
use trackway_domain::{Failure, File, FileSource, Part};
use trackway_runtime::ToolOutput;

/// Largest accepted result, with base64 counted as it is written. A model cannot read more, and the
/// result is recorded.
/// Limit (Tools): result of one call.
const RESULT_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The outcome of a call. The value is the structured content if there is any, else the text. Parts are
/// added if the value alone would lose something.
pub(super) fn to_tool_output(server: &str, result: CallToolResult) -> Result<ToolOutput, Failure> {
    let size = call_result_size(&result);
    if size > RESULT_BYTES_MAX {
        let text = format!(
            "the result of the MCP server `{server}` has {size} bytes; at most {RESULT_BYTES_MAX} \
             are taken"
        );
        return Err(Failure::new(text));
    }
    let text = join_text_blocks(&result.content);
    if result.is_error == Some(true) {
        let text = match (text.is_empty(), result.structured_content) {
            (false, _) => text,
            (true, Some(value)) => value.to_string(),
            (true, None) => format!("the MCP server `{server}` says that it failed, not why"),
        };
        return Err(Failure::new(text));
    }
    let is_text_only = result.content.iter().all(|block| block.as_text().is_some());
    let structured = result.structured_content;
    let mut parts = Vec::new();
    if !is_text_only {
        // Servers should repeat structured content as text. If one does not, it is added to the parts.
        if let Some(value) = structured.as_ref().filter(|value| !text_repeats_value(&result.content, value)) {
            parts.push(Part::data(value.clone()));
        }
        parts.extend(result.content.into_iter().filter_map(content_block_to_part));
    }
    Ok(ToolOutput { value: structured.unwrap_or(Value::String(text)), parts, is_error: false })
}

fn join_text_blocks(content: &[ContentBlock]) -> String {
    let texts: Vec<&str> = content.iter().filter_map(|block| Some(&*block.as_text()?.text)).collect();
    texts.join("\n")
}

/// Whether one of the texts is this value.
fn text_repeats_value(content: &[ContentBlock], value: &Value) -> bool {
    let mut texts = content.iter().filter_map(ContentBlock::as_text);
    texts.any(|text| serde_json::from_str::<Value>(&text.text).is_ok_and(|said| said == *value))
}

fn content_block_to_part(block: ContentBlock) -> Option<Part> {
    let part = match block {
        ContentBlock::Text(text) => Part::text(text.text),
        ContentBlock::Image(image) => base64_file_part(None, Some(image.mime_type), image.data),
        ContentBlock::Audio(audio) => base64_file_part(None, Some(audio.mime_type), audio.data),
        ContentBlock::Resource(embedded) => match embedded.resource {
            ResourceContents::TextResourceContents { uri, text, .. } => {
                Part::text(text).with_metadata("uri", uri)
            }
            ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
                base64_file_part(None, mime_type, blob).with_metadata("uri", uri)
            }
            _ => return None,
        },
        ContentBlock::ResourceLink(link) => Part::file(File {
            name: Some(link.name),
            mime_type: link.mime_type,
            source: FileSource::Uri(link.uri),
        }),
        // Content of a kind that a later revision of the protocol may add.
        _ => return None,
    };
    Some(part)
}

fn base64_file_part(name: Option<String>, mime_type: Option<String>, base64: String) -> Part {
    Part::file(File { name, mime_type, source: FileSource::Base64(base64) })
}

fn call_result_size(result: &CallToolResult) -> usize {
    let content = result.content.iter().map(|block| match block {
        ContentBlock::Text(text) => text.text.len(),
        ContentBlock::Image(image) => image.data.len(),
        ContentBlock::Audio(audio) => audio.data.len(),
        ContentBlock::Resource(embedded) => match &embedded.resource {
            ResourceContents::TextResourceContents { text, .. } => text.len(),
            ResourceContents::BlobResourceContents { blob, .. } => blob.len(),
            _ => 0,
        },
        ContentBlock::ResourceLink(link) => link.uri.len() + link.name.len(),
        _ => 0,
    });
    let structured = result.structured_content.as_ref().map_or(0, |value| value.to_string().len());
    content.sum::<usize>() + structured
}

#[cfg(test)]
mod tests;
