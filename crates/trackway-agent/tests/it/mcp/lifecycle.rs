//! A server from its start to its end, including an early end.

use std::sync::Arc;

use rustix::process::{Pid, test_kill_process};
use serde_json::{Value, json};
use tokio::{io::AsyncReadExt as _, net::TcpListener};
use trackway_agent::McpServerPhase;

use super::{
    fixture::{NEWEST, STARTS},
    mcp_harness::{
        call_tool, detached_call, find_tool, fixture_entry, parse_config, parse_json_output, start_fixture,
        start_servers, start_servers_in, tool_names, wait_for_phase,
    },
};

fn is_alive(pid: u64) -> bool {
    let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    test_kill_process(pid).is_ok()
}

/// FIELD-NOTES: servers were started twice, and configured variables did not arrive.
#[tokio::test]
async fn a_server_is_started_once_with_what_was_configured() {
    let folder = tempfile::tempdir().unwrap();
    let starts = folder.path().join("starts");
    std::fs::create_dir(folder.path().join("inside")).unwrap();
    let more = json!({"env": {STARTS: starts, "KEY": "${env:SECRET}"}, "cwd": "inside"});
    let servers = start_servers_in(folder, &json!({"one": fixture_entry(&more)})).await;
    let about =
        parse_json_output(&call_tool(&servers, "one__about", json!({"variable": "KEY"})).await.unwrap());
    assert_eq!(about["variable"], "s3cret");
    assert!(about["folder"].as_str().unwrap().ends_with("inside"), "{about}");
    assert_eq!(about["arguments"][1], "mcp::fixture::serve");
    // Two agents that request their tools at the same time share one process.
    let (first, second) = (find_tool(&servers, "one__about"), find_tool(&servers, "one__about"));
    let (first, second) =
        tokio::join!(first.call(json!({}), detached_call()), second.call(json!({}), detached_call()));
    assert_eq!(parse_json_output(&first.unwrap())["pid"], parse_json_output(&second.unwrap())["pid"]);
    assert_eq!(std::fs::read_to_string(&starts).unwrap().lines().count(), 1);
    // Our own variables are not inherited.
    let about =
        parse_json_output(&call_tool(&servers, "one__about", json!({"variable": "CARGO"})).await.unwrap());
    assert_eq!(about["variable"], json!(null));
    servers.shutdown().await;
}

#[tokio::test]
async fn a_server_that_ends_is_started_again_and_the_call_in_flight_says_so() {
    let servers = start_fixture(&json!({})).await;
    let first = parse_json_output(&call_tool(&servers, "one__about", json!({})).await.unwrap());
    let failure = call_tool(&servers, "one__die", json!({})).await.unwrap_err();
    assert!(failure.message.contains("`one` ended"), "{failure:?}");
    // Its tools are still there while it is down.
    assert!(tool_names(&servers).contains(&"one__about".to_owned()));
    wait_for_phase(&servers, "one", McpServerPhase::Ready, 2).await;
    let second = parse_json_output(&call_tool(&servers, "one__about", json!({})).await.unwrap());
    assert_ne!(first["pid"], second["pid"]);
    servers.shutdown().await;
    assert!(!is_alive(second["pid"].as_u64().unwrap()));
}

#[tokio::test]
async fn shutdown_ends_a_server_and_its_children() {
    let servers = start_fixture(&json!({})).await;
    let server = parse_json_output(&call_tool(&servers, "one__about", json!({})).await.unwrap());
    let server = server["pid"].as_u64().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    call_tool(&servers, "one__spawn", json!({"port": port})).await.unwrap();
    // Only the server's child processes hold the other end.
    let (mut held, _) = listener.accept().await.unwrap();
    assert!(is_alive(server));
    let about = find_tool(&servers, "one__about");
    servers.shutdown().await;
    assert!(!is_alive(server));
    assert_eq!(held.read(&mut [0]).await.unwrap_or(0), 0);
    let failure = about.call(json!({}), detached_call()).await.unwrap_err();
    assert!(failure.message.contains("not running: it was stopped"), "{failure:?}");
    assert!(servers.list_server_tools().is_empty());
}

#[tokio::test]
async fn servers_that_nobody_shuts_down_end_with_their_owner() {
    let servers = start_fixture(&json!({})).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    call_tool(&servers, "one__spawn", json!({"port": port})).await.unwrap();
    let (mut held, _) = listener.accept().await.unwrap();
    drop(servers);
    assert_eq!(held.read(&mut [0]).await.unwrap_or(0), 0);
}

#[tokio::test]
async fn only_changed_servers_are_restarted() {
    let before = json!({"same": fixture_entry(&json!({})), "other": fixture_entry(&json!({})), "gone": fixture_entry(&json!({}))});
    let servers = start_servers(&before).await;
    let same = parse_json_output(&call_tool(&servers, "same__about", json!({})).await.unwrap());
    let other = parse_json_output(&call_tool(&servers, "other__about", json!({})).await.unwrap());
    let gone = parse_json_output(&call_tool(&servers, "gone__about", json!({})).await.unwrap());
    let after = json!({
        "same": fixture_entry(&json!({})), "other": fixture_entry(&json!({"env": {"KEY": "new"}})),
    });
    servers.update_config(parse_config(&after)).await;
    servers.wait_until_started().await;
    assert!(!is_alive(gone["pid"].as_u64().unwrap()));
    assert!(!is_alive(other["pid"].as_u64().unwrap()));
    let again = parse_json_output(&call_tool(&servers, "same__about", json!({})).await.unwrap());
    assert_eq!(same["pid"], again["pid"]);
    let renewed =
        parse_json_output(&call_tool(&servers, "other__about", json!({"variable": "KEY"})).await.unwrap());
    assert_eq!(renewed["variable"], "new");
    assert_eq!(servers.server_statuses().len(), 2);
    servers.shutdown().await;
}

#[tokio::test]
async fn tools_that_appear_later_are_found() {
    check_later_tools_are_found(json!({})).await;
}

#[tokio::test]
async fn tools_that_appear_later_are_found_with_the_newest_protocol() {
    check_later_tools_are_found(json!({"env": {NEWEST: "1"}})).await;
}

async fn check_later_tools_are_found(more: Value) {
    let servers = start_fixture(&more).await;
    assert!(!tool_names(&servers).contains(&"one__grown".to_owned()));
    let mut changed = servers.subscribe_server_changes();
    changed.borrow_and_update();
    call_tool(&servers, "one__grow", json!({})).await.unwrap();
    changed.changed().await.unwrap();
    assert!(tool_names(&servers).contains(&"one__grown".to_owned()));
    servers.shutdown().await;
}

#[tokio::test]
async fn a_server_that_does_not_start_says_why_and_keeps_no_other_from_starting() {
    let servers = json!({
        "none": {"command": "there-is-no-such-program"},
        "silent": {"command": "true"},
        "good": fixture_entry(&json!({})),
    });
    let servers = start_servers(&servers).await;
    let status = servers.server_statuses();
    let reason = |name: &str| {
        let found = status.iter().find(|status| status.name == name).unwrap();
        (found.phase, found.reason.clone().unwrap_or_default())
    };
    let (phase, told) = reason("none");
    assert_eq!(phase, McpServerPhase::Down);
    assert!(told.contains("cannot be started"), "{told}");
    let (phase, told) = reason("silent");
    assert_eq!(phase, McpServerPhase::Down);
    assert!(told.contains("exited"), "{told}");
    assert_eq!(reason("good"), (McpServerPhase::Ready, String::new()));
    call_tool(&servers, "good__about", json!({})).await.unwrap();
    servers.shutdown().await;
}

/// Cancelling a turn drops the call; the server is notified.
#[tokio::test]
async fn a_call_that_nobody_waits_for_is_cancelled() {
    let servers = start_fixture(&json!({})).await;
    let hang = tokio::spawn(find_tool(&servers, "one__hang").call(json!({}), detached_call()));
    let cancelled = {
        let servers = Arc::clone(&servers.servers);
        tokio::spawn(async move { call_tool(&servers, "one__was_cancelled", json!({})).await })
    };
    // The server handles calls in their order, so this one comes after.
    call_tool(&servers, "one__about", json!({})).await.unwrap();
    hang.abort();
    assert_eq!(cancelled.await.unwrap().unwrap().value, "yes");
    servers.shutdown().await;
}

#[tokio::test]
async fn a_call_that_takes_too_long_fails() {
    let servers = start_fixture(&json!({"timeoutSeconds": 1})).await;
    let failure = call_tool(&servers, "one__hang", json!({})).await.unwrap_err();
    assert!(failure.message.contains("did not answer within 1 s"), "{failure:?}");
    assert_eq!(call_tool(&servers, "one__was_cancelled", json!({})).await.unwrap().value, "yes");
    servers.shutdown().await;
}

/// Issue 11, S-L2: a server that hangs is restarted after a call times out, and later calls go to the
/// new process.
#[tokio::test]
async fn a_server_that_hangs_is_started_again() {
    let servers = start_fixture(&json!({"timeoutSeconds": 1})).await;
    let first = parse_json_output(&call_tool(&servers, "one__about", json!({})).await.unwrap());
    let failure = call_tool(&servers, "one__freeze", json!({})).await.unwrap_err();
    assert!(failure.message.contains("did not answer within 1 s"), "{failure:?}");
    wait_for_phase(&servers, "one", McpServerPhase::Ready, 2).await;
    let second = parse_json_output(&call_tool(&servers, "one__about", json!({})).await.unwrap());
    assert_ne!(first["pid"], second["pid"]);
    assert!(!is_alive(first["pid"].as_u64().unwrap()));
    servers.shutdown().await;
}

/// Issue 11, S-L9: an answer that cannot be read ends its call immediately, and no other call.
#[tokio::test]
async fn an_answer_that_cannot_be_read_ends_its_call() {
    let servers = start_fixture(&json!({})).await;
    let failure = call_tool(&servers, "one__garble", json!({})).await.unwrap_err();
    assert!(failure.message.contains("its answer cannot be read"), "{failure:?}");
    call_tool(&servers, "one__about", json!({})).await.unwrap();
    assert_eq!(servers.server_statuses()[0].starts, 1, "the server goes on");
    servers.shutdown().await;
}

/// Issue 11, E8: the error about a server that is not running contains the last line of its log.
#[tokio::test]
async fn a_dead_server_is_told_of_with_its_last_words() {
    let script = "echo starting >&2; echo the disk is full >&2; exit 3";
    let entry = json!({"command": "sh", "args": ["-c", script]});
    let servers = start_servers(&json!({"one": entry})).await;
    let down = servers.down_server_reasons();
    let told = &down["one"];
    assert!(told.contains("exit status: 3") && told.contains("the disk is full"), "{told}");
    servers.shutdown().await;
}
