//! `trackway serve`.

use serde_json::{Value, json};

use crate::support::{ServerUnderTest, TestFolder, http_client, trackway_command};

#[tokio::test]
async fn a_free_port_is_told_and_answers() {
    let folder = TestFolder::new();
    let mut server = ServerUnderTest::start(&folder.data_path());
    assert!(!server.url.ends_with(":0"), "{}", server.url);
    assert_eq!(server.get("/livez").await.0, 200);
    assert_eq!(server.get("/readyz").await.0, 200);
    assert_eq!(server.interrupt(), 0);
    assert!(!folder.data_path().join("server.json").exists());
}

#[test]
fn a_person_is_told_what_is_there_and_how_to_try_it() {
    let folder = TestFolder::new();
    let data = folder.data_path();
    let mut server =
        trackway_command(&["serve", "--listen", "127.0.0.1:0"]).env("TRACKWAY_DATA", &data).start();
    let first = server.read_line();
    let url = first.trim().rsplit(' ').next().unwrap().to_owned();
    assert!(url.starts_with("http://127.0.0.1:"), "{first}");
    let invest = server.read_until("invest");
    assert!(invest.contains(&format!("{url}/a2a/agents/invest")), "{invest}");
    assert!(server.read_until("Data:").contains(&*data.to_string_lossy()));
    server.read_until("Ctrl-C");
    assert!(server.read_until("curl").contains("SendMessage"));
    server.signal("TERM");
    assert_eq!(server.exit_code(), 0);
}

/// Proves X5.
#[tokio::test]
async fn grpc_address_is_announced_when_enabled() {
    let folder = TestFolder::new();
    let data = folder.data_path();
    let served = |args: &[&str]| trackway_command(args).env("TRACKWAY_DATA", &data).start();
    let mut server = served(&["serve", "--json", "--listen", "127.0.0.1:0"]);
    let told: Value = serde_json::from_str(&server.read_line()).unwrap();
    assert_eq!(told.get("grpc"), None);
    server.signal("TERM");
    assert_eq!(server.exit_code(), 0);

    let serve = ["serve", "--json", "--listen", "127.0.0.1:0", "--grpc-listen", "127.0.0.1:0"];
    let mut server = served(&serve);
    let told: Value = serde_json::from_str(&server.read_line()).unwrap();
    let grpc = told["grpc"].as_str().unwrap();
    assert!(grpc.starts_with("127.0.0.1:") && !grpc.ends_with(":0"), "{grpc}");
    let card = format!("{}/.well-known/agent-card.json", told["url"].as_str().unwrap());
    let card: Value = http_client().get(card).send().await.unwrap().json().await.unwrap();
    let interfaces = card["supportedInterfaces"].as_array().unwrap();
    assert!(interfaces.iter().any(|known| known["url"] == grpc), "{card}");
    server.signal("TERM");
    assert_eq!(server.exit_code(), 0);

    let exposed = ["serve", "--listen", "127.0.0.1:0", "--grpc-listen", "0.0.0.0:0"];
    let refused = folder.run_command(&exposed).expect(2);
    assert!(refused.stderr.contains("loopback"), "{refused:?}");
}

/// Proves X5.
#[test]
fn a_second_server_on_the_folder_is_told_where_the_first_is() {
    let folder = TestFolder::new();
    let server = ServerUnderTest::start(&folder.data_path());
    let second = folder.run_command(&["serve", "--listen", "127.0.0.1:0"]).expect(1);
    assert_eq!(second.stdout, "");
    assert!(second.stderr.contains(&server.url), "{second:?}");
    assert!(second.stderr.contains("docs/errors/data-in-use.md"), "{second:?}");
}

/// Proves X2.
#[tokio::test]
async fn a_killed_server_leaves_everything_to_the_next() {
    let folder = TestFolder::new();
    let mut server = ServerUnderTest::start(&folder.data_path());
    let run = server.start_run("review", json!({ "subject": "x" })).await;
    server.restart();
    let (status, shown) = server.get(&format!("/api/runs/{run}")).await;
    assert_eq!((status, &shown["id"]), (200, &json!(run)));
    let answer = json!({ "input": { "confirmed": true } });
    // The kill may come before the question was recorded: then the run continues to it.
    server.wait_for_question(&run).await;
    assert_eq!(server.post(&format!("/api/runs/{run}/resume"), &answer).await.0, 200);
    assert_eq!(server.wait_for_end(&run).await.last().unwrap()["state"], "completed");
}

/// Proves X2: a step whose outcome was not recorded is repeated with the same key, and no other step is.
#[tokio::test]
async fn the_fault_point_crashes_and_recovery_goes_on() {
    let folder = TestFolder::new();
    let mut server =
        ServerUnderTest::start_with_env(&folder.data_path(), &[("TRACKWAY_FAULT", "step:after:2")]);
    let run = server.start_run("ledger", json!({ "entries": 3 })).await;
    assert_eq!(server.wait_for_exit(), -1);
    server.restart();
    assert_eq!(server.wait_for_end(&run).await.last().unwrap()["state"], "completed");
    let ledger = std::fs::read_to_string(folder.data_path().join("ledger.txt")).unwrap();
    let lines: Vec<&str> = ledger.lines().collect();
    let numbers: Vec<&str> = lines.iter().map(|line| line.split(' ').nth(1).unwrap()).collect();
    assert_eq!(numbers, ["1", "2", "2", "3"]);
    assert_eq!(lines[1], lines[2]);
}

/// Starts that are ended while they recover the work of the process before them.
const STARTS: usize = 20;

/// Issue 11, A10: a server that is asked to stop while it recovers, or while requests are under way, exits
/// with 0 at any moment.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn heavy_a_termination_during_recovery_is_no_failure() {
    let folder = TestFolder::new();
    let mut server = ServerUnderTest::start(&folder.data_path());
    // A large run: an answer of 5 MB that does not fit.
    let large = server.start_run("invest", json!({ "walletAddress": "0x1" })).await;
    server.wait_for_question(&large).await;
    let wrong = json!({ "input": { "walletAddress": "x".repeat(5_000_000) } });
    assert_eq!(server.post(&format!("/api/runs/{large}/resume"), &wrong).await.0, 422);
    // A run that writes all the time, so that each stop comes in the middle of an append.
    server.start_run("ledger", json!({ "entries": 20_000 })).await;
    for moment in 0..STARTS {
        let run = server.start_run("approve", json!({ "subject": "it" })).await;
        server.restart();
        // From no request to several unanswered requests.
        let under_way: Vec<_> = (0..moment % 4)
            .map(|_| {
                let cancel = format!("{}/api/runs/{run}/cancel", server.url);
                tokio::spawn(server.http.post(cancel).json(&json!({})).send())
            })
            .collect();
        // Each further round lets the server get a little further.
        for _ in 0..moment / 4 {
            server.get("/livez").await;
        }
        assert_eq!(server.terminate(), 0, "at moment {moment}");
        for request in under_way {
            // Answered or cut off, both are fine.
            let _ = request.await.unwrap();
        }
        server.restart();
        let (status, shown) = server.get(&format!("/api/runs/{run}")).await;
        assert_eq!((status, &shown["id"]), (200, &json!(run)), "nothing is lost");
    }
}
