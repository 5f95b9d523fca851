//! A request in the Messages format.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::{ECHO, strict_schema};
use crate::{
    conversation::{ContentPiece, ConversationEntry, ModelRequest, ToolSpec, ToolUse},
    provider::{
        format_helpers::{AlternatingRoleMessages, arguments_as_object, json_object, tool_parameters_schema},
        system_prompt::render_system_prompt,
    },
    turn_record::make_unique_id,
};

/// The format requires a limit for every answer, including thoughts. This is the maximum that every
/// model since the fourth generation accepts. A lower limit would cut off models that think for long.
/// Limit (Agents): answer of an Anthropic model if the agent sets no limit.
const MAX_TOKENS_DEFAULT: u32 = 32_000;

/// A tool's input schema with one of these keywords at its root is rejected.
const ALTERNATIVES: [&str; 3] = ["allOf", "anyOf", "oneOf"];

pub(super) fn build_messages_body(model: &str, request: &ModelRequest) -> Value {
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(model));
    body.insert("max_tokens".to_owned(), json!(request.max_tokens.unwrap_or(MAX_TOKENS_DEFAULT)));
    body.insert("stream".to_owned(), json!(true));
    let mut system = render_system_prompt(request);
    match request.output.as_ref().map(|schema| (schema, strict_schema::to_strict_schema(schema))) {
        // Models that always think reject a forced tool, and it would exclude real tools.
        Some((_, Some(strict))) => {
            let format = json!({ "type": "json_schema", "schema": strict });
            body.insert("output_config".to_owned(), json!({ "format": format }));
        }
        Some((schema, None)) => system.push_str(&strict_schema::schema_prompt_instruction(schema)),
        None => {}
    }
    if !system.trim().is_empty() {
        // The part before the conversation is the same in every call of a turn.
        let block = json!({ "type": "text", "text": system, "cache_control": prompt_cache_marker() });
        body.insert("system".to_owned(), json!([block]));
    }
    let mut messages = entries_to_messages(&request.entries);
    // The same is true for the conversation before the newest entry.
    if let Some(Value::Array(blocks)) = messages.last_mut().map(|message| &mut message["content"])
        && let Some(Value::Object(last)) = blocks.last_mut()
    {
        last.insert("cache_control".to_owned(), prompt_cache_marker());
    }
    body.insert("messages".to_owned(), Value::Array(messages));
    if !request.tools.is_empty() {
        body.insert("tools".to_owned(), request.tools.iter().map(|spec| tool_definition(spec)).collect());
    }
    Value::Object(body)
}

fn prompt_cache_marker() -> Value {
    json!({ "type": "ephemeral" })
}

/// Messages of alternating roles. Results of calls belong to the user role, all of them in one message.
fn entries_to_messages(entries: &[ConversationEntry]) -> Vec<Value> {
    let mut messages = AlternatingRoleMessages::default();
    let mut ids = SentCallIds::default();
    for entry in entries {
        match entry {
            ConversationEntry::User { pieces } => messages.push_role_message("user", content_blocks(pieces)),
            ConversationEntry::Model { text, calls } => {
                messages.push_role_message("assistant", assistant_blocks(text, calls, &mut ids))
            }
            ConversationEntry::Result { call, pieces, failed, .. } => {
                messages
                    .push_role_message("user", vec![tool_result_block(ids.sent_id(call), pieces, *failed)]);
            }
        }
    }
    messages.into_json_messages("content", text_block)
}

/// Ids for the request. Ids of other providers may contain characters that this format rejects. They
/// may also repeat in a later answer, which the format rejects as well.
#[derive(Default)]
struct SentCallIds<'a> {
    sent: BTreeSet<String>,
    newest: BTreeMap<&'a str, String>,
}

impl<'a> SentCallIds<'a> {
    fn assign_sent_id(&mut self, id: &'a str) -> String {
        let taken = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let plain = id.replace(|c: char| !taken(c), "_");
        let own = make_unique_id(&plain, |id| self.sent.contains(id));
        self.sent.insert(own.clone());
        self.newest.insert(id, own.clone());
        own
    }

    /// The id that is sent for the newest call with that original id.
    fn sent_id<'b>(&'b self, id: &'b str) -> &'b str {
        self.newest.get(id).map_or(id, String::as_str)
    }
}

/// Thoughts come first, then the text, then the calls, each after the thoughts that preceded it.
fn assistant_blocks<'a>(text: &str, calls: &'a [ToolUse], ids: &mut SentCallIds<'a>) -> Vec<Value> {
    let thoughts = |call: &ToolUse| {
        let echo = call.echo.as_ref().and_then(|echo| echo[ECHO].as_array());
        echo.cloned().unwrap_or_default()
    };
    let mut blocks = calls.first().map(thoughts).unwrap_or_default();
    if !text.trim().is_empty() {
        blocks.push(text_block(text));
    }
    for (index, call) in calls.iter().enumerate() {
        if index > 0 {
            blocks.extend(thoughts(call));
        }
        let input = arguments_as_object(&call.arguments);
        let id = ids.assign_sent_id(&call.id);
        blocks.push(json!({ "type": "tool_use", "id": id, "name": call.tool, "input": input }));
    }
    blocks
}

fn tool_result_block(call: &str, pieces: &[ContentPiece], failed: bool) -> Value {
    let mut block = json!({ "type": "tool_result", "tool_use_id": call });
    let content = content_blocks(pieces);
    if !content.is_empty() {
        block["content"] = Value::Array(content);
    }
    if failed {
        block["is_error"] = json!(true);
    }
    block
}

fn content_blocks(pieces: &[ContentPiece]) -> Vec<Value> {
    let blocks = pieces.iter().filter_map(|piece| match piece {
        // The format rejects blank text.
        ContentPiece::Text(text) => (!text.trim().is_empty()).then(|| text_block(text)),
        ContentPiece::Image { media_type, base64 } => Some(json!({
            "type": "image",
            "source": { "type": "base64", "media_type": media_type, "data": base64 },
        })),
    });
    blocks.collect()
}

fn text_block(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn tool_definition(tool: &ToolSpec) -> Value {
    let mut schema = tool_parameters_schema(&tool.schema);
    let mut description = tool.description.clone();
    if let Some(fields) = schema.as_object_mut()
        && ALTERNATIVES.iter().any(|key| fields.contains_key(*key))
    {
        description.push_str(&format!("\nThe input's whole schema: {}", tool.schema));
        fields.retain(|key, _| !ALTERNATIVES.contains(&key.as_str()));
    }
    json_object([
        ("name", tool.name.as_str().into()),
        ("description", description.into()),
        ("input_schema", schema),
    ])
}
