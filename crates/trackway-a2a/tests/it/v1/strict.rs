//! Every answer from the view of a reader that accepts only members of the protocol.

use serde_json::{Value, json};
use trackway_a2a::{Options, PushSender, PushSenderOptions};

use super::bindings::{TestBinding, V1, WAYS, data_answer, text_message};
use crate::test_server::TestServer;

/// The allowed and the required members of an object: the protobuf messages of 1.0.
struct Form {
    allowed: &'static [&'static str],
    required: &'static [&'static str],
}

const TASK: Form = Form {
    allowed: &["id", "contextId", "status", "artifacts", "history", "metadata"],
    required: &["id", "status"],
};
const STATUS: Form = Form { allowed: &["state", "timestamp", "message"], required: &["state", "timestamp"] };
const MESSAGE: Form = Form {
    allowed: &[
        "messageId",
        "contextId",
        "taskId",
        "role",
        "parts",
        "metadata",
        "extensions",
        "referenceTaskIds",
    ],
    required: &["messageId", "role", "parts"],
};
const PART: Form =
    Form { allowed: &["text", "raw", "url", "data", "filename", "mediaType", "metadata"], required: &[] };
const ARTIFACT: Form = Form {
    allowed: &["artifactId", "name", "description", "parts", "metadata", "extensions"],
    required: &["artifactId", "parts"],
};
const STATUS_UPDATE: Form = Form {
    allowed: &["taskId", "contextId", "status", "metadata"],
    required: &["taskId", "contextId", "status"],
};
const ARTIFACT_UPDATE: Form = Form {
    allowed: &["taskId", "contextId", "artifact", "append", "lastChunk", "metadata"],
    required: &["taskId", "contextId", "artifact"],
};
const PAGE: Form = Form {
    allowed: &["tasks", "nextPageToken", "pageSize", "totalSize"],
    required: &["tasks", "nextPageToken", "pageSize", "totalSize"],
};
const CARD: Form = Form {
    allowed: &[
        "name",
        "description",
        "version",
        "capabilities",
        "skills",
        "supportedInterfaces",
        "defaultInputModes",
        "defaultOutputModes",
        "documentationUrl",
        "iconUrl",
        "provider",
        "securityRequirements",
        "securitySchemes",
        "signatures",
    ],
    required: &[
        "name",
        "description",
        "version",
        "capabilities",
        "skills",
        "supportedInterfaces",
        "defaultInputModes",
        "defaultOutputModes",
    ],
};
const CAPABILITIES: Form =
    Form { allowed: &["streaming", "pushNotifications", "extensions", "extendedAgentCard"], required: &[] };
const SKILL: Form = Form {
    allowed: &[
        "id",
        "name",
        "description",
        "tags",
        "examples",
        "inputModes",
        "outputModes",
        "securityRequirements",
    ],
    required: &["id", "name", "description", "tags"],
};

impl Form {
    fn check(&self, value: &Value) {
        let fields = value.as_object().unwrap_or_else(|| panic!("no object: {value}"));
        for name in fields.keys() {
            assert!(self.allowed.contains(&name.as_str()), "{name} is not of the protocol: {value}");
        }
        for name in self.required {
            let given = fields.get(*name).is_some_and(|value| !value.is_null());
            assert!(given, "{name} is missing: {value}");
        }
    }
}

fn check_each<'a>(list: &'a Value, check: impl Fn(&'a Value)) {
    list.as_array().into_iter().flatten().for_each(check);
}

fn check_task(task: &Value) {
    TASK.check(task);
    check_status(&task["status"]);
    check_each(&task["artifacts"], check_artifact);
    check_each(&task["history"], check_message);
    check_names(task);
}

fn check_status(status: &Value) {
    STATUS.check(status);
    assert!(status["state"].as_str().unwrap().starts_with("TASK_STATE_"));
    let time = status["timestamp"].as_str().unwrap();
    assert!(time.len() == "1970-01-01T00:00:00.000Z".len() && time.ends_with('Z'), "{time}");
    if let Some(message) = status.get("message") {
        check_message(message);
    }
}

fn check_message(message: &Value) {
    MESSAGE.check(message);
    assert!(message["role"].as_str().unwrap().starts_with("ROLE_"));
    check_parts(&message["parts"]);
}

fn check_artifact(artifact: &Value) {
    ARTIFACT.check(artifact);
    check_parts(&artifact["parts"]);
}

fn check_parts(parts: &Value) {
    assert!(!parts.as_array().unwrap().is_empty());
    check_each(parts, |part| {
        PART.check(part);
        let contents = ["text", "raw", "url", "data"].iter().filter(|name| part.get(**name).is_some());
        assert_eq!(contents.count(), 1, "{part}");
    });
}

fn check_item(item: &Value) {
    let (kind, item) = item.as_object().unwrap().iter().next().unwrap();
    match kind.as_str() {
        "task" => check_task(item),
        "message" => check_message(item),
        "statusUpdate" => {
            STATUS_UPDATE.check(item);
            check_status(&item["status"]);
        }
        "artifactUpdate" => {
            ARTIFACT_UPDATE.check(item);
            check_artifact(&item["artifact"]);
        }
        other => panic!("{other} is not of this protocol"),
    }
}

/// Names of 1.0 are in camel case, including the ones that we add.
fn check_names(value: &Value) {
    match value {
        Value::Object(fields) => fields.iter().for_each(|(name, value)| {
            assert!(!name.contains('_'), "{name}");
            check_names(value);
        }),
        Value::Array(list) => list.iter().for_each(check_names),
        _ => {}
    }
}

/// Proves X5, L18.
#[tokio::test]
async fn sends_streams_and_lists_hold_nothing_but_the_protocol() {
    for way in WAYS {
        let site = TestServer::new();
        for text in ["hello", "ask", "fail", "reject", "direct"] {
            let params = json!({"message": text_message(text, text)});
            check_item(&site.call_v1(way, "SendMessage", &params).await.unwrap());
            let params = json!({"message": text_message(&format!("{text}-2"), text)});
            let events = site.read_v1_stream(way, "SendStreamingMessage", &params).await;
            events.iter().for_each(|event| check_item(&event.result));
        }
        let task = site.start_v1_task(way, "m-1", "ask").await;
        for (id, data) in [("m-2", json!({"amount": 0})), ("m-3", json!({"amount": 1}))] {
            let params = json!({"message": data_answer(id, &task, &data)});
            check_item(&site.call_v1(way, "SendMessage", &params).await.unwrap());
        }
        let id = json!({"id": task["id"]});
        check_task(&site.call_v1(way, "GetTask", &id).await.unwrap());
        check_task(&site.call_v1(way, "CancelTask", &id).await.unwrap());
        let page = site.call_v1(way, "ListTasks", &json!({"includeArtifacts": true})).await.unwrap();
        PAGE.check(&page);
        check_each(&page["tasks"], check_task);
        assert_eq!(page["tasks"].as_array().unwrap().len(), 9);
    }
}

fn check_card(card: &Value) {
    CARD.check(card);
    CAPABILITIES.check(&card["capabilities"]);
    check_each(&card["skills"], |skill| SKILL.check(skill));
}

/// Proves X5.
#[tokio::test]
async fn cards_of_1_0_hold_nothing_but_the_protocol() {
    let outgoing = Some(PushSender::new(PushSenderOptions::default()));
    let options = Options { outgoing, extended_card: true, secured: true, ..Options::default() };
    let site = TestServer::with_options(options);
    for way in WAYS {
        check_card(&site.call_v1(way, "GetExtendedAgentCard", &json!({})).await.unwrap());
    }
    let path = "/a2a/agents/script/.well-known/agent-card.json?A2A-Version=1.0";
    check_card(&site.get(path).await.body);
    // A refusal contains only the three fields of JSON-RPC.
    let at = "/a2a/agents/script";
    let refused = site.call_v1_at(TestBinding::Rpc, at, "GetTask", &json!({"id": "x"}), &[V1]).await;
    let error = refused.unwrap_err().error;
    let mut names: Vec<_> = error.as_object().unwrap().keys().collect();
    names.sort_unstable();
    assert_eq!(names, ["code", "data", "message"]);
}
