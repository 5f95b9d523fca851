//! What the parent's stream shows of a turn.

use serde_json::{Value, json};
use trackway_testkit::{ScriptLatch, ScriptedModelServer};

use super::agent_workspace::{
    AgentWorkspace, artifact_chunks, artifact_ids, dispatched_task, joined_text_response, last_state,
    statuses_with_references,
};
use crate::a2a::support::{data_message, text_message};

/// Proves D8: text is streamed in pieces as it arrives; the first is new, later ones are appended. The last
/// one is marked, and replaces them with the whole text: some clients keep only that (issue 11, E1).
#[tokio::test]
async fn text_is_streamed_while_it_is_said() {
    let desk = AgentWorkspace::open(&[]).await;
    let latch = ScriptLatch::new();
    let answer = ScriptedModelServer::openai_reply().with_text("One two three");
    let begun =
        ScriptedModelServer::openai_reply().with_text("One ").to_unfinished_reply().wait_for_latch(&latch);
    let rest = ["two ", "three"].into_iter().fold(begun, |reply, word| {
        let delta = json!({ "choices": [{ "index": 0, "delta": { "content": word } }] });
        reply.send_data_event(delta)
    });
    desk.model.queue_reply(answer.append_finish(rest));
    let params = json!({ "message": text_message("Count.").json() });
    let mut stream = desk.default_agent().open_stream("message/stream", params, None).await;
    let mut events = stream.read_until(|event| event["artifact"]["artifactId"] == "text-response").await;
    // The rest is withheld until the client has the beginning.
    latch.release();
    events.extend(stream.read_to_end().await);
    let chunks = artifact_chunks(&events, "text-response");
    let flags: Vec<(bool, bool)> = chunks.iter().map(|(append, last, _)| (*append, *last)).collect();
    assert_eq!(flags.first(), Some(&(false, false)));
    assert!(flags[1..flags.len() - 1].iter().all(|(append, _)| *append), "{flags:?}");
    assert_eq!(flags.iter().filter(|(_, last)| *last).count(), 1, "{flags:?}");
    assert_eq!(flags.last(), Some(&(false, true)), "{flags:?}");
    assert_eq!(chunks.last().unwrap().2["parts"][0]["text"], "One two three");
    assert!(chunks.iter().all(|(_, _, artifact)| artifact["name"] == "text-response"));
    assert_eq!(joined_text_response(&events), "One two three");
    let task = desk.default_agent().get_task(&events[0].result).await;
    assert_eq!(task["artifacts"][0]["parts"], json!([{ "kind": "text", "text": "One two three" }]));
}

/// Proves D8: text before and after a call is one artifact, and only its last piece is marked as the last.
#[tokio::test]
async fn text_around_a_call_is_one_artifact() {
    let desk = AgentWorkspace::open(&[]).await;
    let calls = [("c1", "dispatch_workflow_echo", r#"{"text":"hi"}"#)];
    desk.model
        .queue_reply(ScriptedModelServer::openai_reply().with_text("I try it.").with_tool_calls(&calls));
    desk.queue_text("It worked.");
    let events = desk.run_turn(&text_message("Go.")).await;
    let chunks = artifact_chunks(&events, "text-response");
    assert_eq!(chunks.iter().filter(|(append, _, _)| !append).count(), 2, "{chunks:#?}");
    assert_eq!(chunks.iter().filter(|(_, last, _)| *last).count(), 1, "{chunks:#?}");
    assert!(!chunks[0].0 && chunks.last().unwrap().1, "{chunks:#?}");
    assert_eq!(joined_text_response(&events), "I try it.\n\nIt worked.");
}

/// Proves D2, D4, D5: call and result are artifacts with the call's id, the dispatch is one `working`
/// status of this child alone, and the child's artifacts stay with the child.
#[tokio::test]
async fn a_dispatch_is_shown_in_the_parents_stream() {
    let desk = AgentWorkspace::open(&[]).await;
    desk.queue_tool_calls(&[("call-1", "dispatch_workflow_invest", json!({ "walletAddress": "0x1" }))]);
    desk.queue_text("I found something.");
    let events = desk.run_turn(&text_message("Invest.")).await;
    assert_eq!(last_state(&events), "completed");
    assert_eq!(
        artifact_ids(&events),
        ["tool-call-dispatch_workflow_invest", "tool-result-dispatch_workflow_invest", "text-response"],
        "a child's artifacts are not its parent's"
    );
    for id in ["tool-call-dispatch_workflow_invest", "tool-result-dispatch_workflow_invest"] {
        let chunks = artifact_chunks(&events, id);
        assert_eq!(chunks.len(), 1);
        let (append, last, artifact) = &chunks[0];
        assert_eq!((*append, *last), (false, true));
        assert_eq!((&artifact["name"], &artifact["metadata"]["toolCallId"]), (&json!(id), &json!("call-1")));
    }
    let call = &artifact_chunks(&events, "tool-call-dispatch_workflow_invest")[0].2;
    assert_eq!(call["parts"][0]["data"], json!({ "walletAddress": "0x1" }));
    let result = &artifact_chunks(&events, "tool-result-dispatch_workflow_invest")[0].2;
    assert_eq!(result["metadata"]["outcome"], "answered");
    assert_eq!(result["metadata"]["taskId"], dispatched_task(&events, 0)["id"]);

    let told = statuses_with_references(&events);
    assert_eq!(told.len(), 1, "{told:#?}");
    assert_eq!(told[0]["state"], "working");
    let message = &told[0]["message"];
    let task = dispatched_task(&events, 0);
    assert_eq!(message["referenceTaskIds"], json!([task["id"]]));
    let parts = message["parts"].as_array().unwrap();
    assert_eq!(parts.len(), 3, "a sentence, then what the child said: {parts:#?}");
    assert!(parts[0]["text"].as_str().unwrap().contains("invest"), "{parts:#?}");
    assert_eq!(parts[1], json!({ "kind": "text", "text": "Found 3 yield opportunities:" }));
    assert_eq!(parts[2]["data"]["opportunities"].as_array().map(Vec::len), Some(3));
    assert_eq!(result["parts"].as_array().unwrap()[..], parts[1..], "the same in the artifact");
    let about = &message["metadata"]["referencedWorkflow"];
    assert_eq!((&about["workflowName"], &about["pluginId"]), (&json!("invest"), &json!("invest")));
    assert!(about["description"].as_str().unwrap().contains("receipt"), "{about}");
}

/// Proves D2: a child is a separate task at the address of its workflow, and is answered there.
#[tokio::test]
async fn a_child_is_a_task_of_its_own() {
    let desk = AgentWorkspace::open(&[]).await;
    desk.queue_tool_calls(&[("c1", "dispatch_workflow_review", json!({ "subject": "tea" }))]);
    desk.queue_text("It waits for you.");
    let events = desk.run_turn(&text_message("Review tea.")).await;
    let reviews = desk.server.agent("review");
    let child = dispatched_task(&events, 0);
    let mut asking = reviews.subscribe(&child, Some(0)).await;
    asking.read_until(|event| event["status"]["state"] == "input-required").await;
    let task = reviews.get_task(&child).await;
    assert_eq!(task["status"]["state"], "input-required");
    assert_eq!(task["contextId"], events[0].result["contextId"], "one conversation");
    let own: Vec<&Value> = task["artifacts"].as_array().unwrap().iter().map(|it| &it["artifactId"]).collect();
    assert_eq!(own, ["risk.json", "opportunity.json", "recommendation.json"]);
    let ended =
        reviews.send_and_wait(&data_message(json!({ "confirmed": true })).for_task(&child)).await.unwrap();
    assert_eq!((&ended["id"], ended["status"]["state"].as_str()), (&child["id"], Some("completed")));
    assert_eq!(desk.model.requests().len(), 2, "the model has nothing to do with it");
}

/// Issue 11, E5: a client that accepts only text gets the answer and not the work that led to it.
#[tokio::test]
async fn a_client_of_texts_is_not_shown_tool_calls() {
    let desk = AgentWorkspace::open(&[]).await;
    for (modes, all) in [(json!(["text/plain"]), false), (json!(["text/plain", "application/json"]), true)] {
        for method in ["message/stream", "message/send"] {
            desk.model.queue_reply(
                ScriptedModelServer::openai_reply().with_reasoning("Let me see.").with_tool_calls(&[(
                    "c1",
                    "dispatch_workflow_echo",
                    r#"{"text":"hi"}"#,
                )]),
            );
            desk.queue_text("It worked.");
            let configuration = json!({ "acceptedOutputModes": modes, "blocking": true });
            let params = json!({ "message": text_message("Go.").json(), "configuration": configuration });
            let ids = if method == "message/send" {
                let task = desk.default_agent().call(method, params).await.unwrap();
                let artifacts = task["artifacts"].as_array().unwrap().clone();
                artifacts.iter().map(|it| it["artifactId"].as_str().unwrap().to_owned()).collect()
            } else {
                artifact_ids(
                    &desk.default_agent().open_stream(method, params, None).await.read_to_end().await,
                )
            };
            let mut expected = vec!["text-response"];
            if all {
                expected.extend([
                    "reasoning",
                    "tool-call-dispatch_workflow_echo",
                    "tool-result-dispatch_workflow_echo",
                ]);
            }
            let mut ids: Vec<String> = ids;
            ids.sort();
            expected.sort_unstable();
            assert_eq!(ids, expected, "{method} {modes}");
        }
    }
}
