//! What people see of agents' runs, on the command line while agents are at work.

use std::fs;

use serde_json::{Value, json};

use super::{
    answer::ToolAnswer,
    client::{ConfirmationReply, McpTestClient, ProtocolRevision},
    mcp_workspace::{McpWorkspace, three_step_workflow},
};

/// A run with two branches, notes and a checkpoint; it is finished.
fn forked(agent: &mut McpTestClient, session: &str) -> Vec<ToolAnswer> {
    let start = agent.start_run("three", json!({ "sessionId": session }));
    let one = agent.advance(&start, json!({ "notesMarkdown": "Notes of one." }));
    agent.checkpoint(&one.state_token(), "A checkpoint.");
    let two = agent.advance(&start, json!({ "notesMarkdown": "Notes of two." }));
    let third = agent.advance(&two, json!({}));
    let end = agent.advance(&third, json!({}));
    vec![start, one, two, third, end]
}

fn export(shop: &McpWorkspace, session: &str, file: &str, format: &str) -> Vec<u8> {
    let out = shop.path().join(file);
    let out = out.to_str().unwrap();
    shop.run_command(&["sessions", "export", session, "--out", out, "--format", format]).expect(0);
    fs::read(out).unwrap()
}

/// Proves T11, T12: list, show and graph while the server runs.
#[test]
fn sessions_are_shown_while_an_agent_works() {
    let shop = McpWorkspace::with_workflows(&[three_step_workflow()]);
    let mut agent = shop.connect();
    let walked = forked(&mut agent, "S");
    let other = agent.start_run("three", json!({ "sessionId": "other" }));
    let list = shop.run_json_command(&["sessions", "list"]);
    let mut ids: Vec<&str> =
        list.as_array().unwrap().iter().map(|it| it["sessionId"].as_str().unwrap()).collect();
    ids.sort_unstable();
    assert_eq!(ids, ["S", "other"]);
    let shown = shop.run_json_command(&["sessions", "show", "S"]);
    assert_eq!(shown["sessionId"], "S");
    let run = &shown["runs"][0];
    assert_eq!(run["runId"], walked[0].run_id());
    assert_eq!(run["workflowId"], "three");
    assert_eq!((&run["status"], &run["branches"]), (&json!("complete"), &json!(2)));
    for text in ["Notes of one.", "Notes of two.", "A checkpoint."] {
        assert!(shown["documents"].to_string().contains(text), "{shown:#}");
    }
    let graph = shop.run_json_command(&["sessions", "graph", "S"]);
    let nodes = graph["nodes"].as_array().unwrap();
    let edges = graph["edges"].as_array().unwrap();
    assert_eq!((nodes.len(), edges.len()), (5, 4), "{graph:#}");
    let has = |id: &Value| nodes.iter().any(|node| node["id"] == *id);
    for edge in edges {
        assert!(edge["id"].is_string() && has(&edge["from"]) && has(&edge["to"]), "{edge}");
    }
    let shown = shop.run_json_command(&["sessions", "show", "other"]);
    assert_eq!(shown["runs"][0]["status"], "running");
    assert_eq!(agent.advance(&other, json!({})).step_id(), "second");
    let nowhere = shop.run_command(&["sessions", "show", "nowhere", "--json"]);
    assert!(nowhere.code != 0 && nowhere.stderr.contains("unknown-session"), "{nowhere:?}");
}

/// Proves T16: Markdown shows every branch, PDF is one, and the bundle holds no tokens.
#[test]
fn a_session_is_exported_for_people_and_for_programs() {
    let shop = McpWorkspace::with_workflows(&[three_step_workflow()]);
    let mut agent = shop.connect();
    let walked = forked(&mut agent, "S");
    let page = String::from_utf8(export(&shop, "S", "s.md", "markdown")).unwrap();
    for text in ["Notes of one.", "Notes of two.", "A checkpoint.", "Title of third"] {
        assert!(page.contains(text), "{text}: {page}");
    }
    assert!(export(&shop, "S", "s.pdf", "pdf").starts_with(b"%PDF-"));
    let bundle = String::from_utf8(export(&shop, "S", "s.bundle", "bundle")).unwrap();
    for text in [&page, &bundle] {
        assert!(!text.contains("st.v1.") && !text.contains("ack.v1."), "{text}");
        for answer in &walked {
            assert!(!text.contains(&answer.state_token()["st.v1.".len()..]));
        }
    }
}

/// Proves T16: an import on another folder has the same lineage and documents; tokens of the origin are
/// foreign there; the import can be repeated, and the run continues at its origin.
#[test]
fn an_import_reproduces_lineage_and_documents() {
    let shop = McpWorkspace::with_workflows(&[three_step_workflow()]);
    let mut agent = shop.connect();
    let walked = forked(&mut agent, "S");
    export(&shop, "S", "s.bundle", "bundle");
    let file = shop.path().join("s.bundle");
    let elsewhere = shop.with_other_data_folder();
    let mut stranger = elsewhere.connect();
    stranger.start_run("three", json!({ "sessionId": "mine" }));
    elsewhere.run_command(&["sessions", "import", file.to_str().unwrap()]).expect(0);
    elsewhere.run_command(&["sessions", "import", file.to_str().unwrap()]).expect(0);
    for what in ["show", "graph"] {
        let here = shop.run_json_command(&["sessions", what, "S"]);
        assert_eq!(elsewhere.run_json_command(&["sessions", what, "S"]), here);
    }
    let page = export(&shop, "S", "a.md", "markdown");
    assert_eq!(export(&elsewhere, "S", "b.md", "markdown"), page);
    assert_eq!(stranger.look(&walked[0].state_token()).error_code(), "token-foreign");
    assert_eq!(stranger.advance(&walked[1], json!({})).error_code(), "token-foreign");
    assert_eq!(agent.advance(&walked[1], json!({})).step_id(), "third");
}

/// Proves T16: a damaged bundle is refused with a reason, wherever the damage is, and leaves nothing.
#[test]
fn a_damaged_bundle_is_refused() {
    let shop = McpWorkspace::with_workflows(&[three_step_workflow()]);
    forked(&mut shop.connect(), "S");
    let bundle = export(&shop, "S", "s.bundle", "bundle");
    let elsewhere = shop.with_other_data_folder();
    elsewhere.connect().start_run("three", json!({ "sessionId": "mine" }));
    let file = shop.path().join("damaged.bundle");
    let mut damaged: Vec<Vec<u8>> = Vec::new();
    for part in 1..10 {
        let mut copy = bundle.clone();
        let place = copy.len() * part / 10;
        copy[place] = if copy[place] == b'a' { b'b' } else { b'a' };
        damaged.push(copy);
        damaged.push(bundle[..bundle.len() * part / 10].to_vec());
    }
    damaged.extend([Vec::new(), b"{}".to_vec(), b"no bundle".to_vec(), vec![0xff; 100]]);
    for content in damaged {
        fs::write(&file, &content).unwrap();
        let refused = elsewhere.run_command(&["sessions", "import", file.to_str().unwrap()]);
        assert_ne!(refused.code, 0, "{}", String::from_utf8_lossy(&content));
        assert!(refused.stderr.contains("bad-bundle"), "{refused:?}");
    }
    assert_eq!(elsewhere.run_json_command(&["sessions", "list"]).as_array().unwrap().len(), 1);
    // If one signer is required, a bundle of another signer is refused.
    let by = ["sessions", "import", "--signed-by", &"0".repeat(64)];
    let whole = shop.path().join("s.bundle");
    let refused = elsewhere.run_command(&[&by[..], &[whole.to_str().unwrap()]].concat());
    assert_ne!(refused.code, 0, "{refused:?}");
}

/// Proves T17: only finished sessions of some age are removed, a dry run lists them and removes nothing,
/// and the server continues.
#[test]
fn prune_removes_finished_sessions_only() {
    let shop = McpWorkspace::with_workflows(&[three_step_workflow()]);
    let mut agent = shop.connect();
    let walked = forked(&mut agent, "finished");
    let open = agent.start_run("three", json!({ "sessionId": "open" }));
    let ids = |args: &[&str]| -> Vec<String> {
        let told = shop.run_command(&[&["sessions", "prune"], args].concat()).expect(0);
        told.stdout.lines().map(str::to_owned).collect()
    };
    assert!(ids(&[]).is_empty(), "nothing is sixty days old");
    // The newest branch is at its end; the other can still continue.
    assert!(ids(&["--older-than", "0s"]).is_empty());
    let third = agent.advance(&walked[1], json!({}));
    assert!(agent.advance(&third, json!({})).is_complete());
    assert_eq!(ids(&["--older-than", "0s", "--dry-run"]), ["finished"]);
    assert_eq!(shop.run_json_command(&["sessions", "list"]).as_array().unwrap().len(), 2);
    assert_eq!(ids(&["--older-than", "0s"]), ["finished"]);
    let list = shop.run_json_command(&["sessions", "list"]);
    assert_eq!(list.as_array().unwrap().len(), 1, "{list}");
    assert_eq!(agent.look(&walked[0].state_token()).error_code(), "unknown-run");
    assert_eq!(agent.advance(&walked[1], json!({})).error_code(), "unknown-run");
    assert_eq!(agent.advance(&open, json!({})).step_id(), "second");
}

/// Proves T1, T14: a new chat in another process finds the run by its ticket or by words, reads the notes,
/// and continues; over stdio in both revisions.
#[test]
fn a_new_chat_takes_up_a_run_without_tokens() {
    let shop = McpWorkspace::with_workflows(&[three_step_workflow()]);
    let mut agent = shop.connect();
    let start = agent.start_run("three", json!({ "ticketId": "ACE-7" }));
    let second = agent.advance(&start, json!({ "notesMarkdown": "The login retries." }));
    agent.checkpoint(&second.state_token(), "Ada knows why.");
    agent.close();
    for era in [ProtocolRevision::Newest, ProtocolRevision::Legacy] {
        let mut chat = shop.connect_as(era, ConfirmationReply::Unasked);
        for query in ["ACE-7", "login retries", "ada knows", ""] {
            let found = chat.resume(query);
            let items = found.json["items"].as_array().unwrap();
            assert_eq!(items.len(), 1, "{query}: {found:#?}");
            assert_eq!(items[0]["stateToken"], second.state_token(), "{query}");
            assert_eq!(items[0]["step"], "second");
            let look = chat.look(&second.state_token());
            assert!(look.text.contains("The login retries."), "{look:#?}");
            assert!(look.text.contains("Ada knows why."), "{look:#?}");
        }
        assert_eq!(chat.resume("elsewhere").json["items"], json!([]));
    }
    let mut chat = shop.connect();
    let look = chat.look(&second.state_token());
    assert_eq!(chat.advance(&look, json!({})).step_id(), "third");
    assert_eq!(chat.look(&start.state_token()).json["recap"]["grew"][0]["stepId"], "third");
}

/// Proves T12: a node is found by its number, and a token from a chat leads to its node.
#[test]
fn a_token_from_a_chat_leads_to_its_node() {
    let shop = McpWorkspace::with_workflows(&[three_step_workflow()]);
    let mut agent = shop.connect();
    let start = agent.start_run("three", json!({ "sessionId": "S" }));
    let second = agent.advance(&start, json!({}));
    let found = shop.run_json_command(&["sessions", "find", &second.state_token()]);
    assert_eq!((&found["sessionId"], &found["runId"]), (&json!("S"), &json!(second.run_id())));
    assert_eq!(found["node"]["stepId"], "second", "{found:#}");
    let graph = shop.run_json_command(&["sessions", "graph", "S", "--token-hashes"]);
    let hash = |token: &str| {
        use sha2::{Digest as _, Sha256};
        let digest = Sha256::digest(token);
        let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("sha256-{hex}")
    };
    assert_eq!(graph["nodes"][1]["stateTokenHashes"], json!([hash(&second.state_token())]), "{graph:#}");
    assert_eq!(graph["edges"][0]["ackTokenHashes"], json!([hash(&start.ack_token())]), "{graph:#}");
    let number = graph["nodes"][1]["number"].as_u64().unwrap();
    let tree = shop.run_command(&["sessions", "graph", "S"]).expect(0).stdout;
    assert!(tree.contains(&format!("#{number}")), "{tree}");
    for node in [number.to_string(), format!("#{number}")] {
        let forked = shop.run_json_command(&["runs", "fork", second.run_id(), "--node", &node]);
        assert_eq!(forked["stateToken"], second.state_token());
    }
    let foreign = shop.run_command(&["sessions", "find", "st.v1.nonsense"]);
    assert!(foreign.code != 0 && foreign.stderr.contains("token-malformed"), "{foreign:?}");
}
