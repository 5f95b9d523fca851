//! The plain pipe: what is on stdout, and what the process does when its client disconnects.

use std::process::Command;

use serde_json::{Value, json};

use super::{
    mcp_workspace::{McpWorkspace, three_step_workflow},
    raw_stdio_client::{RawStdioClient, greeting_messages},
};

fn is_alive(pid: u32) -> bool {
    let told = Command::new("kill").args(["-0", &pid.to_string()]).output().unwrap();
    told.status.success()
}

/// Proves T8: for any input, each line on stdout is a message of the protocol, arguments that are not an
/// object are errors as data, and the server continues.
#[test]
fn nothing_but_the_protocol_is_written() {
    let shop = McpWorkspace::with_workflows(&[three_step_workflow()]);
    shop.write_text("broken.json", "{");
    let mut server = RawStdioClient::start(&shop).server;
    server.write(&greeting_messages());
    let call = |id: u32, params: Value| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
    let mut lines = vec![server.read_line()];
    for garbage in ["garbage\n", "{\"jsonrpc\": \n", "[]\n", "\u{1F600}\n", "\n", "null\n"] {
        server.write(garbage);
    }
    for (id, arguments) in [(2, json!("text")), (3, json!([1])), (4, json!(7)), (5, Value::Null)] {
        let params = json!({ "name": "workflow_list", "arguments": arguments });
        server.write(&format!("{}\n", call(id, params)));
    }
    let start = json!({ "name": "workflow_start", "arguments": { "workflowId": "three" } });
    server.write(&format!("{}\n", call(9, start)));
    loop {
        let line = server.read_line();
        let message: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line:?}"));
        lines.push(line);
        if message["id"] == 9 {
            assert_eq!(message["result"]["isError"], json!(false), "{message}");
            break;
        }
        if let Some(id @ 2..=4) = message["id"].as_u64() {
            assert_eq!(message["result"]["isError"], true, "{id}: {message}");
            let code = &message["result"]["structuredContent"]["error"]["code"];
            assert_eq!(code, "invalid-request", "{message}");
        }
    }
    server.close_stdin();
    loop {
        let line = server.read_line();
        if line.is_empty() {
            break;
        }
        lines.push(line);
    }
    for line in lines {
        let message: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line:?}"));
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
    }
    assert_eq!(server.exit_code(), 0);
}

/// Proves T4: the bytes on the pipe of a replay are those of the first answer.
#[test]
fn a_replay_has_the_same_bytes_on_the_pipe() {
    let shop = McpWorkspace::with_workflows(&[three_step_workflow()]);
    let mut bare = RawStdioClient::start_and_greet(&shop);
    let mut call = |name: &str, arguments: Value| bare.call_for_line(name, arguments);
    let start = call("workflow_start", json!({ "workflowId": "three" }));
    let start: Value = serde_json::from_str(&start).unwrap();
    let start = &start["result"]["structuredContent"];
    let pair = json!({ "stateToken": start["stateToken"], "ackToken": start["ackToken"] });
    let first = call("workflow_advance", pair.clone());
    assert!(first.contains("second"), "{first}");
    assert_eq!(call("workflow_advance", pair), first);
}

/// Proves T1: a closed client ends the server, which leaves no process behind.
#[test]
fn a_closed_client_ends_the_server() {
    let shop = McpWorkspace::with_workflows(&[three_step_workflow()]);
    let mut agent = shop.connect();
    agent.start_run("three", json!({}));
    let server = agent.server_pid();
    assert!(is_alive(server));
    let children = std::fs::read_to_string(format!("/proc/{server}/task/{server}/children"));
    assert_eq!(children.unwrap_or_default().trim(), "", "it starts no process of its own");
    agent.close();
    assert!(!is_alive(server));
}

/// Proves T1 also if the client sends nothing at all, and if it disconnects in the middle of a call.
#[test]
fn a_client_that_goes_early_ends_the_server() {
    let shop = McpWorkspace::with_workflows(&[three_step_workflow()]);
    let mut server = RawStdioClient::start(&shop).server;
    server.close_stdin();
    assert_eq!(server.exit_code(), 0);
    let mut server = RawStdioClient::start(&shop).server;
    server.write(&greeting_messages());
    let params = json!({ "name": "workflow_start", "arguments": { "workflowId": "three" } });
    let call = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params });
    server.write(&format!("{call}\n"));
    server.close_stdin();
    assert_eq!(server.exit_code(), 0);
}

/// Proves X6: keys that other users can access are reported at the start, on stderr, and are still used.
#[cfg(unix)]
#[test]
fn keys_that_others_can_read_are_told() {
    use std::{fs, os::unix::fs::PermissionsExt as _};
    let shop = McpWorkspace::with_workflows(&[three_step_workflow()]);
    let said = || {
        let mut agent = RawStdioClient::start_and_greet(&shop);
        let started = agent.call_tool("workflow_start", json!({ "workflowId": "three" }));
        assert!(!started.is_error, "{started:?}");
        agent.server.close_stdin();
        assert_eq!(agent.server.exit_code(), 0);
        let log = fs::read_to_string(shop.path().join("stderr")).unwrap();
        log.contains("others can get at the keys for tokens")
    };
    assert!(!said(), "keys are made for their owner alone");
    let keys = shop.data().join("token-keys.json");
    fs::set_permissions(&keys, fs::Permissions::from_mode(0o644)).unwrap();
    assert!(said());
}
