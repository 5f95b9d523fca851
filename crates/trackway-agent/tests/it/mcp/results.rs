//! The results of calls.

use serde_json::json;
use trackway_domain::{FileSource, MessagePartContent};

use super::mcp_harness::{call_tool, fixture_entry, start_fixture, start_servers, tool_names};

#[tokio::test]
async fn results_arrive_with_everything_that_is_in_them() {
    let servers = start_servers(&json!({"my server": fixture_entry(&json!({}))})).await;
    let odd = call_tool(&servers, "my_server__look_at", json!({})).await.unwrap();
    assert_eq!(odd.value, "look.at was called");
    let both = call_tool(&servers, "my_server__both", json!({})).await.unwrap();
    assert_eq!(both.value, json!({"n": 1}));
    let picture = call_tool(&servers, "my_server__picture", json!({})).await.unwrap();
    let MessagePartContent::File(image) = &picture.parts[1].content else { panic!("it is not a file") };
    assert_eq!(image.source, FileSource::Base64("aGk=".to_owned()));
    let failure = call_tool(&servers, "my_server__fail", json!({})).await.unwrap_err();
    assert_eq!(failure.message, "no such thing");
    servers.shutdown().await;
}

/// Users are never sent to an address that a server chose.
#[tokio::test]
async fn a_question_by_address_is_declined() {
    let servers = start_fixture(&json!({})).await;
    let answer = call_tool(&servers, "one__open", json!({})).await;
    match answer {
        Ok(output) => assert!(output.value.as_str().unwrap().contains("decline"), "{output:?}"),
        Err(failure) => panic!("{failure:?}"),
    }
    servers.shutdown().await;
}

/// Issue 11, notes on security: a tool whose name the protocol does not allow is not offered under
/// another name, which an operator's approvals would not cover.
#[tokio::test]
async fn tools_with_odd_names_are_left_out() {
    let servers = start_fixture(&json!({})).await;
    let names = tool_names(&servers);
    assert!(names.contains(&"one__look_at".to_owned()), "{names:?}");
    assert!(!names.iter().any(|name| name.contains("look_at_")), "{names:?}");
    assert_eq!(servers.server_statuses()[0].left_out, ["look at it"]);
    servers.shutdown().await;
}
