//! The tools that the conformance suite needs, of the same kinds as Trackway's tools.

use std::{borrow::Cow, sync::Arc, time::Duration};

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestMethod,
        CompleteRequestParams, CompleteResult, ElicitRequestParams, ErrorCode, Implementation,
        InputRequiredResult, ListPromptsRequestMethod, ListPromptsResult, ListResourceTemplatesRequestMethod,
        ListResourceTemplatesResult, ListResourcesRequestMethod, ListResourcesResult, ListToolsResult,
        PaginatedRequestParams, ProgressNotificationParam, ProtocolVersion, RequestStateCodec,
        ServerCapabilities, ServerConfig, Tool,
    },
    service::RequestContext,
};
use serde_json::{Map, Value, json};

/// The error for a client without a capability that a call needs.
const CAPABILITY_MISSING: i32 = -32021;

const TOOL_NAMES: [&str; 16] = [
    "test_simple_text",
    "test_image_content",
    "test_audio_content",
    "test_embedded_resource",
    "test_multiple_content_types",
    "test_error_handling",
    "test_tool_with_progress",
    "test_elicitation",
    "test_elicitation_sep1034_defaults",
    "test_elicitation_sep1330_enums",
    "test_missing_capability",
    "test_logging_tool",
    "test_streaming_elicitation",
    "test_input_required_result_elicitation",
    "test_input_required_result_request_state",
    "test_input_required_result_multi_round",
];

#[derive(Debug, Clone)]
pub(crate) struct Fixture {
    codec: Arc<RequestStateCodec>,
}

impl Default for Fixture {
    fn default() -> Self {
        Self { codec: Arc::new(RequestStateCodec::try_new(vec![7; 32]).unwrap()) }
    }
}

impl Fixture {
    /// Asks for input; `round` comes back sealed.
    fn input_required(&self, key: &str, message: &str, wanted: &Value, round: &str) -> Value {
        let required: Vec<_> = wanted.as_object().unwrap().keys().cloned().collect();
        let schema = json!({ "type": "object", "properties": wanted, "required": required });
        let params = json!({ "mode": "form", "message": message, "requestedSchema": schema });
        json!({
            "resultType": "input_required",
            "inputRequests": { key: { "method": "elicitation/create", "params": params } },
            "requestState": self.codec.seal(round.as_bytes()),
        })
    }

    /// The round that the client's state names; none if it sent no state.
    fn sealed_round(&self, request: &CallToolRequestParams) -> Result<Option<String>, ErrorData> {
        let Some(state) = &request.request_state else { return Ok(None) };
        let opened = self
            .codec
            .open(state)
            .map_err(|error| ErrorData::invalid_params(format!("the state was changed: {error}"), None))?;
        Ok(Some(String::from_utf8(opened).unwrap()))
    }

    /// One question, or two, and then the answer.
    fn ask_for_input(&self, request: &CallToolRequestParams) -> Result<CallToolResponse, ErrorData> {
        let round = self.sealed_round(request)?;
        let answer = |key: &str, field: &str| -> Option<Value> {
            let response = request.input_responses.as_ref()?.get(key)?;
            let value = response["content"].get(field)?;
            (response["action"] == "accept").then(|| value.clone())
        };
        let text = json!({ "type": "string" });
        let result = match &*request.name {
            "test_input_required_result_elicitation" => match answer("user_name", "name") {
                Some(Value::String(name)) => text_result(&format!("Hello, {name}!")),
                _ => {
                    let wanted = json!({ "name": text });
                    self.input_required("user_name", "What is your name?", &wanted, "1")
                }
            },
            "test_input_required_result_multi_round" => {
                match (round.as_deref(), answer("step1", "name"), answer("step2", "color")) {
                    (Some("2"), _, Some(color)) => text_result(&format!("Done: {color}")),
                    (Some("1"), Some(_), _) => {
                        let message = "Step 2: What is your favorite color?";
                        self.input_required("step2", message, &json!({ "color": text }), "2")
                    }
                    _ => {
                        let message = "Step 1: What is your name?";
                        self.input_required("step1", message, &json!({ "name": text }), "1")
                    }
                }
            }
            _ => match (round, answer("confirm", "ok")) {
                (Some(_), Some(_)) => text_result("state-ok"),
                _ => {
                    let wanted = json!({ "ok": { "type": "boolean" } });
                    self.input_required("confirm", "Please confirm", &wanted, "1")
                }
            },
        };
        if result.get("inputRequests").is_some() {
            let required: InputRequiredResult = serde_json::from_value(result).unwrap();
            return Ok(required.into());
        }
        Ok(into_complete_result(result).into())
    }
}

/// A final result of its call.
fn into_complete_result(result: Value) -> CallToolResult {
    let mut result: CallToolResult = serde_json::from_value(result).unwrap();
    result.result_type = CallToolResult::success(Vec::new()).result_type;
    result
}

fn text_result(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

/// The tools with a constant answer, and the forms that the others ask a person to fill in. Trackway never
/// sends log messages.
fn fixture_value(part: &str, name: &str) -> Option<Value> {
    let file: Value = serde_json::from_str(include_str!("fixture.json")).unwrap();
    file[part].get(name).cloned()
}

/// Asks the client while the call waits, as revisions with protocol sessions do.
async fn elicit_form(
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<Value, ErrorData> {
    let message = request.arguments.as_ref().and_then(|given| given.get("message"));
    let message = message.and_then(Value::as_str).unwrap_or("Please fill in");
    let question: ElicitRequestParams = serde_json::from_value(json!({
        "mode": "form", "message": message, "requestedSchema": fixture_value("forms", &request.name),
    }))
    .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    let answer = context.peer.create_elicitation(question).await;
    let answer = answer.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    let action = serde_json::to_value(&answer.action).unwrap();
    let (action, content) = (action.as_str().unwrap(), json!(answer.content));
    Ok(text_result(&format!("Elicitation completed: action={action}, content={content}")))
}

async fn report_progress(context: &RequestContext<RoleServer>) -> Value {
    if let Some(token) = context.meta.get_progress_token() {
        for done in [0.0, 50.0, 100.0] {
            let told = ProgressNotificationParam::new(token.clone(), done).with_total(100.0);
            let _ = context.peer.notify_progress(told).await;
            // why: the suite expects them one after the other
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
    text_result("Done.")
}

impl ServerHandler for Fixture {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_protocol_version(ProtocolVersion::V_2025_11_25)
            .with_server_info(Implementation::new("fixture", "1"))
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(ProtocolVersion::KNOWN_VERSIONS)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema: Map<String, Value> =
            serde_json::from_value(json!({ "type": "object", "properties": {} })).unwrap();
        let schema = Arc::new(schema);
        let tools = TOOL_NAMES.map(|name| Tool::new(name, "A tool of the suite.", schema.clone()));
        Ok(ListToolsResult::with_all_items(tools.to_vec())
            .with_ttl_ms(1000)
            .with_cache_scope(CacheScope::Public))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let name = &*request.name;
        if name.starts_with("test_input_required_result_") || name == "test_streaming_elicitation" {
            return self.ask_for_input(&request);
        }
        let result = match (fixture_value("results", name), name) {
            (Some(result), _) => result,
            (None, "test_tool_with_progress") => report_progress(&context).await,
            (None, "test_missing_capability") => {
                let needed = json!({ "requiredCapabilities": { "sampling": {} } });
                let code = ErrorCode(CAPABILITY_MISSING);
                return Err(ErrorData::new(code, "sampling is needed", Some(needed)));
            }
            (None, name) if name.starts_with("test_elicitation") => elicit_form(&request, &context).await?,
            _ => return Err(ErrorData::invalid_params("there is no such tool", None)),
        };
        Ok(into_complete_result(result).into())
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListPromptsRequestMethod>())
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListResourcesRequestMethod>())
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListResourceTemplatesRequestMethod>())
    }

    async fn complete(
        &self,
        _request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Err(ErrorData::method_not_found::<CompleteRequestMethod>())
    }
}
