//! Reads a stream of Responses. Each event names its type in its data. Servers that send fewer events
//! than OpenAI also work: the final form of an item is used if its pieces did not arrive.

use std::collections::HashSet;

use serde_json::Value;

use crate::{
    conversation::Finish,
    provider::{
        Delta, ModelError,
        calls::{CallPiece, OpenCalls},
        format::Reader,
        wire::{argument_text, failed, non_empty, parse, push_end, push_start, usage},
    },
};

/// Where the counts are.
const COUNTS: [&str; 4] = [
    "/input_tokens",
    "/output_tokens",
    "/input_tokens_details/cached_tokens",
    "/output_tokens_details/reasoning_tokens",
];

#[derive(Debug, Default)]
pub(super) struct ResponsesReader {
    started: bool,
    calls: OpenCalls,
    /// Items whose text arrived in pieces, by their index in the answer.
    streamed: HashSet<(Option<u64>, Kind)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Text,
    Reasoning,
}

impl Reader for ResponsesReader {
    fn event(&mut self, kind: &str, data: &str, out: &mut Vec<Delta>) -> Result<(), ModelError> {
        // Some servers end like the chat format. The answer was complete before that, or is incomplete.
        if data.trim() == "[DONE]" {
            return Ok(());
        }
        let event = parse(data)?;
        match event["type"].as_str().unwrap_or(kind) {
            "response.created" | "response.in_progress" => self.start(&event["response"], out),
            "response.output_item.added" => self.item_begins(&event, out),
            "response.output_text.delta" | "response.refusal.delta" => {
                self.piece(Kind::Text, &event, out);
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.piece(Kind::Reasoning, &event, out);
            }
            "response.function_call_arguments.delta" => {
                let arguments = event["delta"].as_str().unwrap_or_default();
                let piece = CallPiece { arguments, ..place(&event) };
                self.calls.piece(piece, out);
            }
            "response.output_item.done" => {
                self.item(&event["item"], event["output_index"].as_u64(), out);
            }
            "response.completed" | "response.incomplete" => {
                self.whole(&event["response"], out);
            }
            "response.failed" => return Err(failed(&event["response"])),
            "error" => return Err(failed(&event)),
            // A server that does not stream sends the response itself.
            _ if event["object"] == "response" => match event["status"].as_str() {
                Some("failed") => return Err(failed(&event)),
                _ => {
                    let items = event["output"].as_array().into_iter().flatten();
                    self.start(&event, out);
                    items.zip(0..).for_each(|(item, at)| self.item(item, Some(at), out));
                    self.whole(&event, out);
                }
            },
            _ if !event["error"].is_null() => return Err(failed(&event)),
            // New events are added from time to time. The important ones are also covered by known
            // events.
            _ => {}
        }
        Ok(())
    }

    /// The last event ends the answer; a stream that ends without it is incomplete.
    fn end(&mut self, _out: &mut Vec<Delta>) -> Result<(), ModelError> {
        Err(ModelError::Truncated)
    }
}

impl ResponsesReader {
    fn start(&mut self, response: &Value, out: &mut Vec<Delta>) {
        push_start(&mut self.started, &response["model"], out);
    }

    fn item_begins(&mut self, event: &Value, out: &mut Vec<Delta>) {
        let item = &event["item"];
        if item["type"] == "function_call" {
            let arguments = item["arguments"].as_str().unwrap_or_default();
            let index = event["output_index"].as_u64();
            self.calls.piece(CallPiece { index, arguments, ..call(item) }, out);
        }
    }

    fn piece(&mut self, kind: Kind, event: &Value, out: &mut Vec<Delta>) {
        self.streamed.insert((event["output_index"].as_u64(), kind));
        out.extend(non_empty(&event["delta"]).map(|text| kind.delta(text)));
    }

    /// The final form of an item.
    fn item(&mut self, item: &Value, index: Option<u64>, out: &mut Vec<Delta>) {
        let (kind, lists) = match item["type"].as_str() {
            Some("function_call") => {
                let arguments = argument_text(&item["arguments"]);
                let piece = CallPiece { index, arguments: &arguments, ..call(item) };
                self.calls.whole(piece, out);
                return;
            }
            Some("message") => (Kind::Text, [&item["content"], &Value::Null]),
            Some("reasoning") => (Kind::Reasoning, [&item["summary"], &item["content"]]),
            _ => return,
        };
        if !self.streamed.insert((index, kind)) {
            return;
        }
        for part in lists.into_iter().filter_map(Value::as_array).flatten() {
            let text = part["text"].as_str().or(part["refusal"].as_str());
            out.extend(text.filter(|text| !text.is_empty()).map(|text| kind.delta(text)));
        }
    }

    /// The end of the answer: all remaining deltas, `Done` last.
    fn whole(&mut self, response: &Value, out: &mut Vec<Delta>) {
        self.start(response, out);
        self.calls.close(out);
        let finish = match response["incomplete_details"]["reason"].as_str() {
            Some("content_filter") => Finish::Filtered,
            Some(_) => Finish::Length,
            None => Finish::Stop,
        };
        let usage = usage(&response["usage"], COUNTS);
        push_end(finish, !self.calls.is_empty(), usage, out);
    }
}

impl Kind {
    fn delta(self, text: &str) -> Delta {
        match self {
            Self::Text => Delta::Text(text.to_owned()),
            Self::Reasoning => Delta::Reasoning(text.to_owned()),
        }
    }
}

/// The call that a piece of arguments belongs to.
fn place(event: &Value) -> CallPiece<'_> {
    let index = event["output_index"].as_u64();
    CallPiece { key: event["item_id"].as_str(), index, ..CallPiece::default() }
}

/// A call's ids: pieces are matched by the item's id, results by the call's id.
fn call(item: &Value) -> CallPiece<'_> {
    let id = item["call_id"].as_str();
    CallPiece {
        key: item["id"].as_str().or(id),
        id,
        tool: item["name"].as_str(),
        ..CallPiece::default()
    }
}
