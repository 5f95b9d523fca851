//! Notes without an advance: on a node, and on a session.

use std::sync::Arc;

use trackway_domain::{Access, Caller, Event, Guided, Inputs, SessionId, StateName, Timestamp};
use trackway_ports::{Append, Journal as _, RunFilter, RunRow};
use trackway_runtime::GuideError;
use trackway_testkit::MemoryJournal;

use crate::kit::{Library, access, advance, answer, log, names, seal, start};

/// Proves T14: notes advance nothing, and the same notes are recorded once.
#[tokio::test]
async fn notes_on_a_node_are_recorded_once() {
    let (library, journal) = (Library::new(), MemoryJournal::new());
    let guide = library.guide(Arc::new(journal.clone()));
    let first = start(&guide).await;
    let note = async |text: &str| {
        guide.checkpoint(&access(), first.run, first.node, text, seal()).await.unwrap()
    };
    let noted = note("half way").await;
    assert!(!noted.repeated);
    assert_eq!((noted.position.node, &noted.position.pending), (first.node, &first.pending));
    assert!(note("half way").await.repeated);
    assert!(!note("further").await.repeated);
    let second = advance(&guide, answer(&first, Inputs::default())).await.unwrap();
    let elsewhere = guide.checkpoint(&access(), first.run, second.node, "half way", seal()).await;
    assert!(!elsewhere.unwrap().repeated, "another node");
    let log = log(&journal, first.run).await;
    assert_eq!(names(&log)[3..], ["checkpointed", "checkpointed", "attempted", "checkpointed"]);
    let reopened = library.guide(Arc::new(journal.reopen()));
    let again = reopened.checkpoint(&access(), first.run, first.node, "half way", seal()).await;
    assert!(again.unwrap().repeated);
}

/// Proves T14: a session's own notes are in one log of the caller's own, which is complete.
#[tokio::test]
async fn notes_on_a_session_need_no_run() {
    let (library, journal) = (Library::new(), MemoryJournal::new());
    let guide = library.guide(Arc::new(journal.clone()));
    let session = SessionId::new("ACE-7").unwrap();
    let eve = Access::own(Caller::new("local", "eve"));
    for number in 0..20 {
        let note = format!("note {number}");
        assert_eq!(guide.checkpoint_session(&access(), &session, &note).await, Ok(false));
        assert_eq!(guide.checkpoint_session(&access(), &session, &note).await, Ok(true));
    }
    assert_eq!(guide.checkpoint_session(&eve, &session, "note 0").await, Ok(false));
    let rows = journal.runs(RunFilter::default(), None, 10).await.unwrap();
    assert_eq!(rows.len(), 2, "one for each caller");
    for row in rows {
        assert_eq!((row.state, row.runnable), (StateName::Completed, false));
        assert_eq!((row.workflow.name.as_str(), &row.session), ("session-notes", &session));
        let log = log(&journal, row.id).await;
        assert_eq!(names(&log)[..3], ["submitted", "started", "completed"]);
        let noted = |event: &&Event| match event {
            Event::Guided(guided) => {
                matches!(&**guided, Guided::Checkpointed(note) if note.node.is_none())
            }
            _ => false,
        };
        let expected = if row.caller == eve.caller { 1 } else { 20 };
        assert_eq!(log[3..].iter().filter(noted).count(), expected);
    }
}

/// Proves T11, X6: nobody's notes go into a run that is another's, whatever its id, nor into one that is
/// no notebook.
#[tokio::test]
async fn notes_on_a_session_go_nowhere_else() {
    let library = Library::new();
    let session = SessionId::new("ACE-7").unwrap();
    let origin = MemoryJournal::new();
    let guide = library.guide(Arc::new(origin.clone()));
    guide.checkpoint_session(&access(), &session, "mine").await.unwrap();
    let row = origin.runs(RunFilter::default(), None, 1).await.unwrap().remove(0);
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
        let guide = library.guide(Arc::new(journal.clone()));
        let refused = guide.checkpoint_session(&access(), &session, "mine").await;
        assert_eq!(refused, Err(GuideError::UnknownRun { run: row.id }));
        assert_eq!(log(&journal, row.id).await.len(), 1);
    }
}
