//! What streams told, made comparable: forms of ids and times are checked, then replaced by their
//! names. And the words in which tests write down what they expect.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::{Event, Message};

/// The events without what differs from run to run. Everything that is replaced is checked first.
pub(crate) fn told(events: &[Event]) -> Vec<Value> {
    assert!(events.is_sorted_by(|a, b| a.pos < b.pos), "positions increase: {events:#?}");
    let mut seen = Seen::of(&events[0].result);
    events.iter().map(|event| seen.event(&event.result)).collect()
}

/// What must be the same, or different, from event to event.
struct Seen {
    task: Value,
    context: Value,
    messages: HashSet<String>,
    newest: String,
}

impl Seen {
    fn of(first: &Value) -> Self {
        let task = first.get("id").unwrap_or(&first["taskId"]).clone();
        assert!(is_made("run_", &task), "{task} is a task id");
        let context = first["contextId"].clone();
        assert!(context.is_string());
        Self { task, context, messages: HashSet::new(), newest: String::new() }
    }

    fn event(&mut self, event: &Value) -> Value {
        let mut event = event.clone();
        let fields = object(&mut event);
        self.place(fields, if fields["kind"] == "task" { "id" } else { "taskId" });
        if let Some(status) = fields.get_mut("status") {
            let status = object(status);
            self.time(status);
            if let Some(message) = status.get_mut("message") {
                let fresh = self.messages.insert(message["messageId"].to_string());
                assert!(fresh, "each status has a message of its own: {message}");
                self.message(message);
            }
        }
        for said in fields.get_mut("history").and_then(Value::as_array_mut).into_iter().flatten() {
            self.message(said);
        }
        event
    }

    fn place(&self, fields: &mut Map<String, Value>, id: &str) {
        assert_eq!((&fields[id], &fields["contextId"]), (&self.task, &self.context));
        fields[id] = json!("<task>");
        fields["contextId"] = json!("<context>");
    }

    fn time(&mut self, status: &mut Map<String, Value>) {
        let time = status["timestamp"].as_str().expect("every status has a time").to_owned();
        assert!(is_time(&time), "{time} is RFC 3339 in UTC with milliseconds");
        assert!(time >= self.newest, "{time} is not before {}", self.newest);
        status["timestamp"] = json!("<time>");
        self.newest = time;
    }

    fn message(&self, message: &mut Value) {
        let fields = object(message);
        assert_eq!(fields["kind"], "message");
        self.place(fields, "taskId");
        if fields["role"] == "agent" {
            assert!(is_uuid_v7(&fields["messageId"]), "{} is a UUIDv7", fields["messageId"]);
            fields["messageId"] = json!("<message>");
        }
        if let Some(question) = fields.get_mut("metadata").and_then(|it| it.get_mut("questionId")) {
            assert!(is_made("qst_", question), "{question} is a question id");
            *question = json!("<question>");
        }
        for part in fields["parts"].as_array_mut().expect("parts are a list") {
            assert!(!part.to_string().contains("timestamp"), "the runtime stamps no parts: {part}");
            if let Some(schema) = part.get_mut("metadata").and_then(|it| it.get_mut("schema")) {
                *schema = wanted(schema);
            }
        }
    }
}

/// A schema by the fields that it asks for; their rules have tests of their own.
fn wanted(schema: &Value) -> Value {
    assert_eq!(schema["type"], "object");
    json!(format!("<schema of {}>", schema["required"]))
}

fn object(value: &mut Value) -> &mut Map<String, Value> {
    value.as_object_mut().expect("an object")
}

fn is_made(prefix: &str, id: &Value) -> bool {
    let hex = id.as_str().and_then(|id| id.strip_prefix(prefix)).unwrap_or_default();
    hex.len() == 32
        && hex.bytes().all(|byte| byte.is_ascii_hexdigit())
        && hex.as_bytes()[12] == b'7'
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
    let fits =
        |(want, byte): (u8, u8)| if want == b'd' { byte.is_ascii_digit() } else { want == byte };
    time.len() == form.len() && form.bytes().zip(time.bytes()).all(fits)
}

/// The Task of a start.
pub(crate) fn submitted(message: &Message) -> Value {
    let mut said = message.json().clone();
    said["taskId"] = json!("<task>");
    said["contextId"] = json!("<context>");
    let status = json!({ "state": "submitted", "timestamp": "<time>" });
    json!({ "kind": "task", "id": "<task>", "contextId": "<context>", "status": status,
        "artifacts": [], "history": [said] })
}

fn status(state: &str, message: Option<Value>, last: bool) -> Value {
    let mut status = json!({ "state": state, "timestamp": "<time>" });
    if let Some(message) = message {
        status["message"] = message;
    }
    json!({ "kind": "status-update", "taskId": "<task>", "contextId": "<context>",
        "status": status, "final": last })
}

fn spoken(parts: Value) -> Value {
    json!({ "kind": "message", "messageId": "<message>", "taskId": "<task>", "contextId": "<context>",
        "role": "agent", "parts": parts })
}

/// The `working` of a start.
pub(crate) fn working() -> Value {
    status("working", None, false)
}

/// The `working` of a resume.
pub(crate) fn resumed(concurrent: bool, order: u32) -> Value {
    let mut working = working();
    working["metadata"] =
        json!({ "concurrentRequest": concurrent, "requestOrder": order, "primaryResume": true });
    working
}

/// A status-update.
pub(crate) fn says(parts: Value) -> Value {
    status("working", Some(spoken(parts)), false)
}

/// A question for these fields; with the errors of the answer before, where there was one.
pub(crate) fn asked(state: &str, prompt: &str, fields: &[&str], errors: Option<&Value>) -> Value {
    let schema = format!("<schema of {}>", json!(fields));
    let mut parts = vec![json!({ "kind": "text", "text": prompt,
        "metadata": { "schema": schema, "mimeType": "application/json" } })];
    let mut metadata = json!({ "questionId": "<question>" });
    if let Some(errors) = errors {
        parts.push(json!({ "kind": "text", "text": reasons(errors) }));
        metadata["validationErrors"] = errors.clone();
    }
    let mut message = spoken(json!(parts));
    message["metadata"] = metadata;
    status(state, Some(message), false)
}

/// Why an answer was refused, as the repeated question says it.
fn reasons(errors: &Value) -> String {
    let reason = |error: &Value| {
        let (path, message) = (error["path"].as_str(), error["message"].as_str());
        format!("\n- {}: {}", path.unwrap_or_default(), message.unwrap_or_default())
    };
    let errors = errors.as_array().into_iter().flatten();
    let reasons: String = errors.map(reason).collect();
    format!("The answer was not accepted:{reasons}")
}

/// The last event, with the text that it says.
pub(crate) fn ended(state: &str, why: Option<&str>) -> Value {
    status(state, why.map(|text| spoken(json!([text_part(text)]))), true)
}

pub(crate) fn text_part(text: &str) -> Value {
    json!({ "kind": "text", "text": text })
}

pub(crate) fn data_part(data: Value) -> Value {
    json!({ "kind": "data", "data": data, "metadata": { "mimeType": "application/json" } })
}

/// An artifact-update of a whole artifact of one data part.
pub(crate) fn whole_artifact(id: &str, name: &str, data: Value) -> Value {
    let artifact = json!({ "artifactId": id, "name": name, "parts": [data_part(data)] });
    json!({ "kind": "artifact-update", "taskId": "<task>", "contextId": "<context>",
        "artifact": artifact, "append": false, "lastChunk": true })
}
