//! The words of protocol 1.0 for what the fake peer says in those of 0.3.

use serde_json::{Value, json};

pub(super) fn v03_method(method: &str) -> &str {
    match method {
        "SendMessage" => "message/send",
        "SendStreamingMessage" => "message/stream",
        "GetTask" => "tasks/get",
        "ListTasks" => "tasks/list",
        "CancelTask" => "tasks/cancel",
        "SubscribeToTask" => "tasks/resubscribe",
        other => other,
    }
}

pub(super) fn v1_task(mut task: Value) -> Value {
    task.as_object_mut().unwrap().remove("kind");
    task["status"] = v1_status(task["status"].take());
    for artifact in task["artifacts"].as_array_mut().unwrap() {
        artifact["parts"] = v1_parts(artifact["parts"].take());
    }
    task
}

/// An item of a stream, or the answer to a message.
pub(super) fn v1_update(mut update: Value) -> Value {
    let kind = update.as_object_mut().unwrap().remove("kind").unwrap();
    match kind.as_str().unwrap() {
        "task" => json!({ "task": v1_task(update) }),
        "message" => json!({ "message": v1_message(update) }),
        "status-update" => {
            update.as_object_mut().unwrap().remove("final");
            update["status"] = v1_status(update["status"].take());
            json!({ "statusUpdate": update })
        }
        "artifact-update" => {
            update["artifact"]["parts"] = v1_parts(update["artifact"]["parts"].take());
            json!({ "artifactUpdate": update })
        }
        other => unreachable!("{other}"),
    }
}

fn v1_status(mut status: Value) -> Value {
    let state = status["state"].as_str().unwrap().to_uppercase().replace('-', "_");
    status["state"] = format!("TASK_STATE_{state}").into();
    if status.get("message").is_some() {
        status["message"] = v1_message(status["message"].take());
    }
    status
}

fn v1_message(mut message: Value) -> Value {
    message.as_object_mut().unwrap().remove("kind");
    message["role"] = "ROLE_AGENT".into();
    message["parts"] = v1_parts(message["parts"].take());
    message
}

fn v1_parts(mut parts: Value) -> Value {
    for part in parts.as_array_mut().unwrap() {
        part.as_object_mut().unwrap().remove("kind");
    }
    parts
}
