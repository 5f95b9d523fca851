//! OpenAI's Responses: `POST …/responses`. The server keeps no state; every request is complete.

mod request_body;
mod stream_reader;

use serde_json::Value;

use super::provider_format::{ProviderFormat, StreamReader};
use crate::conversation::ModelRequest;

pub(super) const KIND: &str = "openai-responses";
pub(super) const BASE_URL: &str = super::openai::BASE_URL;

#[derive(Debug, Clone, Copy)]
pub(super) struct OpenAiResponsesFormat;

impl ProviderFormat for OpenAiResponsesFormat {
    fn request_path(&self, _model: &str) -> String {
        "/responses".to_owned()
    }

    fn request_body(&self, model: &str, request: &ModelRequest) -> Value {
        request_body::request_body(model, request)
    }

    fn new_reader(&self) -> Box<dyn StreamReader> {
        Box::new(stream_reader::ResponsesStreamReader::default())
    }
}
