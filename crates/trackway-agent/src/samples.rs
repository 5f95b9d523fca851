//! Sample conversations for unit tests.

use serde_json::json;
use trackway_domain::Timestamp;

use crate::{AgentSpec, ContentPiece, ConversationEntry, ModelAnswer, RecordedModelCall, ToolUse};

pub(crate) fn text(text: &str) -> ContentPiece {
    ContentPiece::Text(text.into())
}

pub(crate) fn user(text: &str) -> ConversationEntry {
    ConversationEntry::user_text_entry(text)
}

pub(crate) fn model(text: &str, calls: Vec<ToolUse>) -> ConversationEntry {
    ConversationEntry::Model { text: text.into(), calls }
}

pub(crate) fn result(id: &str, tool: &str, said: &str) -> ConversationEntry {
    ConversationEntry::Result { call: id.into(), tool: tool.into(), pieces: vec![text(said)], failed: false }
}

pub(crate) fn image() -> ContentPiece {
    ContentPiece::Image { media_type: "image/png".into(), base64: "AAAA".into() }
}

pub(crate) fn call(id: &str, tool: &str) -> ToolUse {
    ToolUse::new(id, tool, json!({}))
}

pub(crate) fn recorded_call(answer: ModelAnswer) -> RecordedModelCall {
    RecordedModelCall { answer, label: "scripted/test".into(), cost: None, ended_at: Timestamp(0) }
}

/// An agent that may call everything.
pub(crate) fn agent() -> AgentSpec {
    AgentSpec {
        name: "helper".into(),
        tools: vec!["*".into()],
        workflows: vec!["*".into()],
        prompt: "You help.".into(),
        ..AgentSpec::default()
    }
}
