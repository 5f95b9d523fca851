//! `trackway runs fork` and its address.

use serde_json::json;

use super::Desk;

/// Proves T16: another answer to the last question, on the command line.
#[test]
fn a_fork_asks_again() {
    let desk = Desk::new();
    let input = r#"{"list": ["a"], "delay": 0}"#;
    let run =
        desk.run(&["run", "tour", "--input", input, "--json"], "{\"name\": \"Ada\"}\n").expect(0);
    let id = run.json_lines()[0]["runId"].as_str().unwrap().to_owned();
    let forked = desk.folder.trackway(&["runs", "fork", &id, "--json"]).expect(6);
    let fork = forked.json_lines()[0].clone();
    let fork_id = fork["id"].as_str().unwrap();
    assert_ne!(fork_id, id);
    let args = ["runs", "resume", fork_id, "--input", r#"{"name": "Ben"}"#, "--json"];
    let resumed = desk.folder.trackway(&args).expect(0);
    assert!(resumed.stdout.contains("Who is Ben?"), "{resumed:?}");
    let shown = desk.folder.trackway(&["runs", "show", &id]).expect(0);
    assert!(shown.stdout.contains("Hi Ada") && !shown.stdout.contains("Ben"), "{shown:?}");
    assert_eq!(desk.entries(), ["a", "a", "round", "round", "round", "round"]);
}

/// Proves T16: over REST, with refusals that say what there is.
#[tokio::test]
async fn a_server_forks() {
    let desk = Desk::new();
    let server = desk.serve();
    let run = server.begin("tour", json!({ "list": ["a"], "delay": 0 })).await;
    server.asked(&run).await;
    let address = format!("/api/runs/{run}/fork");
    let (status, fork) = server.post(&address, &json!({})).await;
    assert_eq!(status, 201, "{fork}");
    let fork = fork["id"].as_str().unwrap().to_owned();
    let body = json!({ "input": { "name": "Ben" } });
    server.post(&format!("/api/runs/{fork}/resume"), &body).await;
    assert_eq!(server.ended(&fork).await.last().unwrap()["state"], "completed");
    let (_, original) = server.get(&format!("/api/runs/{run}")).await;
    assert_eq!(original["state"], "input-required");
    let (status, told) = server.post(&address, &json!({ "at": 99 })).await;
    assert_eq!((status, &told["code"]), (400, &json!("invalid-request")), "{told}");
    assert!(told["detail"].as_str().unwrap().contains("has no event 99"), "{told}");
}
