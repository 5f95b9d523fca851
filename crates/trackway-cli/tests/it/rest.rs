//! The REST API, as scripts use it.

use serde_json::{Value, json};

use crate::support::{ServerUnderTest, TestFolder};

#[tokio::test]
async fn a_run_is_started_followed_answered_and_read() {
    let folder = TestFolder::new();
    let server = ServerUnderTest::start(&folder.data_path());
    let run = server.start_run("review", json!({ "subject": "x" })).await;
    let question = server.wait_for_question(&run).await;
    let at = format!("/api/runs/{run}");

    let (status, refused) =
        server.post(&format!("{at}/resume"), &json!({ "input": { "confirmed": 1 } })).await;
    assert_eq!((status, &refused["code"]), (422, &json!("invalid-input")));
    assert_eq!(refused["errors"][0]["path"], "/confirmed");
    assert!(refused["schema"].is_object());

    let body = json!({ "input": { "confirmed": true }, "questionId": question["id"] });
    let (status, resumed) = server.post(&format!("{at}/resume"), &body).await;
    assert_eq!((status, &resumed["answer"]["primaryResume"]), (200, &json!(true)));
    let updates = server.wait_for_end(&run).await;
    assert_eq!(updates.last().unwrap()["final"], true);

    // Every event, in pages, without a gap.
    let (mut after, mut seqs) = (0, Vec::new());
    loop {
        let (_, page) = server.get(&format!("{at}/events?limit=3&after={after}")).await;
        let events = page["events"].as_array().unwrap();
        assert!(events.len() <= 3);
        seqs.extend(events.iter().map(|event| event["seq"].as_u64().unwrap()));
        match page["next"].as_u64() {
            Some(next) => after = next,
            None => break,
        }
    }
    assert_eq!(seqs, (1..=seqs.len() as u64).collect::<Vec<_>>());
    assert!(seqs.len() > 3);
}

/// A conversation is found again, with the usage of each agent.
#[tokio::test]
async fn a_session_is_read_with_what_it_used() {
    let folder = TestFolder::new();
    let server = ServerUnderTest::start(&folder.data_path());
    let run = server.start_run("assistant", json!("/run echo text=hi")).await;
    server.wait_for_end(&run).await;
    let (_, detail) = server.get(&format!("/api/runs/{run}")).await;
    let id = detail["sessionId"].as_str().unwrap();

    let (status, list) = server.get("/api/sessions?limit=5").await;
    assert_eq!((status, &list["sessions"][0]["sessionId"]), (200, &json!(id)));
    let (status, session) = server.get(&format!("/api/sessions/{id}")).await;
    assert_eq!((status, &session["sessionId"]), (200, &json!(id)));
    assert_eq!(session["runs"].as_array().unwrap().len(), 2, "{session}");
    assert_eq!(session["usage"]["agents"]["assistant"]["calls"], 2, "{session}");

    let (status, refused) = server.get("/api/sessions/ses_of_nobody").await;
    assert_eq!((status, &refused["code"]), (404, &json!("unknown-session")));
    let (status, refused) = server.get("/api/sessions?limit=0").await;
    assert_eq!((status, &refused["code"]), (400, &json!("invalid-request")));
}

/// A resumed stream continues after the last position that the client received.
#[tokio::test]
async fn a_stream_goes_on_after_a_position() {
    let folder = TestFolder::new();
    let server = ServerUnderTest::start(&folder.data_path());
    let run = server.start_run("echo", json!({ "text": "hi" })).await;
    let all = server.wait_for_end(&run).await;
    let pos = all[1]["pos"].as_u64().unwrap();
    let address = format!("{}/api/runs/{run}/stream", server.url);
    for request in [
        server.http.get(format!("{address}?after={pos}")),
        server.http.get(format!("{address}?after=0")).header("Last-Event-ID", pos.to_string()),
    ] {
        let text = request.send().await.unwrap().text().await.unwrap();
        let ids: Vec<u64> =
            text.lines().filter_map(|line| line.strip_prefix("id: ")).map(|id| id.parse().unwrap()).collect();
        let expected: Vec<u64> = all[2..].iter().map(|update| update["pos"].as_u64().unwrap()).collect();
        assert_eq!(ids, expected);
        assert!(text.ends_with("event: end\ndata: {\"reason\":\"ended\"}\n\n"), "{text}");
    }
}

/// Proves X5: every refusal is a problem with a code, a status and the valid form.
#[tokio::test]
async fn every_refusal_is_a_problem() {
    let folder = TestFolder::new();
    let server = ServerUnderTest::start(&folder.data_path());
    let unknown = "run_00000000000000000000000000000000";
    let ended = server.start_run("echo", json!({ "text": "hi" })).await;
    server.wait_for_end(&ended).await;
    let working = server.start_run("ledger", json!({ "entries": 1, "delayMs": 3_600_000 })).await;

    let gets = [
        ("/api/runs?colour=red".to_owned(), 400, "invalid-request", "`workflow`"),
        ("/api/runs?state=asleep".to_owned(), 400, "invalid-request", "asleep"),
        ("/api/runs?limit=0".to_owned(), 400, "invalid-request", "from 1 to 500"),
        ("/api/runs?limit=many".to_owned(), 400, "invalid-request", "limit"),
        ("/api/runs?before=me".to_owned(), 400, "invalid-request", "run_"),
        ("/api/runs/me".to_owned(), 404, "unknown-run", "me"),
        (format!("/api/runs/{unknown}"), 404, "unknown-run", unknown),
        (format!("/api/runs/{unknown}/events"), 404, "unknown-run", unknown),
        (format!("/api/runs/{unknown}/stream"), 404, "unknown-run", unknown),
        (format!("/api/runs/{ended}/stream?after=x"), 400, "invalid-request", "after"),
        (format!("/api/runs/{ended}/cancel"), 405, "invalid-request", "GET"),
        ("/api/nothing".to_owned(), 404, "invalid-request", "/api/nothing"),
    ];
    for (path, status, code, says) in gets {
        let problem = server.get(&path).await;
        check(&path, &problem, status, code, says);
    }

    let posts = [
        ("/api/runs".to_owned(), json!({ "workflow": "ecko", "input": {} }), 404, "unknown-workflow", "ecko"),
        ("/api/runs".to_owned(), json!({ "workflow": "echo", "input": {} }), 422, "invalid-input", "schema"),
        ("/api/runs".to_owned(), json!({ "workflow": "echo" }), 400, "invalid-request", "`input`"),
        (
            "/api/runs".to_owned(),
            json!({ "workflow": "echo", "input": {}, "x": 1 }),
            400,
            "invalid-request",
            "sessionId",
        ),
        ("/api/runs".to_owned(), nested(120), 413, "too-large", "nested"),
        (format!("/api/runs/{ended}/resume"), json!({ "input": 1 }), 409, "run-ended", "completed"),
        (
            format!("/api/runs/{working}/resume"),
            json!({ "input": 1 }),
            409,
            "invalid-request",
            "has no open question",
        ),
        (format!("/api/runs/{ended}/cancel"), json!({}), 409, "run-ended", "completed"),
        (format!("/api/runs/{unknown}/cancel"), json!({}), 404, "unknown-run", unknown),
    ];
    for (path, body, status, code, says) in posts {
        let problem = server.post(&path, &body).await;
        check(&path, &problem, status, code, says);
    }
}

fn check(path: &str, (status, problem): &(u16, Value), expected: u16, code: &str, says: &str) {
    assert_eq!((*status, problem["code"].as_str().unwrap()), (expected, code), "{path} {problem}");
    assert_eq!(problem["status"], expected, "{path}");
    assert_eq!(problem["type"], format!("docs/errors/{code}.md"), "{path}");
    assert!(problem["detail"].as_str().unwrap().contains(says), "{path} {problem}");
}

/// A start whose input is this many levels deep.
fn nested(levels: usize) -> Value {
    let input = (0..levels).fold(json!(1), |inner, _| json!([inner]));
    json!({ "workflow": "echo", "input": input })
}

/// Proves X5.
#[tokio::test]
async fn bodies_that_are_no_json_or_too_large_are_refused() {
    let folder = TestFolder::new();
    let server = ServerUnderTest::start(&folder.data_path());
    let address = format!("{}/api/runs", server.url);
    let json = "application/json";
    for (kind, body, expected) in [
        ("text/plain", "{}".to_owned(), 415),
        (json, "{".to_owned(), 400),
        (json, format!("\"{}\"", "a".repeat(11 * 1024 * 1024)), 413),
    ] {
        let request = server.http.post(&address).header("content-type", kind).body(body);
        let response = request.send().await.unwrap();
        assert_eq!(response.status().as_u16(), expected);
        assert_eq!(response.headers()["content-type"], "application/problem+json");
    }
}
