//! Reads a stream of Responses. Each event names its type in its data. Servers that send fewer events
//! than OpenAI also work: the final form of an item is used if its pieces did not arrive.

use std::collections::HashSet;

use serde_json::Value;

use crate::{
    conversation::FinishReason,
    provider::{
        Delta, ModelError,
        call_assembler::{ToolCallAssembler, ToolCallFragment},
        format_helpers::{
            arguments_json_to_text, non_empty_str, parse_event_json, parse_stream_error, parse_token_usage,
            push_end_deltas, push_start_delta_once,
        },
        provider_format::AnswerStreamReader,
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
pub(super) struct ResponsesStreamReader {
    started: bool,
    calls: ToolCallAssembler,
    /// Items whose text arrived in pieces, by their index in the answer.
    streamed: HashSet<(Option<u64>, TextDeltaKind)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum TextDeltaKind {
    Text,
    Reasoning,
}

impl AnswerStreamReader for ResponsesStreamReader {
    fn read_stream_event(&mut self, kind: &str, data: &str, out: &mut Vec<Delta>) -> Result<(), ModelError> {
        // Some servers end like the chat format. The answer was complete before that, or is incomplete.
        if data.trim() == "[DONE]" {
            return Ok(());
        }
        let event = parse_event_json(data)?;
        match event["type"].as_str().unwrap_or(kind) {
            "response.created" | "response.in_progress" => self.begin_response(&event["response"], out),
            "response.output_item.added" => self.begin_output_item(&event, out),
            "response.output_text.delta" | "response.refusal.delta" => {
                self.read_text_delta(TextDeltaKind::Text, &event, out);
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.read_text_delta(TextDeltaKind::Reasoning, &event, out);
            }
            "response.function_call_arguments.delta" => {
                let arguments = event["delta"].as_str().unwrap_or_default();
                let piece = ToolCallFragment { arguments, ..empty_fragment_for_event(&event) };
                self.calls.push_call_fragment(piece, out);
            }
            "response.output_item.done" => {
                self.read_finished_output_item(&event["item"], event["output_index"].as_u64(), out);
            }
            "response.completed" | "response.incomplete" => {
                self.finish_response(&event["response"], out);
            }
            "response.failed" => return Err(parse_stream_error(&event["response"])),
            "error" => return Err(parse_stream_error(&event)),
            // A server that does not stream sends the response itself.
            _ if event["object"] == "response" => match event["status"].as_str() {
                Some("failed") => return Err(parse_stream_error(&event)),
                _ => {
                    let items = event["output"].as_array().into_iter().flatten();
                    self.begin_response(&event, out);
                    items.zip(0..).for_each(|(item, at)| self.read_finished_output_item(item, Some(at), out));
                    self.finish_response(&event, out);
                }
            },
            _ if !event["error"].is_null() => return Err(parse_stream_error(&event)),
            // New events are added from time to time. The important ones are also covered by known
            // events.
            _ => {}
        }
        Ok(())
    }

    /// The last event ends the answer; a stream that ends without it is incomplete.
    fn finish_stream(&mut self, _out: &mut Vec<Delta>) -> Result<(), ModelError> {
        Err(ModelError::Truncated)
    }
}

impl ResponsesStreamReader {
    fn begin_response(&mut self, response: &Value, out: &mut Vec<Delta>) {
        push_start_delta_once(&mut self.started, &response["model"], out);
    }

    fn begin_output_item(&mut self, event: &Value, out: &mut Vec<Delta>) {
        let item = &event["item"];
        if item["type"] == "function_call" {
            let arguments = item["arguments"].as_str().unwrap_or_default();
            let index = event["output_index"].as_u64();
            self.calls.push_call_fragment(
                ToolCallFragment { index, arguments, ..fragment_from_call_item(item) },
                out,
            );
        }
    }

    fn read_text_delta(&mut self, kind: TextDeltaKind, event: &Value, out: &mut Vec<Delta>) {
        self.streamed.insert((event["output_index"].as_u64(), kind));
        out.extend(non_empty_str(&event["delta"]).map(|text| kind.to_answer_delta(text)));
    }

    /// The final form of an item.
    fn read_finished_output_item(&mut self, item: &Value, index: Option<u64>, out: &mut Vec<Delta>) {
        let (kind, lists) = match item["type"].as_str() {
            Some("function_call") => {
                let arguments = arguments_json_to_text(&item["arguments"]);
                let piece =
                    ToolCallFragment { index, arguments: &arguments, ..fragment_from_call_item(item) };
                self.calls.push_complete_call(piece, out);
                return;
            }
            Some("message") => (TextDeltaKind::Text, [&item["content"], &Value::Null]),
            Some("reasoning") => (TextDeltaKind::Reasoning, [&item["summary"], &item["content"]]),
            _ => return,
        };
        if !self.streamed.insert((index, kind)) {
            return;
        }
        for part in lists.into_iter().filter_map(Value::as_array).flatten() {
            let text = part["text"].as_str().or(part["refusal"].as_str());
            out.extend(text.filter(|text| !text.is_empty()).map(|text| kind.to_answer_delta(text)));
        }
    }

    /// The end of the answer: all remaining deltas, `Done` last.
    fn finish_response(&mut self, response: &Value, out: &mut Vec<Delta>) {
        self.begin_response(response, out);
        self.calls.emit_unnamed_calls(out);
        let finish = match response["incomplete_details"]["reason"].as_str() {
            Some("content_filter") => FinishReason::Filtered,
            Some(_) => FinishReason::Length,
            None => FinishReason::Stop,
        };
        let usage = parse_token_usage(&response["usage"], COUNTS);
        push_end_deltas(finish, !self.calls.has_no_calls(), usage, out);
    }
}

impl TextDeltaKind {
    fn to_answer_delta(self, text: &str) -> Delta {
        match self {
            Self::Text => Delta::Text(text.to_owned()),
            Self::Reasoning => Delta::Reasoning(text.to_owned()),
        }
    }
}

/// The call that a piece of arguments belongs to.
fn empty_fragment_for_event(event: &Value) -> ToolCallFragment<'_> {
    let index = event["output_index"].as_u64();
    ToolCallFragment { key: event["item_id"].as_str(), index, ..ToolCallFragment::default() }
}

/// A call's ids: pieces are matched by the item's id, results by the call's id.
fn fragment_from_call_item(item: &Value) -> ToolCallFragment<'_> {
    let id = item["call_id"].as_str();
    ToolCallFragment {
        key: item["id"].as_str().or(id),
        id,
        tool: item["name"].as_str(),
        ..ToolCallFragment::default()
    }
}
