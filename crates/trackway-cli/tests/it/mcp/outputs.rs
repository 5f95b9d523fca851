//! Documents that are built from declared outputs, notes and checkpoints.

use serde_json::{Value, json};

use super::mcp_workspace::{McpWorkspace, prompt_step, workflow_definition};

/// The workflow of the source document's appendix: a header, a log and a table by key.
fn review() -> Value {
    let mut triage = prompt_step("triage");
    triage["outputContract"] = json!({
        "schema": { "type": "object", "required": ["review"], "properties": {
            "review": { "type": "object" }, "entry": { "type": "string" },
        } },
        "example": { "review": { "title": "T" }, "entry": "done" },
        "documents": [
            { "name": "header", "kind": "header", "from": "/review" },
            { "name": "log", "kind": "log", "from": "/entry" },
        ],
    });
    let mut files = prompt_step("files");
    files["outputContract"] = json!({
        "schema": { "type": "object", "properties": { "files": { "type": "array" } } },
        "example": { "files": [] },
        "required": false,
        "documents": [
            { "name": "files", "kind": "table", "from": "/files", "key": "path" },
            { "name": "log", "kind": "log", "from": "/entry" },
            { "name": "header", "kind": "header", "from": "/review" },
        ],
    });
    let looped = json!({
        "id": "rounds", "type": "loop", "title": "Rounds", "body": [files],
        "loop": { "type": "for", "count": 2, "maxIterations": 2 },
    });
    workflow_definition("mr-review", json!([triage, looped, prompt_step("last")]))
}

fn document<'a>(session: &'a Value, name: &str) -> &'a Value {
    let mut documents = session["documents"].as_array().unwrap().iter();
    documents.find(|it| it["name"] == name).unwrap_or_else(|| panic!("{name}: {session:#}"))
}

/// Proves T13: header fields are merged, a log grows, a table has one row per key, in the order in which
/// the keys first came.
#[test]
fn declared_outputs_become_documents() {
    let shop = McpWorkspace::with_workflows(&[review()]);
    let mut agent = shop.connect();
    let start = agent.start_run("mr-review", json!({ "ticketId": "AUTH-1234" }));
    let triage = json!({
        "review": { "title": "fix(di)", "classification": "Standard" }, "entry": "Triage done.",
    });
    let one = agent.advance(&start, json!({ "output": triage }));
    assert_eq!(one.step_id(), "files");
    assert_eq!(one.json["pending"]["output"]["required"], false);
    let files = |list: Value| json!({ "output": { "files": list, "entry": "Files." } });
    let round = json!([{ "path": "b.rs", "risk": "L" }, { "path": "a.rs", "risk": "M" }]);
    let two = agent.advance(&one, files(round));
    let round = json!([{ "path": "b.rs", "risk": "H" }, { "path": "c.rs", "risk": "L" }]);
    let more = json!({ "files": round, "entry": "Again.", "review": { "classification": "Risky" } });
    let last = agent.advance(&two, json!({ "output": more }));
    assert_eq!(last.step_id(), "last");
    let told = shop.run_json_command(&["sessions", "show", "AUTH-1234"]);
    let header = document(&told, "header");
    assert_eq!(header["kind"], "header");
    assert_eq!(header["runId"], start.run_id());
    assert_eq!(header["value"], json!({ "title": "fix(di)", "classification": "Risky" }));
    assert_eq!(document(&told, "log")["value"], json!(["Triage done.", "Files.", "Again."]));
    let table = document(&told, "files");
    assert_eq!(table["kind"], "table");
    let rows = table["value"].as_array().unwrap();
    let shown: Vec<String> = rows.iter().map(|row| format!("{}{}", row["path"], row["risk"])).collect();
    assert_eq!(shown, [r#""b.rs""H""#, r#""a.rs""M""#, r#""c.rs""L""#], "{table}");
}

/// Proves T13, T14: notes and checkpoints are documents; a checkpoint advances nothing, shows its token,
/// and the same notes appear once.
#[test]
fn notes_and_checkpoints_are_documents() {
    let shop = McpWorkspace::with_workflows(&[super::mcp_workspace::three_step_workflow()]);
    let mut agent = shop.connect();
    let start = agent.start_run("three", json!({ "sessionId": "S" }));
    let marked = agent.checkpoint(&start.state_token(), "Tuned the *output*.");
    assert_eq!(marked.json["stateToken"], start.json["stateToken"]);
    agent.checkpoint(&start.state_token(), "Tuned the *output*.");
    let second = agent.advance(&start, json!({ "notesMarkdown": "Notes of the first." }));
    assert_eq!(second.step_id(), "second", "the tokens from before it are good");
    assert_eq!(second.json["branch"]["forked"], false);
    let told = shop.run_json_command(&["sessions", "show", "S"]);
    let documents = told["documents"].to_string();
    assert_eq!(documents.matches("Tuned the *output*.").count(), 1, "{told:#}");
    assert_eq!(documents.matches("Notes of the first.").count(), 1, "{told:#}");
    for document in told["documents"].as_array().unwrap() {
        for field in ["name", "kind", "runId", "value"] {
            assert!(document.get(field).is_some(), "{document}");
        }
    }
    let graph = shop.run_json_command(&["sessions", "graph", "S"]);
    assert_eq!(graph["nodes"].as_array().unwrap().len(), 2, "a checkpoint is no snapshot");
    let empty = agent.checkpoint(&second.state_token(), "");
    assert!(empty.is_error, "{empty:#?}");
}
