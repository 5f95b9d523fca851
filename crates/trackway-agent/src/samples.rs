//! Sample conversations for unit tests.

use serde_json::json;
use trackway_domain::Timestamp;

use crate::{AgentSpec, Answer, Call, Entry, Piece, Recorded};

pub(crate) fn text(text: &str) -> Piece {
    Piece::Text(text.into())
}

pub(crate) fn user(text: &str) -> Entry {
    Entry::user(text)
}

pub(crate) fn model(text: &str, calls: Vec<Call>) -> Entry {
    Entry::Model { text: text.into(), calls }
}

pub(crate) fn result(id: &str, tool: &str, said: &str) -> Entry {
    Entry::Result { call: id.into(), tool: tool.into(), pieces: vec![text(said)], failed: false }
}

pub(crate) fn image() -> Piece {
    Piece::Image { media_type: "image/png".into(), base64: "AAAA".into() }
}

pub(crate) fn call(id: &str, tool: &str) -> Call {
    Call::new(id, tool, json!({}))
}

pub(crate) fn recorded(answer: Answer) -> Recorded {
    Recorded { answer, label: "scripted/test".into(), cost: None, ended_at: Timestamp(0) }
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
