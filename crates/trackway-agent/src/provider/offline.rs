//! `offline-rules/1`: rules, not a language model. It needs no key and no network, so that everything
//! can be tried on a fresh machine. It never makes up text: its words come from the user, from a tool
//! or from this folder.
//!
//! It handles a request in this order. A required schema is filled from JSON in the prompt. Results of
//! calls are reported. `/run NAME key=value …`, JSON that names a workflow, and `/help` are executed as
//! written. Otherwise the rules search for a tool whose name is among the user's words.

mod schema_answer;
mod tool_menu;
mod tool_result_text;
mod user_intent;

use serde_json::Value;

use self::user_intent::UserIntent;
use super::{DeltaStream, ModelProvider, simulated_stream};
use crate::conversation::{ConversationEntry, FinishReason, ModelAnswer, ModelRequest, ToolUse};

/// The label in events and user interfaces.
pub const LABEL: &str = "offline-rules/1";

/// The model that works without a network.
#[derive(Debug, Clone, Copy, Default)]
pub struct OfflineModel;

impl ModelProvider for OfflineModel {
    fn model_label(&self) -> &str {
        LABEL
    }

    fn accepts_images(&self) -> bool {
        false
    }

    fn stream_answer(&self, request: &ModelRequest) -> DeltaStream {
        simulated_stream::simulate_stream(&answer_by_rules(request))
    }
}

/// The answer of the rules to a request. The same request always has the same answer.
pub fn answer_by_rules(request: &ModelRequest) -> ModelAnswer {
    if let Some(schema) = &request.output {
        let prompt = request.latest_user_text().unwrap_or_default();
        return text_answer(schema_answer::answer_for_schema(schema, &prompt).to_string());
    }
    match request.entries.last() {
        Some(ConversationEntry::User { pieces }) => {
            match user_intent::parse_user_intent(&request.tools, pieces) {
                UserIntent::Call { tool, arguments } => {
                    tool_use_answer(request, tool, Value::Object(arguments))
                }
                UserIntent::Say(text) => text_answer(text),
                UserIntent::Lost if request.open.is_empty() => {
                    text_answer(tool_menu::render_greeting(&request.tools))
                }
                UserIntent::Lost => text_answer(tool_result_text::render_open_questions(&request.open)),
            }
        }
        Some(ConversationEntry::Result { .. }) => {
            text_answer(tool_result_text::render_latest_tool_results(&request.entries))
        }
        Some(ConversationEntry::Model { .. }) | None => {
            text_answer(tool_menu::render_greeting(&request.tools))
        }
    }
}

fn text_answer(text: String) -> ModelAnswer {
    ModelAnswer { text, model: Some(LABEL.to_owned()), ..ModelAnswer::default() }
}

/// The id is derived from the position in the conversation: it is the same on every replay and
/// different in every turn.
fn tool_use_answer(request: &ModelRequest, tool: String, arguments: Value) -> ModelAnswer {
    let call = ToolUse::new(format!("offline-{}", request.entries.len()), tool, arguments);
    ModelAnswer { calls: vec![call], finish: FinishReason::Calls, ..text_answer(String::new()) }
}

#[cfg(test)]
mod tests;
