//! Notes without an advance: on a node, and on a session.

use std::sync::Arc;

use trackway_domain::{
    Access, AttemptInputs, Caller, Event, GuidedRunEvent, SessionId, StateName, Timestamp,
};
use trackway_ports::{Append, Journal as _, RunFilter, RunRow};
use trackway_runtime::{GuidedRunError, NotesOutcome};
use trackway_testkit::MemoryJournal;

use crate::support::{
    DefinitionFolder, access, advance, answer_request, event_names, load_events, render_stamp, start_three,
};

/// Proves T14: notes advance nothing, and the same notes are recorded once.
#[tokio::test]
async fn notes_on_a_node_are_recorded_once() {
    let (library, journal) = (DefinitionFolder::new(), MemoryJournal::new());
    let guide = library.guided_runs(Arc::new(journal.clone()));
    let first = start_three(&guide).await;
    let note = async |text: &str| {
        guide.record_node_checkpoint(&access(), first.run, first.node, text, render_stamp()).await.unwrap()
    };
    let noted = note("half way").await;
    assert!(!noted.is_repeat);
    assert_eq!((noted.view.node, &noted.view.pending), (first.node, &first.pending));
    assert!(note("half way").await.is_repeat);
    assert!(!note("further").await.is_repeat);
    let second = advance(&guide, answer_request(&first, AttemptInputs::default())).await.unwrap();
    let elsewhere =
        guide.record_node_checkpoint(&access(), first.run, second.node, "half way", render_stamp()).await;
    assert!(!elsewhere.unwrap().is_repeat, "another node");
    let log = load_events(&journal, first.run).await;
    assert_eq!(event_names(&log)[3..], ["checkpointed", "checkpointed", "attempted", "checkpointed"]);
    let reopened = library.guided_runs(Arc::new(journal.reopen_as_next_process()));
    let again =
        reopened.record_node_checkpoint(&access(), first.run, first.node, "half way", render_stamp()).await;
    assert!(again.unwrap().is_repeat);
}

/// Proves T14: a session's own notes are in one log per caller, which is complete.
#[tokio::test]
async fn notes_on_a_session_need_no_run() {
    let (library, journal) = (DefinitionFolder::new(), MemoryJournal::new());
    let guide = library.guided_runs(Arc::new(journal.clone()));
    let session = SessionId::new("ACE-7").unwrap();
    let eve = Access::own_only(Caller::new("local", "eve"));
    for number in 0..20 {
        let note = format!("note {number}");
        assert_eq!(guide.record_session_notes(&access(), &session, &note).await, Ok(NotesOutcome::Recorded));
        assert_eq!(
            guide.record_session_notes(&access(), &session, &note).await,
            Ok(NotesOutcome::AlreadyRecorded)
        );
    }
    assert_eq!(guide.record_session_notes(&eve, &session, "note 0").await, Ok(NotesOutcome::Recorded));
    let rows = journal.list_runs(RunFilter::default(), None, 10).await.unwrap();
    assert_eq!(rows.len(), 2, "one for each caller");
    for row in rows {
        assert_eq!((row.state, row.runnable), (StateName::Completed, false));
        assert_eq!((row.workflow.name.as_str(), &row.session), ("session-notes", &session));
        let log = load_events(&journal, row.id).await;
        assert_eq!(event_names(&log)[..3], ["submitted", "started", "completed"]);
        let noted = |event: &&Event| match event {
            Event::Guided(guided) => {
                matches!(&**guided, GuidedRunEvent::Checkpointed(note) if note.node.is_none())
            }
            _ => false,
        };
        let expected = if row.caller == eve.caller { 1 } else { 20 };
        assert_eq!(log[3..].iter().filter(noted).count(), expected);
    }
}

/// Proves T11, X6: notes never go into a run of another caller, whatever its id, or into a run that is not a
/// notes run.
#[tokio::test]
async fn notes_on_a_session_go_nowhere_else() {
    let library = DefinitionFolder::new();
    let session = SessionId::new("ACE-7").unwrap();
    let origin = MemoryJournal::new();
    let guide = library.guided_runs(Arc::new(origin.clone()));
    guide.record_session_notes(&access(), &session, "mine").await.unwrap();
    let row = origin.list_runs(RunFilter::default(), None, 1).await.unwrap().remove(0);
    let mut renamed = row.workflow.clone();
    renamed.name = "review".to_owned();
    for other in [
        RunRow { caller: Caller::new("local", "eve"), ..row.clone() },
        RunRow { session: SessionId::new("ACE-8").unwrap(), ..row.clone() },
        RunRow { workflow: renamed, ..row.clone() },
    ] {
        let journal = MemoryJournal::new();
        let mut append = Append::new(row.id, 0, Timestamp(0));
        append.events = vec![Event::Started];
        append.row = Some(other);
        journal.append_all(vec![append]).await.unwrap();
        let guide = library.guided_runs(Arc::new(journal.clone()));
        let refused = guide.record_session_notes(&access(), &session, "mine").await;
        assert_eq!(refused, Err(GuidedRunError::UnknownRun { run: row.id }));
        assert_eq!(load_events(&journal, row.id).await.len(), 1);
    }
}
