//! OpenAI's Responses: `POST …/responses`. The server keeps no state; every request is complete.

mod responses_request_body;
mod responses_stream_reader;

use serde_json::Value;

use super::provider_format::{AnswerStreamReader, ProviderFormat};
use crate::conversation::ModelRequest;

pub(super) const KIND: &str = "openai-responses";
pub(super) const BASE_URL: &str = super::openai_chat::BASE_URL;

#[derive(Debug, Clone, Copy)]
pub(super) struct OpenAiResponsesFormat;

impl ProviderFormat for OpenAiResponsesFormat {
    fn request_path(&self, _model: &str) -> String {
        "/responses".to_owned()
    }

    fn build_request_body(&self, model: &str, request: &ModelRequest) -> Value {
        responses_request_body::build_responses_body(model, request)
    }

    fn new_stream_reader(&self) -> Box<dyn AnswerStreamReader> {
        Box::new(responses_stream_reader::ResponsesStreamReader::default())
    }
}
