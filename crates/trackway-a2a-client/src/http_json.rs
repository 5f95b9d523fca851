//! The HTTP+JSON binding of 1.0: operations as methods and paths, results without an envelope, refusals
//! in the canonical error model.

use reqwest::{Method, Url};
use serde::Deserialize;
use serde_json::{Map, Value, value::RawValue};

use super::{AgentRefusal, AgentRefusalKind, ClientError, agent_operation::AgentOperation};

/// The method and address of an operation. Values in the path are removed from the parameters; the rest
/// goes into the body, or into the query if there is no body.
pub(super) fn rest_method_and_url(
    base: &Url,
    tenant: Option<&str>,
    operation: AgentOperation,
    params: &mut Map<String, Value>,
) -> (Method, Url) {
    let mut taken = |key: &str| match params.remove(key) {
        Some(Value::String(text)) => text,
        _ => String::new(),
    };
    const CONFIGS: &str = "pushNotificationConfigs";
    let tasks = || "tasks".to_owned();
    let (method, path) = match operation {
        AgentOperation::Send => (Method::POST, vec!["message:send".to_owned()]),
        AgentOperation::Stream => (Method::POST, vec!["message:stream".to_owned()]),
        AgentOperation::Get => (Method::GET, vec![tasks(), taken("id")]),
        AgentOperation::List => (Method::GET, vec![tasks()]),
        AgentOperation::Cancel => (Method::POST, vec![tasks(), taken("id") + ":cancel"]),
        // The specification's text says POST; its protobuf, which is normative, says GET.
        AgentOperation::Subscribe => (Method::GET, vec![tasks(), taken("id") + ":subscribe"]),
        AgentOperation::PushSet => (Method::POST, vec![tasks(), taken("taskId"), CONFIGS.to_owned()]),
        AgentOperation::PushList => (Method::GET, vec![tasks(), taken("taskId"), CONFIGS.to_owned()]),
        AgentOperation::PushGet => {
            (Method::GET, vec![tasks(), taken("taskId"), CONFIGS.to_owned(), taken("id")])
        }
        AgentOperation::PushDelete => {
            (Method::DELETE, vec![tasks(), taken("taskId"), CONFIGS.to_owned(), taken("id")])
        }
        AgentOperation::ExtendedCard => (Method::GET, vec!["extendedAgentCard".to_owned()]),
    };
    let mut url = base.clone();
    if let Ok(mut segments) = url.path_segments_mut() {
        segments.pop_if_empty().extend(tenant).extend(path);
    }
    if method != Method::POST && !params.is_empty() {
        let mut query = url.query_pairs_mut();
        for (key, value) in params.iter() {
            match value {
                Value::String(text) => query.append_pair(key, text),
                other => query.append_pair(key, &other.to_string()),
            };
        }
    }
    (method, url)
}

#[derive(Deserialize)]
struct RestErrorBody {
    error: Option<RestError>,
}

#[derive(Deserialize)]
struct RestError {
    #[serde(default)]
    code: i64,
    #[serde(default)]
    message: String,
    #[serde(default)]
    details: Value,
}

/// The body, or the refusal in it.
pub(super) fn parse_rest_response(text: &str, status: u16) -> Result<Box<RawValue>, ClientError> {
    // A deletion returns nothing.
    if text.trim().is_empty() {
        return Ok(RawValue::NULL.to_owned());
    }
    let answer: RestErrorBody = serde_json::from_str(text).map_err(ClientError::malformed_response_error)?;
    let Some(error) = answer.error else {
        return RawValue::from_string(text.to_owned()).map_err(ClientError::malformed_response_error);
    };
    let kind = refusal_kind_from_details(&error.details, error.code);
    let code = kind.rpc_code().unwrap_or(error.code);
    let (message, data) = (error.message, error.details);
    Err(ClientError::Refused(Box::new(AgentRefusal { kind, code, message, data, status })))
}

/// By the reason if there is one, otherwise only by the status.
fn refusal_kind_from_details(details: &Value, status: i64) -> AgentRefusalKind {
    let details = details.as_array().map(Vec::as_slice).unwrap_or_default();
    let mut reasons = details.iter().filter_map(|detail| detail["reason"].as_str());
    reasons.find_map(AgentRefusalKind::from_error_info_reason).unwrap_or(match status {
        400 => AgentRefusalKind::InvalidParams,
        404 | 405 => AgentRefusalKind::MethodNotFound,
        500 => AgentRefusalKind::Internal,
        _ => AgentRefusalKind::Other,
    })
}

#[cfg(test)]
mod tests;
