//! Combines the pieces of an answer. Pure.

use std::collections::{BTreeMap, HashSet};

use serde_json::Value;
use trackway_domain::{JSON_DEPTH_MAX, is_deeper_than};

use super::Delta;
use crate::conversation::{Answer, Arguments, Call, Finish, Usage};

/// Deepest accepted arguments. The record of an answer adds some levels around them, and the record of
/// a compaction adds more. The result must still be readable.
/// Limit (Agents): levels of a tool call's arguments.
const ARGUMENTS_DEPTH_MAX: usize = JSON_DEPTH_MAX - 10;

/// An answer as far as it has arrived.
#[derive(Debug, Clone, Default)]
pub struct Gather {
    text: String,
    reasoning: String,
    calls: BTreeMap<usize, Gathered>,
    finish: Option<Finish>,
    usage: Option<Usage>,
    model: Option<String>,
}

#[derive(Debug, Clone, Default)]
struct Gathered {
    id: Option<String>,
    tool: String,
    arguments: String,
    echo: Option<Value>,
}

impl Gather {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn push(&mut self, delta: &Delta) {
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
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The complete answer. Arguments are parsed here, once.
    pub fn finish(self) -> Answer {
        let ids = self.calls.values().filter_map(|call| call.id.as_deref());
        let mut free = FreeIds::new(ids);
        // An answer is cut off at its end, so only its last call can lack its arguments.
        let is_cut = matches!(self.finish, Some(Finish::Length | Finish::Filtered));
        let last = self.calls.keys().next_back().filter(|_| is_cut).copied();
        let calls: Vec<Call> = self
            .calls
            .iter()
            .map(|(slot, call)| Call {
                id: free.take(call.id.as_deref(), *slot),
                tool: call.tool.clone(),
                arguments: read(&call.arguments, last == Some(*slot)),
                // Without it the provider may reject the conversation. With it the answer could not be
                // recorded.
                echo: call.echo.clone().filter(|echo| !is_too_deep(echo)),
            })
            .collect();
        let finish = match self.finish.unwrap_or(Finish::Stop) {
            Finish::Stop if !calls.is_empty() => Finish::Calls,
            Finish::Calls if calls.is_empty() => Finish::Stop,
            other => other,
        };
        let Self { text, reasoning, usage, model, .. } = self;
        Answer { text, reasoning, calls, finish, usage, model }
    }
}

/// Ids that are unique within the answer.
struct FreeIds {
    given: HashSet<String>,
    taken: HashSet<String>,
}

impl FreeIds {
    fn new<'a>(given: impl Iterator<Item = &'a str>) -> Self {
        Self { given: given.map(str::to_owned).collect(), taken: HashSet::new() }
    }

    /// The original id if it is the first of its kind; else `call_` and the first free number from the
    /// slot on.
    fn take(&mut self, id: Option<&str>, slot: usize) -> String {
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

fn read(text: &str, is_cut: bool) -> Arguments {
    let broken = |reason: String| Arguments::Broken { text: text.to_owned(), reason };
    if text.trim().is_empty() {
        if is_cut {
            return broken("the answer was cut off before them".to_owned());
        }
        return Arguments::Json(Value::Object(serde_json::Map::new()));
    }
    match serde_json::from_str(text) {
        Ok(value) if is_too_deep(&value) => {
            broken(format!("they are nested deeper than {ARGUMENTS_DEPTH_MAX} levels"))
        }
        Ok(value) => Arguments::Json(value),
        Err(error) => broken(error.to_string()),
    }
}

fn is_too_deep(value: &Value) -> bool {
    is_deeper_than(value, ARGUMENTS_DEPTH_MAX)
}

#[cfg(test)]
mod tests;
