//! The script that every client runs, and its expected results.

use serde_json::{Map, Value, json};

/// Begins a run of `review`, which asks one question.
pub(super) const START: &str = r#"{"subject": "the new supplier"}"#;
/// Answers it.
pub(super) const ANSWER: &str = r#"{"confirmed": true}"#;
/// The artifacts of the run before its question.
const ARTIFACTS: [&str; 3] = ["risk.json", "opportunity.json", "recommendation.json"];

/// What the clients of a generation cannot do, or do differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProtocolGeneration {
    V03,
    V1,
}

/// Checks everything that a client reported.
pub(super) fn check_reports(told: &Map<String, Value>, generation: ProtocolGeneration) {
    assert_eq!(told["card"]["name"], "review");
    let is = |op: &str, state: &str| {
        assert_eq!(told[op]["state"], state, "{op}");
        assert_eq!(told[op]["artifacts"], json!(ARTIFACTS), "{op}");
    };
    is("send", "input-required");
    is("resume", "completed");
    is("get", "completed");
    assert_eq!(told["get"]["history"], 1);
    is("cancel", "canceled");

    let mut streamed = vec!["task submitted".to_owned(), "working".to_owned()];
    streamed.extend(ARTIFACTS.iter().map(|id| format!("+{id}")));
    streamed.push("input-required".to_owned());
    assert_eq!(told["stream"]["events"], json!(streamed));

    check_resubscription(&reported_events(&told["resubscribe"]), &streamed);
    if generation == ProtocolGeneration::V1 {
        check_task_list(&told["list"]);
    }
    check_push_notifications(&told["push"], generation);
    check_push_configurations(&told["push-configs"], generation);
}

/// A resumed stream begins with the current task, continues with exactly what follows, and ends with the
/// run.
fn check_resubscription(events: &[&str], streamed: &[String]) {
    let [first, rest @ .., "completed"] = events else {
        panic!("not from a task to its end: {events:?}");
    };
    let state = first.strip_prefix("task ").unwrap_or_else(|| panic!("no task first: {events:?}"));
    // Updates of the first stream that the snapshot may already contain.
    let missed: Vec<&str> = streamed[1..].iter().map(String::as_str).collect();
    let answered = rest.iter().position(|event| *event == "input-required").map_or(0, |at| at + 1);
    let (before, after) = rest.split_at(answered);
    assert!(missed.ends_with(before), "a gap or a repetition: {events:?}");
    assert_eq!(before.is_empty(), state == "input-required", "{events:?}");
    assert!(after.iter().all(|event| *event == "working"), "{events:?}");
}

fn check_task_list(list: &Value) {
    assert_eq!(list["newest_first"], true);
    assert_eq!(list["total"], 2);
    assert_eq!(list["artifacts"], json!([0, ARTIFACTS.len()]), "artifacts come where they are asked for");
    assert_eq!(list["last"], "", "no page follows the last");
}

fn check_push_notifications(push: &Value, generation: ProtocolGeneration) {
    let states: Vec<&str> = push["states"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(states.contains(&"input-required"), "{states:?}");
    assert_eq!(states.last(), Some(&"completed"), "in order, to the end: {states:?}");
    assert_eq!(push["token"], true, "every notification has the token");
    let kind = push["type"].as_str().unwrap();
    match generation {
        ProtocolGeneration::V03 => assert!(kind.starts_with("application/json"), "{kind}"),
        ProtocolGeneration::V1 => {
            assert!(kind.starts_with("application/a2a+json"), "{kind}");
            assert_eq!(push["authorization"], true, "every notification has the credentials");
        }
    }
}

fn check_push_configurations(configs: &Value, generation: ProtocolGeneration) {
    assert_eq!(configs["made"], "mine");
    assert_eq!(configs["found"], true);
    // The Python client of 0.3 can neither list nor delete.
    let lists = generation == ProtocolGeneration::V1 || configs.get("listed").is_some();
    if lists {
        assert_eq!(configs["listed"], json!(["mine"]));
        assert_eq!(configs["left"], 0);
    }
}

fn reported_events(told: &Value) -> Vec<&str> {
    told["events"].as_array().unwrap().iter().map(|event| event.as_str().unwrap()).collect()
}
