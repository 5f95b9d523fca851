//! The contract of the tools, over the wire and on a real store.

use super::*;
use crate::testing::{NOTES, TestLineClient, TestWorkflowFolder, advance_arguments};

/// Proves T1: the tools, always in the same order, each with its schemas.
#[tokio::test]
async fn tools_are_listed_in_a_fixed_order() {
    let at = TestWorkflowFolder::new();
    let mut client = TestLineClient::connect_with_older_revision(at.open_door().await, json!({})).await;
    let listed = client.send_request_and_wait("tools/list", json!({})).await;
    let tools = listed["result"]["tools"].as_array().unwrap();
    let names: Vec<_> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ToolName::ALL.map(ToolName::as_str));
    for tool in tools {
        assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
        assert_eq!(tool["outputSchema"]["type"], "object", "{tool}");
        assert!(tool["annotations"]["readOnlyHint"].is_boolean(), "{tool}");
    }
    client.disconnect().await;
}

/// Proves T14: without its switch a checkpoint is neither offered nor accepted.
#[tokio::test]
async fn checkpoints_are_behind_their_switches() {
    let at = TestWorkflowFolder::new();
    at.write_workflow_file("notes.yaml", NOTES);
    let mut client = TestLineClient::connect_with_older_revision(
        at.open_door_with(CheckpointSwitches::default()).await,
        json!({}),
    )
    .await;
    let listed = client.send_request_and_wait("tools/list", json!({})).await;
    assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), 5);
    let first = client.call_tool_ok("workflow_start", json!({ "workflowId": "notes" })).await;
    let notes = json!({ "stateToken": first["stateToken"], "notesMarkdown": "n" });
    assert_eq!(client.call_tool_refused("workflow_checkpoint", notes.clone()).await, "switched-off");
    client.disconnect().await;

    let on = CheckpointSwitches { checkpoints: true, session_checkpoints: false };
    let mut client =
        TestLineClient::connect_with_older_revision(at.open_door_with(on).await, json!({})).await;
    let recorded = client.call_tool_ok("workflow_checkpoint", notes.clone()).await;
    assert_eq!((&recorded["recorded"], &recorded["repeated"]), (&json!(true), &json!(false)));
    assert_eq!(recorded["stateToken"], first["stateToken"]);
    assert_eq!(client.call_tool_ok("workflow_checkpoint", notes).await["repeated"], true);
    let session = json!({ "sessionId": "S", "notesMarkdown": "n" });
    assert_eq!(client.call_tool_refused("workflow_checkpoint", session.clone()).await, "switched-off");
    client.disconnect().await;

    let mut client = TestLineClient::connect_with_older_revision(at.open_door().await, json!({})).await;
    let recorded = client.call_tool_ok("workflow_checkpoint", session).await;
    assert_eq!(recorded["session"]["sessionId"], "S");
    client.disconnect().await;
}

/// Proves T1, T3, T9: from the list to the end; the hash is one and the same everywhere.
#[tokio::test]
async fn a_run_is_walked_to_its_end() {
    let at = TestWorkflowFolder::new();
    at.write_workflow_file("notes.yaml", NOTES).write_workflow_file("broken.yaml", "id: broken\nsteps: 3\n");
    let mut client = TestLineClient::connect_with_older_revision(at.open_door().await, json!({})).await;
    let list = client.call_tool_ok("workflow_list", json!({})).await;
    assert_eq!(list["workflows"][0]["workflowId"], "notes", "{list}");
    assert_eq!(list["invalid"].as_array().unwrap().len(), 1, "{list}");
    for (query, found) in [("RELEASE", 1), ("deploy", 0)] {
        let list = client.call_tool_ok("workflow_list", json!({ "query": query })).await;
        assert_eq!(list["workflows"].as_array().unwrap().len(), found, "{query}: {list}");
    }
    let page = json!({ "cursor": "page 2" });
    assert_eq!(client.call_tool_refused("workflow_list", page).await, "invalid-request");
    let inspected = client.call_tool_ok("workflow_inspect", json!({ "workflowId": "notes" })).await;
    assert_eq!(inspected["steps"][1]["id"], "publish");
    let context = json!({ "ticketId": "T-1" });
    let first =
        client.call_tool_ok("workflow_start", json!({ "workflowId": "notes", "context": context })).await;
    for hash in [&list["workflows"][0]["workflowHash"], &inspected["workflowHash"]] {
        assert_eq!(*hash, first["workflowHash"]);
    }
    assert_eq!(first["pending"]["stepId"], "gather");
    assert_eq!(first["session"]["sessionId"], "T-1");
    assert_eq!((&first["blocked"], &first["warnings"]), (&Value::Null, &json!([])));
    let second = client.call_tool_ok("workflow_advance", advance_arguments(&first, "did")).await;
    assert_eq!(second["pending"]["requireConfirmation"], true);
    let end = client.call_tool_ok("workflow_advance", advance_arguments(&second, "done")).await;
    assert_eq!((&end["isComplete"], &end["pending"]), (&json!(true), &Value::Null));
    assert_eq!(end["ackToken"], Value::Null);
    let look = json!({ "stateToken": end["stateToken"] });
    assert_eq!(client.call_tool_ok("workflow_advance", look).await["isComplete"], true);
    client.disconnect().await;
}

/// Proves T4, T6: the same call gets the same bytes, also from another process; other inputs fork.
#[tokio::test]
async fn replays_are_the_same_bytes_and_other_inputs_fork() {
    let (at, mut client) = TestLineClient::connect_to_notes_workflow(json!({})).await;
    let first = client.call_tool_ok("workflow_start", json!({ "workflowId": "notes" })).await;
    let told = client.call_tool("workflow_advance", advance_arguments(&first, "did")).await;
    assert_eq!(client.call_tool("workflow_advance", advance_arguments(&first, "did")).await, told);
    KeyRing::rotate(at.key_store(), trackway_domain::Timestamp(1), None).await.unwrap();
    let mut other = TestLineClient::connect_with_older_revision(at.open_door().await, json!({})).await;
    assert_eq!(other.call_tool("workflow_advance", advance_arguments(&first, "did")).await, told);
    // The position of the notes makes no difference.
    for place in ["output", "context"] {
        let mut inside = advance_arguments(&first, "did");
        let notes = inside.as_object_mut().unwrap().remove("notesMarkdown").unwrap();
        inside[place] = json!({ "notesMarkdown": notes });
        assert_eq!(other.call_tool("workflow_advance", inside).await, told, "{place}");
    }
    let forked = other.call_tool("workflow_advance", advance_arguments(&first, "otherwise")).await;
    assert_eq!(forked["structuredContent"]["branch"]["forked"], true);
    assert!(forked["content"][0]["text"].as_str().unwrap().contains("Forked"));
    client.disconnect().await;
    other.disconnect().await;
}

/// Proves T7: the text names the same tokens as the JSON, each once and alone on its line.
#[tokio::test]
async fn text_and_json_name_the_same_tokens() {
    let (_at, mut client) = TestLineClient::connect_to_notes_workflow(json!({})).await;
    let result = client.call_tool("workflow_start", json!({ "workflowId": "notes" })).await;
    let text = result["content"][0]["text"].as_str().unwrap();
    for name in ["stateToken", "ackToken"] {
        let token = result["structuredContent"][name].as_str().unwrap();
        assert_eq!(text.lines().filter(|line| *line == token).count(), 1, "{text}");
        assert_eq!(text.matches(token).count(), 1);
    }
    client.disconnect().await;
}

/// Proves T2, T5, T8: every mistake in a call is reported as data, with its own code.
#[tokio::test]
async fn wrong_calls_are_answered_as_data() {
    let (_at, mut client) = TestLineClient::connect_to_notes_workflow(json!({})).await;
    let one = client.call_tool_ok("workflow_start", json!({ "workflowId": "notes" })).await;
    let two = client.call_tool_ok("workflow_start", json!({ "workflowId": "notes" })).await;
    let next = client.call_tool_ok("workflow_advance", advance_arguments(&one, "did")).await;
    let (state, ack) = (&one["stateToken"], &one["ackToken"]);
    let cases = [
        (json!({ "stateToken": ack, "ackToken": state }), "token-swapped"),
        (json!({ "stateToken": state, "ackToken": state }), "token-swapped"),
        (json!({ "stateToken": state, "ackToken": two["ackToken"] }), "ack-of-other-run"),
        (json!({ "stateToken": state, "ackToken": next["ackToken"] }), "ack-of-other-snapshot"),
        (json!({ "stateToken": "hello" }), "token-malformed"),
        (json!({ "stateToken": 5 }), "invalid-request"),
        (json!({ "state_token": state }), "invalid-request"),
        (json!({ "stateToken": state, "context": [] }), "invalid-request"),
        (json!({ "stateToken": state, "ackToken": ack, "output": "x" }), "invalid-request"),
        (json!({ "stateToken": state, "notesMarkdown": "lost without ack" }), "invalid-request"),
        (
            json!({ "stateToken": state, "ackToken": ack, "notesMarkdown": "a", "context": { "notesMarkdown": "b" } }),
            "invalid-request",
        ),
        (json!("not an object"), "invalid-request"),
        (json!([1]), "invalid-request"),
        (Value::Null, "invalid-request"),
    ];
    for (arguments, code) in cases {
        let shown = arguments.to_string();
        assert_eq!(client.call_tool_refused("workflow_advance", arguments).await, code, "{shown}");
    }
    let unknown = json!({ "workflowId": "note" });
    assert_eq!(client.call_tool_refused("workflow_start", unknown.clone()).await, "unknown-workflow");
    assert_eq!(client.call_tool_refused("workflow_inspect", unknown).await, "unknown-workflow");
    assert_eq!(client.call_tool_refused("workflow_advnce", json!({})).await, "invalid-request");
    client.disconnect().await;
}

/// Proves T8: a mistake in an argument is named by its pointer, as data and as text, in both revisions, and
/// changes nothing.
#[tokio::test]
async fn a_wrong_argument_is_named_by_its_pointer() {
    let at = TestWorkflowFolder::new();
    at.write_workflow_file("notes.yaml", NOTES);
    let (start, advance) = ("workflow_start", "workflow_advance");
    for mut client in [
        TestLineClient::connect_with_older_revision(at.open_door().await, json!({})).await,
        TestLineClient::connect_with_newest_revision(at.open_door().await, &json!({})),
    ] {
        let first = client.call_tool_ok(start, json!({ "workflowId": "notes" })).await;
        let (state, ack) = (&first["stateToken"], &first["ackToken"]);
        let with = |name: &str, value: Value| {
            let mut arguments = json!({ "stateToken": state, "ackToken": ack });
            arguments[name] = value;
            arguments
        };
        let cases = [
            (start, json!({ "workflowId": 7 }), "/workflowId"),
            (start, json!({}), "/workflowId"),
            (start, json!({ "workflowId": null }), "/workflowId"),
            (start, json!({ "workflowId": "notes", "context": "x" }), "/context"),
            (start, json!({ "workflowId": "notes", "context": [1] }), "/context"),
            ("workflow_inspect", json!({ "workflowId": ["notes"] }), "/workflowId"),
            (advance, json!({}), "/stateToken"),
            (advance, with("stateToken", json!({ "a": 1 })), "/stateToken"),
            (advance, with("ackToken", json!(1.5)), "/ackToken"),
            (advance, with("output", json!("text")), "/output"),
            (advance, with("notesMarkdown", json!(["a"])), "/notesMarkdown"),
            (advance, with("context", json!({ "notesMarkdown": 3 })), "/context/notesMarkdown"),
            (advance, json!({ "stateToken": state, "notesMarkdown": "lost?" }), "/ackToken"),
            ("workflow_checkpoint", json!({ "stateToken": state }), "/notesMarkdown"),
            ("workflow_list", json!({ "verbose": true }), "/verbose"),
        ];
        for (tool, arguments, pointer) in cases {
            let refused = client.call_tool(tool, arguments.clone()).await;
            let error = &refused["structuredContent"]["error"];
            assert_eq!(error["code"], "invalid-request", "{tool} {arguments}: {refused}");
            let needs = error["needs"].as_array().unwrap();
            assert!(needs.iter().any(|need| need["pointer"] == pointer), "{pointer}: {error}");
            let text = refused["content"][0]["text"].as_str().unwrap();
            assert!(text.contains(pointer), "{pointer}: {text}");
        }
        let next = client.call_tool_ok(advance, advance_arguments(&first, "did")).await;
        assert_eq!(next["branch"], json!({ "forked": false, "index": 0, "siblings": 1 }));
        client.disconnect().await;
    }
}

/// The token with one changed character, ten before its end.
fn altered(token: &Value) -> String {
    let token = token.as_str().unwrap();
    let at = token.len() - 11;
    let other = if &token[at..=at] == "7" { "8" } else { "7" };
    format!("{}{other}{}", &token[..at], &token[at + 1..])
}

/// Proves T2: a refusal says which of the two tokens is wrong, and how. The call changes nothing.
#[tokio::test]
async fn a_wrong_token_is_named_by_its_parameter() {
    let (at, elsewhere) = (TestWorkflowFolder::new(), TestWorkflowFolder::new());
    at.write_workflow_file("notes.yaml", NOTES);
    elsewhere.write_workflow_file("notes.yaml", NOTES);
    let begin = json!({ "workflowId": "notes" });
    let mut neighbour =
        TestLineClient::connect_with_older_revision(elsewhere.open_door().await, json!({})).await;
    let foreign = neighbour.call_tool_ok("workflow_start", begin.clone()).await;
    neighbour.disconnect().await;
    let mut client = TestLineClient::connect_with_older_revision(at.open_door().await, json!({})).await;
    let first = client.call_tool_ok("workflow_start", begin).await;
    let (state, ack) = (&first["stateToken"], &first["ackToken"]);
    let half = |token: &Value| {
        let token = token.as_str().unwrap();
        json!(token[..token.len() / 2])
    };
    let cases = [
        (json!(altered(state)), ack.clone(), "token-changed", "stateToken"),
        (state.clone(), json!(altered(ack)), "token-changed", "ackToken"),
        (foreign["stateToken"].clone(), foreign["ackToken"].clone(), "token-foreign", "stateToken"),
        (state.clone(), foreign["ackToken"].clone(), "token-foreign", "ackToken"),
        (half(state), ack.clone(), "token-malformed", "stateToken"),
        (state.clone(), half(ack), "token-malformed", "ackToken"),
        (ack.clone(), state.clone(), "token-swapped", "stateToken"),
        (state.clone(), state.clone(), "token-swapped", "ackToken"),
    ];
    for (state, ack, code, parameter) in cases {
        let arguments = json!({ "stateToken": state, "ackToken": ack });
        let refused = client.call_tool("workflow_advance", arguments).await;
        let error = &refused["structuredContent"]["error"];
        assert_eq!(error["code"], code, "{parameter}: {refused}");
        assert!(error["message"].as_str().unwrap().contains(parameter), "{parameter}: {error}");
    }
    let noted = json!({ "stateToken": ack, "notesMarkdown": "n" });
    assert_eq!(client.call_tool_refused("workflow_checkpoint", noted).await, "token-swapped");
    let quoted = |token: &Value| format!("`{}`", token.as_str().unwrap());
    let arguments = json!({ "stateToken": quoted(state), "ackToken": quoted(ack) });
    let next = client.call_tool_ok("workflow_advance", arguments).await;
    assert_eq!(next["branch"], json!({ "forked": false, "index": 0, "siblings": 1 }));
    client.disconnect().await;
}

/// Proves T14: notes, a checkpoint and a session note are in a look, as data and as text, also in another
/// run of the session; a new chat finds them without a token.
#[tokio::test]
async fn recorded_notes_are_read_back() {
    let (at, mut client) = TestLineClient::connect_to_notes_workflow(json!({})).await;
    let begin = json!({ "workflowId": "notes", "context": { "ticketId": "ACE-7" } });
    let first = client.call_tool_ok("workflow_start", begin.clone()).await;
    assert_eq!(first["recap"]["notes"], json!([]), "{first}");
    let second = client.call_tool_ok("workflow_advance", advance_arguments(&first, "Seven changes.")).await;
    assert!(second.get("recap").is_none(), "an answer is replayed as it was");
    let noted = json!({ "stateToken": second["stateToken"], "notesMarkdown": "Asked Ada." });
    client.call_tool_ok("workflow_checkpoint", noted).await;
    let noted = json!({ "sessionId": "ACE-7", "notesMarkdown": "Release on Friday." });
    client.call_tool_ok("workflow_checkpoint", noted).await;

    let look = json!({ "stateToken": second["stateToken"] });
    let seen = client.call_tool("workflow_advance", look).await;
    let (recap, text) = (&seen["structuredContent"]["recap"], seen["content"][0]["text"].as_str());
    assert_eq!(recap["notes"][0]["notesMarkdown"], "Seven changes.", "{recap}");
    assert_eq!(recap["notes"][0]["stepId"], "gather");
    for (place, notes) in [("checkpoints", "Asked Ada."), ("checkpoints", "Release on Friday.")] {
        assert!(recap[place].to_string().contains(notes), "{recap}");
        assert!(text.unwrap().contains(notes), "{text:?}");
    }
    let earlier = client.call_tool("workflow_advance", json!({ "stateToken": first["stateToken"] })).await;
    let grown = &earlier["structuredContent"]["recap"]["grew"][0];
    assert_eq!((&grown["stepId"], &grown["isComplete"]), (&json!("publish"), &json!(false)));
    assert_eq!(grown["stateToken"], second["stateToken"], "the branch can be taken up");
    let text = earlier["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("Answered before") && text.contains("Seven changes."), "{text}");

    let other = client.call_tool("workflow_start", begin).await;
    let text = other["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("Release on Friday.") && text.contains("Seven changes."), "{text}");
    client.disconnect().await;

    let mut client = TestLineClient::connect_with_older_revision(at.open_door().await, json!({})).await;
    for query in ["ACE-7", "seven changes", ""] {
        let found = client.call_tool("workflow_resume", json!({ "query": query })).await;
        let items = found["structuredContent"]["items"].as_array().unwrap();
        let item = items.iter().find(|item| item["runId"] == first["session"]["runId"]).unwrap();
        assert_eq!(item["stateToken"], second["stateToken"], "{query}");
        let expected = json!(["ACE-7", "notes", "Release notes", "publish"]);
        let told = ["sessionId", "workflowId", "title", "step"].map(|field| item[field].clone());
        assert_eq!(json!(told), expected);
        assert_eq!(item["recap"]["notes"][0]["notesMarkdown"], "Seven changes.");
        let text = found["content"][0]["text"].as_str().unwrap();
        assert!(text.contains(second["stateToken"].as_str().unwrap()), "{text}");
    }
    let none = client.call_tool_ok("workflow_resume", json!({ "query": "no such words" })).await;
    assert_eq!(none["items"], json!([]));
    assert_eq!(client.call_tool_refused("workflow_resume", json!({ "q": "x" })).await, "invalid-request");
    assert_eq!(client.call_tool_refused("workflow_resume", json!({ "query": 7 })).await, "invalid-request");
    client.disconnect().await;
}
