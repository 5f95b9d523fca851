//! `offline-rules/1`: rules, not a language model. It needs no key and no network, so that everything
//! can be tried on a fresh machine. It never makes up text: its words come from the user, from a tool
//! or from this folder.
//!
//! It handles a request in this order. A required schema is filled from JSON in the prompt. Results of
//! calls are reported. `/run NAME key=value …`, JSON that names a workflow, and `/help` are executed as
//! written. Otherwise the rules search for a tool whose name is among the user's words.

mod instance;
mod intent;
mod menu;
mod tell;

use serde_json::Value;

use self::intent::Intent;
use super::{Deltas, Provider, spoken};
use crate::conversation::{Answer, Call, Entry, Finish, Request};

/// The label in events and user interfaces.
pub const LABEL: &str = "offline-rules/1";

/// The model that works without a network.
#[derive(Debug, Clone, Copy, Default)]
pub struct Offline;

impl Provider for Offline {
    fn label(&self) -> &str {
        LABEL
    }

    fn takes_images(&self) -> bool {
        false
    }

    fn ask(&self, request: &Request) -> Deltas {
        spoken::stream(&answer(request))
    }
}

/// The answer of the rules to a request. The same request always has the same answer.
pub fn answer(request: &Request) -> Answer {
    if let Some(schema) = &request.output {
        let prompt = request.newest_user_text().unwrap_or_default();
        return said(instance::fill(schema, &prompt).to_string());
    }
    match request.entries.last() {
        Some(Entry::User { pieces }) => match intent::understand(&request.tools, pieces) {
            Intent::Call { tool, arguments } => called(request, tool, Value::Object(arguments)),
            Intent::Say(text) => said(text),
            Intent::Lost if request.open.is_empty() => said(menu::greeting(&request.tools)),
            Intent::Lost => said(tell::open_questions(&request.open)),
        },
        Some(Entry::Result { .. }) => said(tell::results(&request.entries)),
        Some(Entry::Model { .. }) | None => said(menu::greeting(&request.tools)),
    }
}

fn said(text: String) -> Answer {
    Answer { text, model: Some(LABEL.to_owned()), ..Answer::default() }
}

/// The id is derived from the position in the conversation: it is the same on every replay and
/// different in every turn.
fn called(request: &Request, tool: String, arguments: Value) -> Answer {
    let call = Call::new(format!("offline-{}", request.entries.len()), tool, arguments);
    Answer { calls: vec![call], finish: Finish::Calls, ..said(String::new()) }
}

#[cfg(test)]
mod tests;
