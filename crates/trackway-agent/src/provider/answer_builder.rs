//! Combines the pieces of an answer. Pure.

use std::collections::{BTreeMap, HashSet};

use serde_json::Value;
use trackway_domain::{JSON_DEPTH_MAX, is_json_deeper_than};

use super::Delta;
use crate::conversation::{FinishReason, ModelAnswer, TokenUsage, ToolArguments, ToolUse};

/// Deepest accepted arguments. The record of an answer adds some levels around them, and the record of
/// a compaction adds more. The result must still be readable.
/// Limit (Agents): levels of a tool call's arguments.
const ARGUMENTS_DEPTH_MAX: usize = JSON_DEPTH_MAX - 10;

/// An answer as far as it has arrived.
#[derive(Debug, Clone, Default)]
pub struct ModelAnswerBuilder {
    text: String,
    reasoning: String,
    calls: BTreeMap<usize, ToolCallBuilder>,
    finish: Option<FinishReason>,
    usage: Option<TokenUsage>,
    model: Option<String>,
}

#[derive(Debug, Clone, Default)]
struct ToolCallBuilder {
    id: Option<String>,
    tool: String,
    arguments: String,
    echo: Option<Value>,
}

impl ModelAnswerBuilder {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn push_delta(&mut self, delta: &Delta) {
        match delta {
            Delta::Start { model } => self.model.clone_from(model),
            Delta::Text(text) => self.text.push_str(text),
            Delta::Reasoning(text) => self.reasoning.push_str(text),
            Delta::Call { slot, id, tool } => {
                let call = self.calls.entry(*slot).or_default();
                call.id.clone_from(id);
                call.tool.clone_from(tool);
            }
            Delta::Arguments { slot, text } => {
                self.calls.entry(*slot).or_default().arguments.push_str(text);
            }
            Delta::Echo { slot, value } => {
                self.calls.entry(*slot).or_default().echo = Some(value.clone());
            }
            Delta::End(finish) => self.finish = Some(*finish),
            Delta::Usage(usage) => self.usage = Some(*usage),
            Delta::Done => {}
        }
    }

    /// The text so far.
    pub fn answer_text_so_far(&self) -> &str {
        &self.text
    }

    /// The complete answer. Arguments are parsed here, once.
    pub fn build_answer(self) -> ModelAnswer {
        let ids = self.calls.values().filter_map(|call| call.id.as_deref());
        let mut free = CallIdAllocator::new(ids);
        // An answer is cut off at its end, so only its last call can lack its arguments.
        let is_cut = matches!(self.finish, Some(FinishReason::Length | FinishReason::Filtered));
        let last = self.calls.keys().next_back().filter(|_| is_cut).copied();
        let calls: Vec<ToolUse> = self
            .calls
            .iter()
            .map(|(slot, call)| ToolUse {
                id: free.allocate_call_id(call.id.as_deref(), *slot),
                tool: call.tool.clone(),
                arguments: parse_tool_arguments(&call.arguments, last == Some(*slot)),
                // Without it the provider may reject the conversation. With it the answer could not be
                // recorded.
                echo: call.echo.clone().filter(|echo| !exceeds_argument_depth(echo)),
            })
            .collect();
        let finish = match self.finish.unwrap_or(FinishReason::Stop) {
            FinishReason::Stop if !calls.is_empty() => FinishReason::Calls,
            FinishReason::Calls if calls.is_empty() => FinishReason::Stop,
            other => other,
        };
        let Self { text, reasoning, usage, model, .. } = self;
        ModelAnswer { text, reasoning, calls, finish, usage, model }
    }
}

/// Ids that are unique within the answer.
struct CallIdAllocator {
    given: HashSet<String>,
    taken: HashSet<String>,
}

impl CallIdAllocator {
    fn new<'a>(given: impl Iterator<Item = &'a str>) -> Self {
        Self { given: given.map(str::to_owned).collect(), taken: HashSet::new() }
    }

    /// The original id if it is the first of its kind; else `call_` and the first free number from the
    /// slot on.
    fn allocate_call_id(&mut self, id: Option<&str>, slot: usize) -> String {
        if let Some(id) = id.filter(|id| !id.is_empty() && !self.taken.contains(*id)) {
            self.taken.insert(id.to_owned());
            return id.to_owned();
        }
        let mut number = slot;
        loop {
            let id = format!("call_{number}");
            if !self.given.contains(&id) && self.taken.insert(id.clone()) {
                return id;
            }
            number = number.wrapping_add(1);
        }
    }
}

fn parse_tool_arguments(text: &str, is_cut: bool) -> ToolArguments {
    let broken = |reason: String| ToolArguments::Broken { text: text.to_owned(), reason };
    if text.trim().is_empty() {
        if is_cut {
            return broken("the answer was cut off before them".to_owned());
        }
        return ToolArguments::Json(Value::Object(serde_json::Map::new()));
    }
    match serde_json::from_str(text) {
        Ok(value) if exceeds_argument_depth(&value) => {
            broken(format!("they are nested deeper than {ARGUMENTS_DEPTH_MAX} levels"))
        }
        Ok(value) => ToolArguments::Json(value),
        Err(error) => broken(error.to_string()),
    }
}

fn exceeds_argument_depth(value: &Value) -> bool {
    is_json_deeper_than(value, ARGUMENTS_DEPTH_MAX)
}

#[cfg(test)]
mod tests;
