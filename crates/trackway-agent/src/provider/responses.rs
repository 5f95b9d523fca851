//! OpenAI's Responses: `POST …/responses`. The server keeps no state; every request is complete.

mod body;
mod reader;

use serde_json::Value;

use super::format::{Format, Reader};
use crate::conversation::Request;

pub(super) const KIND: &str = "openai-responses";
pub(super) const BASE_URL: &str = super::openai::BASE_URL;

#[derive(Debug, Clone, Copy)]
pub(super) struct Responses;

impl Format for Responses {
    fn path(&self, _model: &str) -> String {
        "/responses".to_owned()
    }

    fn body(&self, model: &str, request: &Request) -> Value {
        body::body(model, request)
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::new(reader::ResponsesReader::default())
    }
}
