//! Makes streams comparable: the forms of ids and times are checked, then replaced by names. Also builds
//! the events that tests expect.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::{Message, StreamEvent};

/// The events without the parts that differ from run to run. Everything that is replaced is checked first.
pub(crate) fn normalize_events(events: &[StreamEvent]) -> Vec<Value> {
    assert!(events.is_sorted_by(|a, b| a.pos < b.pos), "positions increase: {events:#?}");
    let mut seen = EventNormalizer::from_first_event(&events[0].result);
    events.iter().map(|event| seen.normalize_event(&event.result)).collect()
}

/// Values that must be the same, or different, from event to event.
struct EventNormalizer {
    task: Value,
    context: Value,
    messages: HashSet<String>,
    newest: String,
}

impl EventNormalizer {
    fn from_first_event(first: &Value) -> Self {
        let task = first.get("id").unwrap_or(&first["taskId"]).clone();
        assert!(has_generated_id_form("run_", &task), "{task} is a task id");
        let context = first["contextId"].clone();
        assert!(context.is_string());
        Self { task, context, messages: HashSet::new(), newest: String::new() }
    }

    fn normalize_event(&mut self, event: &Value) -> Value {
        let mut event = event.clone();
        let fields = object(&mut event);
        self.check_task_ids(fields, if fields["kind"] == "task" { "id" } else { "taskId" });
        if let Some(status) = fields.get_mut("status") {
            let status = object(status);
            self.check_timestamp(status);
            if let Some(message) = status.get_mut("message") {
                let fresh = self.messages.insert(message["messageId"].to_string());
                assert!(fresh, "each status has a message of its own: {message}");
                self.normalize_message(message);
            }
        }
        for said in fields.get_mut("history").and_then(Value::as_array_mut).into_iter().flatten() {
            self.normalize_message(said);
        }
        event
    }

    fn check_task_ids(&self, fields: &mut Map<String, Value>, id: &str) {
        assert_eq!((&fields[id], &fields["contextId"]), (&self.task, &self.context));
        fields[id] = json!("<task>");
        fields["contextId"] = json!("<context>");
    }

    fn check_timestamp(&mut self, status: &mut Map<String, Value>) {
        let time = status["timestamp"].as_str().expect("every status has a time").to_owned();
        assert!(is_time(&time), "{time} is RFC 3339 in UTC with milliseconds");
        assert!(time >= self.newest, "{time} is not before {}", self.newest);
        status["timestamp"] = json!("<time>");
        self.newest = time;
    }

    fn normalize_message(&self, message: &mut Value) {
        let fields = object(message);
        assert_eq!(fields["kind"], "message");
        self.check_task_ids(fields, "taskId");
        if fields["role"] == "agent" {
            assert!(is_uuid_v7(&fields["messageId"]), "{} is a UUIDv7", fields["messageId"]);
            fields["messageId"] = json!("<message>");
        }
        if let Some(question) = fields.get_mut("metadata").and_then(|it| it.get_mut("questionId")) {
            assert!(has_generated_id_form("qst_", question), "{question} is a question id");
            *question = json!("<question>");
        }
        for part in fields["parts"].as_array_mut().expect("parts are a list") {
            assert!(!part.to_string().contains("timestamp"), "the runtime stamps no parts: {part}");
            if let Some(schema) = part.get_mut("metadata").and_then(|it| it.get_mut("schema")) {
                *schema = summarize_schema(schema);
            }
        }
    }
}

/// A schema by the fields that it asks for; other tests check their rules.
fn summarize_schema(schema: &Value) -> Value {
    assert_eq!(schema["type"], "object");
    json!(format!("<schema of {}>", schema["required"]))
}

fn object(value: &mut Value) -> &mut Map<String, Value> {
    value.as_object_mut().expect("an object")
}

fn has_generated_id_form(prefix: &str, id: &Value) -> bool {
    let hex = id.as_str().and_then(|id| id.strip_prefix(prefix)).unwrap_or_default();
    hex.len() == 32 && hex.bytes().all(|byte| byte.is_ascii_hexdigit()) && hex.as_bytes()[12] == b'7'
}

fn is_uuid_v7(id: &Value) -> bool {
    let form = |at: usize, byte: u8| match at {
        8 | 13 | 18 | 23 => byte == b'-',
        14 => byte == b'7',
        19 => b"89ab".contains(&byte),
        _ => byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte),
    };
    let id = id.as_str().unwrap_or_default();
    id.len() == 36 && id.bytes().enumerate().all(|(at, byte)| form(at, byte))
}

fn is_time(time: &str) -> bool {
    let form = "dddd-dd-ddTdd:dd:dd.dddZ";
    let fits = |(want, byte): (u8, u8)| if want == b'd' { byte.is_ascii_digit() } else { want == byte };
    time.len() == form.len() && form.bytes().zip(time.bytes()).all(fits)
}

/// The Task of a start.
pub(crate) fn expected_submitted_task(message: &Message) -> Value {
    let mut said = message.json().clone();
    said["taskId"] = json!("<task>");
    said["contextId"] = json!("<context>");
    let status = json!({ "state": "submitted", "timestamp": "<time>" });
    json!({ "kind": "task", "id": "<task>", "contextId": "<context>", "status": status,
        "artifacts": [], "history": [said] })
}

fn expected_status_update(state: &str, message: Option<Value>, last: bool) -> Value {
    let mut status = json!({ "state": state, "timestamp": "<time>" });
    if let Some(message) = message {
        status["message"] = message;
    }
    json!({ "kind": "status-update", "taskId": "<task>", "contextId": "<context>",
        "status": status, "final": last })
}

fn agent_message(parts: Value) -> Value {
    json!({ "kind": "message", "messageId": "<message>", "taskId": "<task>", "contextId": "<context>",
        "role": "agent", "parts": parts })
}

/// The `working` of a start.
pub(crate) fn expected_working() -> Value {
    expected_status_update("working", None, false)
}

/// The `working` of a resume.
pub(crate) fn expected_resumed(concurrent: bool, order: u32) -> Value {
    let mut working = expected_working();
    working["metadata"] =
        json!({ "concurrentRequest": concurrent, "requestOrder": order, "primaryResume": true });
    working
}

/// A status-update.
pub(crate) fn expected_status_message(parts: Value) -> Value {
    expected_status_update("working", Some(agent_message(parts)), false)
}

/// A question for these fields, with the errors of the previous answer, if there was one.
pub(crate) fn expected_question(state: &str, prompt: &str, fields: &[&str], errors: Option<&Value>) -> Value {
    let schema = format!("<schema of {}>", json!(fields));
    let mut parts = vec![json!({ "kind": "text", "text": prompt,
        "metadata": { "schema": schema, "mimeType": "application/json" } })];
    let mut metadata = json!({ "questionId": "<question>" });
    if let Some(errors) = errors {
        parts.push(json!({ "kind": "text", "text": format_refusal_reasons(errors) }));
        metadata["validationErrors"] = errors.clone();
    }
    let mut message = agent_message(json!(parts));
    message["metadata"] = metadata;
    expected_status_update(state, Some(message), false)
}

/// Why an answer was refused, as in the repeated question.
fn format_refusal_reasons(errors: &Value) -> String {
    let reason = |error: &Value| {
        let (path, message) = (error["path"].as_str(), error["message"].as_str());
        format!("\n- {}: {}", path.unwrap_or_default(), message.unwrap_or_default())
    };
    let errors = errors.as_array().into_iter().flatten();
    let reasons: String = errors.map(reason).collect();
    format!("The answer was not accepted:{reasons}")
}

/// The last event, with its text.
pub(crate) fn expected_end(state: &str, why: Option<&str>) -> Value {
    expected_status_update(state, why.map(|text| agent_message(json!([text_part(text)]))), true)
}

pub(crate) fn text_part(text: &str) -> Value {
    json!({ "kind": "text", "text": text })
}

pub(crate) fn data_part(data: Value) -> Value {
    json!({ "kind": "data", "data": data, "metadata": { "mimeType": "application/json" } })
}

/// An artifact-update of a whole artifact of one data part.
pub(crate) fn expected_artifact(id: &str, name: &str, data: Value) -> Value {
    let artifact = json!({ "artifactId": id, "name": name, "parts": [data_part(data)] });
    json!({ "kind": "artifact-update", "taskId": "<task>", "contextId": "<context>",
        "artifact": artifact, "append": false, "lastChunk": true })
}
