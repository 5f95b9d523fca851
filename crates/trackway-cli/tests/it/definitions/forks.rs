//! `trackway runs fork` and its address.

use serde_json::json;

use super::DefinitionWorkspace;

/// Proves T16: another answer to the last question, on the command line.
#[test]
fn a_fork_asks_again() {
    let desk = DefinitionWorkspace::new();
    let input = r#"{"list": ["a"], "delay": 0}"#;
    let run = desk.run(&["run", "tour", "--input", input, "--json"], "{\"name\": \"Ada\"}\n").expect(0);
    let id = run.json_lines()[0]["runId"].as_str().unwrap().to_owned();
    let forked = desk.folder.run_command(&["runs", "fork", &id, "--json"]).expect(6);
    let fork = forked.json_lines()[0].clone();
    let fork_id = fork["id"].as_str().unwrap();
    assert_ne!(fork_id, id);
    let args = ["runs", "resume", fork_id, "--input", r#"{"name": "Ben"}"#, "--json"];
    let resumed = desk.folder.run_command(&args).expect(0);
    assert!(resumed.stdout.contains("Who is Ben?"), "{resumed:?}");
    let shown = desk.folder.run_command(&["runs", "show", &id]).expect(0);
    assert!(shown.stdout.contains("Hi Ada") && !shown.stdout.contains("Ben"), "{shown:?}");
    assert_eq!(desk.ledger_entries(), ["a", "a", "round", "round", "round", "round"]);
}

/// Proves T16: over REST, with refusals that list the valid values.
#[tokio::test]
async fn a_server_forks() {
    let desk = DefinitionWorkspace::new();
    let server = desk.serve();
    let run = server.start_run("tour", json!({ "list": ["a"], "delay": 0 })).await;
    server.wait_for_question(&run).await;
    let address = format!("/api/runs/{run}/fork");
    let (status, fork) = server.post(&address, &json!({})).await;
    assert_eq!(status, 201, "{fork}");
    let fork = fork["id"].as_str().unwrap().to_owned();
    let body = json!({ "input": { "name": "Ben" } });
    server.post(&format!("/api/runs/{fork}/resume"), &body).await;
    assert_eq!(server.wait_for_end(&fork).await.last().unwrap()["state"], "completed");
    let (_, original) = server.get(&format!("/api/runs/{run}")).await;
    assert_eq!(original["state"], "input-required");
    let (status, told) = server.post(&address, &json!({ "at": 99 })).await;
    assert_eq!((status, &told["code"]), (400, &json!("invalid-request")), "{told}");
    assert!(told["detail"].as_str().unwrap().contains("has no event 99"), "{told}");
}

/// Proves T16: a sleeping run can be forked at any event. The fork wakes as well, and does the steps that
/// were not recorded yet.
#[tokio::test]
async fn a_run_that_sleeps_is_forked() {
    let desk = DefinitionWorkspace::new();
    let server = desk.serve();
    let run = server.start_run("ledger", json!({ "entries": 2, "delayMs": 5 })).await;
    // At its current event.
    let (status, early) = server.post(&format!("/api/runs/{run}/fork"), &json!({})).await;
    assert_eq!(status, 201, "{early}");
    let early = early["id"].as_str().unwrap().to_owned();
    assert_eq!(server.wait_for_end(&early).await.last().unwrap()["state"], "completed");
    assert_eq!(server.wait_for_end(&run).await.last().unwrap()["state"], "completed");
    let (_, page) = server.get(&format!("/api/runs/{run}/events")).await;
    let events = page["events"].as_array().unwrap();
    assert_eq!(events.iter().filter(|it| it["name"] == "slept").count(), 2, "{page:#}");
    for event in &events[..events.len() - 1] {
        let body = json!({ "at": event["seq"] });
        let (status, fork) = server.post(&format!("/api/runs/{run}/fork"), &body).await;
        assert_eq!(status, 201, "{body}: {fork}");
        let updates = server.wait_for_end(fork["id"].as_str().unwrap()).await;
        assert_eq!(updates.last().unwrap()["state"], "completed", "{body}");
    }
    drop(server);
    // Without a server the fork sleeps in the process of the command.
    let slept = events.iter().find(|it| it["name"] == "slept").unwrap();
    let at = slept["seq"].to_string();
    let forked = desk.folder.run_command(&["runs", "fork", &run, "--at", &at, "--json"]).expect(0);
    assert_eq!(forked.states().last().map(String::as_str), Some("completed"));
}

/// Proves T16: a child reports only to its own parent. A run therefore cannot be forked while a child is
/// running, but before the child starts and after it ends.
#[tokio::test]
async fn a_run_with_a_child_is_forked_around_it() {
    let desk = DefinitionWorkspace::new();
    let server = desk.serve();
    let input = json!({ "children": 1, "workflow": "review" });
    let run = server.start_run("family", input).await;
    let child = server.wait_for_child(&run).await;
    server.wait_for_question(&child).await;
    let address = format!("/api/runs/{run}/fork");
    let (status, told) = server.post(&address, &json!({})).await;
    assert_eq!((status, &told["code"]), (400, &json!("invalid-request")), "{told}");
    let detail = told["detail"].as_str().unwrap();
    assert!(detail.contains(&child) && detail.contains("is running"), "{told}");

    let (status, fork) = server.post(&address, &json!({ "at": 1 })).await;
    assert_eq!(status, 201, "{fork}");
    let fork = fork["id"].as_str().unwrap().to_owned();
    let other = server.wait_for_child(&fork).await;
    assert_ne!(other, child, "the fork has a child of its own");
    for child in [&child, &other] {
        server.wait_for_question(child).await;
        let body = json!({ "input": { "confirmed": true } });
        server.post(&format!("/api/runs/{child}/resume"), &body).await;
    }
    for run in [&run, &fork] {
        assert_eq!(server.wait_for_end(run).await.last().unwrap()["state"], "completed");
    }
    let (status, late) = server.post(&address, &json!({})).await;
    assert_eq!(status, 201, "{late}");
    let updates = server.wait_for_end(late["id"].as_str().unwrap()).await;
    assert_eq!(updates.last().unwrap()["state"], "completed");
    assert!(updates.iter().any(|it| it.to_string().contains(&child)), "the same child: {updates:?}");
}
