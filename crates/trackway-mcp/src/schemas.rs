//! The schemas of answers. A refusal is of the same schema: then `error` is there instead of the rest.

use serde_json::{Value, json};

pub(crate) fn list() -> Value {
    let workflow = object(
        json!({
            "workflowId": text(), "name": text(), "description": text(),
            "version": text(), "workflowHash": text(), "tags": array(text()),
        }),
        &["workflowId", "name", "description", "version", "workflowHash"],
    );
    let fault = object(
        json!({ "path": text(), "message": text(), "line": { "type": "integer" } }),
        &["path", "message"],
    );
    let invalid = object(
        json!({
            "file": text(), "workflowId": text(), "errors": array(fault),
            "errorCount": { "type": "integer" },
        }),
        &["file", "errors"],
    );
    or_error(
        json!({
            "workflows": array(workflow), "invalid": array(invalid),
            "total": { "type": "integer", "description": "Workflows on all pages." },
            "nextCursor": text(), "folders": array(text()),
        }),
        &["workflows", "invalid", "total"],
    )
}

pub(crate) fn inspect() -> Value {
    let unheeded = object(
        json!({ "path": text(), "message": text(), "matters": { "type": "boolean" } }),
        &["path", "message", "matters"],
    );
    let properties = json!({
        "workflowId": text(), "name": text(), "description": text(), "version": text(),
        "workflowHash": text(),
        "input": { "description": "JSON Schema of the context that a start wants." },
        "guidance": array(text()),
        "steps": {
            "type": "array",
            "items": { "type": "object", "required": ["id", "title", "kind"] },
            "description": "Steps with `id`, `title`, `kind`, and `steps` where they hold others.",
        },
        "unheeded": array(unheeded),
    });
    let required =
        ["workflowId", "name", "description", "version", "workflowHash", "steps", "unheeded"];
    or_error(properties, &required)
}

pub(crate) fn position() -> Value {
    let expected = object(
        json!({ "schema": {}, "example": {}, "required": { "type": "boolean" } }),
        &["schema", "example", "required"],
    );
    let fact = object(
        json!({ "name": text(), "values": { "type": "array" }, "steps": array(text()) }),
        &["name", "steps"],
    );
    let mut pending = object(
        json!({
            "stepId": text(), "title": text(), "prompt": text(),
            "requireConfirmation": { "type": "boolean" }, "output": expected,
            "facts": array(fact),
        }),
        &["stepId", "title", "prompt", "requireConfirmation"],
    );
    pending["type"] = json!(["object", "null"]);
    let mut blocked = object(
        json!({ "code": text(), "message": text(), "needs": array(need()) }),
        &["code", "message", "needs"],
    );
    blocked["type"] = json!(["object", "null"]);
    let branch = object(
        json!({
            "forked": { "type": "boolean" }, "index": { "type": "integer" },
            "siblings": { "type": "integer" },
        }),
        &["forked", "index", "siblings"],
    );
    let properties = json!({
        "stateToken": text(),
        "ackToken": { "type": ["string", "null"] },
        "pending": pending,
        "isComplete": { "type": "boolean" },
        "session": session(true),
        "workflowId": text(),
        "workflowHash": text(),
        "branch": branch,
        "warnings": warnings(),
        "blocked": blocked,
        "guidance": array(text()),
        "recap": recap(),
    });
    let required = [
        "stateToken",
        "ackToken",
        "pending",
        "isComplete",
        "session",
        "workflowId",
        "workflowHash",
        "branch",
        "warnings",
        "blocked",
    ];
    or_error(properties, &required)
}

pub(crate) fn resume() -> Value {
    let optional = json!({ "type": ["string", "null"] });
    let item = object(
        json!({
            "sessionId": text(), "runId": text(), "workflowId": text(), "title": text(),
            "stateToken": text(), "step": optional, "stepTitle": optional,
            "isComplete": { "type": "boolean" }, "updatedAt": text(), "recap": recap(),
        }),
        &["sessionId", "runId", "workflowId", "title", "stateToken", "step", "updatedAt", "recap"],
    );
    or_error(
        json!({ "items": array(item), "hasMore": { "type": "boolean" } }),
        &["items", "hasMore"],
    )
}

fn recap() -> Value {
    let note = object(
        json!({
            "notesMarkdown": text(), "recordedAt": text(), "stepId": text(), "title": text(),
            "workflowId": text(), "runId": text(), "scope": text(),
        }),
        &["notesMarkdown", "recordedAt"],
    );
    let document = object(
        json!({ "name": text(), "kind": text(), "content": text() }),
        &["name", "kind", "content"],
    );
    let optional = json!({ "type": ["string", "null"] });
    let grown = object(
        json!({
            "stateToken": text(), "stepId": optional, "title": optional,
            "isComplete": { "type": "boolean" }, "updatedAt": text(), "notesMarkdown": text(),
            "truncated": { "type": "boolean" },
        }),
        &["stateToken", "stepId", "title", "isComplete", "updatedAt"],
    );
    let mut recap = object(
        json!({
            "notes": array(note.clone()), "checkpoints": array(note),
            "documents": array(document), "grew": array(grown),
            "truncated": { "type": "boolean" }, "damaged": text(),
        }),
        &["notes", "checkpoints", "documents", "grew", "truncated"],
    );
    recap["description"] =
        "What was recorded on the way to this snapshot and in its session, and what grew from it."
            .into();
    recap
}

pub(crate) fn checkpoint() -> Value {
    let properties = json!({
        "recorded": { "type": "boolean" },
        "repeated": { "type": "boolean" },
        "session": session(false),
        "stateToken": text(),
        "workflowId": text(),
        "workflowHash": text(),
        "isComplete": { "type": "boolean" },
        "warnings": warnings(),
    });
    or_error(properties, &["recorded", "repeated", "session", "warnings"])
}

fn need() -> Value {
    object(
        json!({ "pointer": text(), "message": text(), "schema": {}, "example": {}, "got": {} }),
        &["pointer", "message"],
    )
}

fn session(run: bool) -> Value {
    let required: &[&str] = if run { &["sessionId", "runId"] } else { &["sessionId"] };
    object(json!({ "sessionId": text(), "runId": text() }), required)
}

fn warnings() -> Value {
    let properties = json!({
        "code": text(), "message": text(), "steps": array(text()), "facts": array(text()),
    });
    array(object(properties, &["code", "message"]))
}

fn or_error(mut properties: Value, required: &[&str]) -> Value {
    properties["error"] = object(
        json!({
            "code": text(), "message": text(), "next": text(),
            "retryable": { "type": "boolean" }, "needs": array(need()),
        }),
        &["code", "message", "next", "retryable"],
    );
    let mut schema = object(properties, &[]);
    schema["anyOf"] = json!([{ "required": required }, { "required": ["error"] }]);
    schema
}

fn object(properties: Value, required: &[&str]) -> Value {
    let mut schema = json!({ "type": "object", "required": required });
    schema["properties"] = properties;
    schema
}

fn array(items: Value) -> Value {
    let mut schema = json!({ "type": "array" });
    schema["items"] = items;
    schema
}

fn text() -> Value {
    json!({ "type": "string" })
}
