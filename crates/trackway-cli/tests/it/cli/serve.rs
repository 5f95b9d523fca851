//! `trackway serve`.

use serde_json::json;

use crate::support::{Folder, Served, trackway};

#[tokio::test]
async fn a_free_port_is_told_and_answers() {
    let folder = Folder::new();
    let mut server = Served::start(&folder.data());
    assert!(!server.url.ends_with(":0"), "{}", server.url);
    assert_eq!(server.get("/livez").await.0, 200);
    assert_eq!(server.get("/readyz").await.0, 200);
    assert_eq!(server.interrupt(), 0);
    assert!(!folder.data().join("server.json").exists());
}

#[test]
fn a_person_is_told_what_is_there_and_how_to_try_it() {
    let folder = Folder::new();
    let data = folder.data();
    let mut server =
        trackway(&["serve", "--listen", "127.0.0.1:0"]).env("TRACKWAY_DATA", &data).start();
    let first = server.line();
    let url = first.trim().rsplit(' ').next().unwrap().to_owned();
    assert!(url.starts_with("http://127.0.0.1:"), "{first}");
    let invest = server.until("invest");
    assert!(invest.contains(&format!("{url}/a2a/agents/invest")), "{invest}");
    assert!(server.until("Data:").contains(&*data.to_string_lossy()));
    server.until("Ctrl-C");
    assert!(server.until("curl").contains("SendMessage"));
    server.signal("TERM");
    assert_eq!(server.exit_code(), 0);
}

/// Proves X5.
#[test]
fn a_second_server_on_the_folder_is_told_where_the_first_is() {
    let folder = Folder::new();
    let server = Served::start(&folder.data());
    let second = folder.trackway(&["serve", "--listen", "127.0.0.1:0"]).expect(1);
    assert_eq!(second.stdout, "");
    assert!(second.stderr.contains(&server.url), "{second:?}");
    assert!(second.stderr.contains("docs/errors/data-in-use.md"), "{second:?}");
}

/// Proves X2.
#[tokio::test]
async fn a_killed_server_leaves_everything_to_the_next() {
    let folder = Folder::new();
    let mut server = Served::start(&folder.data());
    let run = server.begin("review", json!({ "subject": "x" })).await;
    server.restart();
    let (status, shown) = server.get(&format!("/api/runs/{run}")).await;
    assert_eq!((status, &shown["id"]), (200, &json!(run)));
    let answer = json!({ "input": { "confirmed": true } });
    // The question may have been killed before it was recorded: the run goes on to it.
    server.asked(&run).await;
    assert_eq!(server.post(&format!("/api/runs/{run}/resume"), &answer).await.0, 200);
    assert_eq!(server.ended(&run).await.last().unwrap()["state"], "completed");
}

/// Proves X2: a step whose outcome was not recorded is repeated with the same key, no other is.
#[tokio::test]
async fn the_fault_point_crashes_and_recovery_goes_on() {
    let folder = Folder::new();
    let mut server = Served::start_with(&folder.data(), &[("TRACKWAY_FAULT", "step:after:2")]);
    let run = server.begin("ledger", json!({ "entries": 3 })).await;
    assert_eq!(server.crashed(), -1);
    server.restart();
    assert_eq!(server.ended(&run).await.last().unwrap()["state"], "completed");
    let ledger = std::fs::read_to_string(folder.data().join("ledger.txt")).unwrap();
    let lines: Vec<&str> = ledger.lines().collect();
    let numbers: Vec<&str> = lines.iter().map(|line| line.split(' ').nth(1).unwrap()).collect();
    assert_eq!(numbers, ["1", "2", "2", "3"]);
    assert_eq!(lines[1], lines[2]);
}
