//! What people and programs see of a session.

use serde_json::{Value, json};
use trackway_domain::{Caller, ErrorCode, SessionId};
use trackway_testkit::GuidedRunBuilder;

use super::session_store::{SessionStore, ticket_session};
use crate::{SessionDetail, SessionGraph, SessionsError};

/// Proves T11 and T13: the shapes that programs rely on.
#[tokio::test]
async fn a_session_has_runs_and_documents_and_a_graph() {
    let place = SessionStore::with_session().await;
    let list = serde_json::to_value(place.sessions().list_sessions(10).await.unwrap()).unwrap();
    assert_eq!(list[0]["sessionId"], "ticket-7");
    assert_eq!((&list[0]["runs"], &list[0]["workflows"]), (&json!(2), &json!(["deploy", "review"])));

    let view = place.sessions().load_session(&ticket_session()).await.unwrap();
    let shown = serde_json::to_value(SessionDetail::from(&view)).unwrap();
    let runs: Vec<_> = shown["runs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| (&run["workflowId"], &run["status"], &run["branches"]))
        .collect();
    let (review, deploy, complete) = (json!("review"), json!("deploy"), json!("complete"));
    assert_eq!(runs, [(&review, &complete, &json!(2)), (&deploy, &complete, &json!(1))]);
    let documents: Vec<Value> = shown["documents"]
        .as_array()
        .unwrap()
        .iter()
        .map(|document| json!([document["name"], document["kind"], document["value"]]))
        .collect();
    assert_eq!(
        documents,
        [
            json!(["findings", "table", [{ "id": 2, "finding": "kept, and mended" }]]),
            json!(["step-a", "notes", "first way"]),
            json!(["checkpoint", "checkpoint", "half way"]),
            json!(["step-a", "notes", "second way"]),
            json!(["step-c", "notes", "# Review\n\nfine"]),
            json!(["session-notes", "checkpoint", "ask *Ada* first"]),
        ]
    );
    let graph = serde_json::to_value(SessionGraph::from(&view)).unwrap();
    assert_eq!(graph["nodes"].as_array().unwrap().len(), 6);
    assert_eq!(graph["edges"].as_array().unwrap().len(), 4);
    let ends = graph["nodes"].as_array().unwrap().iter().filter(|node| node["isComplete"] == true);
    assert_eq!(ends.count(), 2);
}

/// Proves T11: no caller sees the sessions of another.
#[tokio::test]
async fn sessions_belong_to_their_caller() {
    let place = SessionStore::with_session().await;
    let ada = Caller::new("acme", "ada");
    GuidedRunBuilder::new_guided_run(9, "ticket-8", "review")
        .with_caller(&ada)
        .open_node("a")
        .append_to_journal(&*place.journal)
        .await;
    let refused = place.reader_for(ada.clone()).load_session(&ticket_session()).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::UnknownSession);
    let SessionsError::UnknownSession { known, .. } = refused else { panic!("{refused:?}") };
    assert_eq!(known, ["ticket-8"]);
    let mine = place.sessions().load_session(&SessionId::new("ticket-8").unwrap()).await;
    assert!(matches!(mine, Err(SessionsError::UnknownSession { .. })));
    assert_eq!(place.reader_for(ada).list_sessions(10).await.unwrap().len(), 1);
}

/// Proves T12: damage in one run hides neither the events around it nor another run, and is marked.
#[tokio::test]
async fn a_damaged_run_is_shown_without_the_damage() {
    let journal = trackway_testkit::MemoryJournal::new();
    for trail in super::session_store::sample_histories() {
        trail.append_to_journal(&journal).await;
    }
    let run = super::session_store::sample_histories()[0].run_id();
    journal.damage_event(run, 6);
    let reader = crate::SessionsReader::for_local_caller(std::sync::Arc::new(journal));
    let view = reader.load_session(&ticket_session()).await.unwrap();
    let shown = SessionDetail::from(&view);
    assert!(shown.runs[0].damaged.is_some());
    assert_eq!((view.runs[0].nodes.len(), view.runs[1].nodes.len()), (4, 2));
    let graph = crate::SessionGraph::from(&view);
    assert_eq!(graph.damaged[0].run_id, run);
    assert!(reader.render_session_markdown(&ticket_session()).await.unwrap().contains("**Damaged:**"));
    let place = SessionStore::empty().await;
    let refused = reader
        .export_bundle(&ticket_session(), place.public_key(), |bytes| place.sign(bytes))
        .await
        .unwrap_err();
    assert_eq!(refused.code(), ErrorCode::DamagedLog);
}
