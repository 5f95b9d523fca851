//! Logs in, session views out.

use serde_json::{Value, json};
use trackway_domain::{DocumentKind::*, Event, WorkflowRef};

use super::{fixture::*, *};

fn tree_shape(track: &RunTree) -> (usize, usize, usize, &'static str) {
    (track.nodes.len(), track.edges.len(), track.branch_count(), track.guided_status().as_str())
}

/// Proves T12.
#[test]
fn lineage_status_and_branches_follow_from_the_log() {
    let rows = [
        ("only begun", ScriptedLog::open_guided_run(), (1, 0, 1, "running")),
        ("on its way", ScriptedLog::open_guided_run().advance_to_node("a", "b"), (2, 1, 1, "running")),
        (
            "blocked is no branch",
            ScriptedLog::open_guided_run().push_blocked_attempt("a").push_blocked_attempt("a"),
            (1, 0, 1, "running"),
        ),
        (
            "done",
            ScriptedLog::open_guided_run().advance_to_node("a", "end").push_completed(),
            (2, 1, 1, "complete"),
        ),
        (
            "forked at the first node",
            ScriptedLog::open_guided_run().advance_to_node("a", "b").advance_to_node("a", "c"),
            (3, 2, 2, "running"),
        ),
        (
            "forked after its end, and not done there",
            ScriptedLog::open_guided_run()
                .advance_to_node("a", "end")
                .push_completed()
                .advance_to_node("a", "c"),
            (3, 2, 2, "running"),
        ),
        (
            "forked, and the newer branch is done",
            ScriptedLog::open_guided_run()
                .advance_to_node("a", "b")
                .advance_to_node("a", "end")
                .push_completed(),
            (3, 2, 2, "complete"),
        ),
        (
            "stopped",
            ScriptedLog::open_guided_run().advance_to_node("a", "b").push_event(Event::Canceled),
            (2, 1, 1, "complete"),
        ),
        ("no nodes, under way", ScriptedLog::submitted_run(1, "program"), (0, 0, 1, "running")),
        ("no nodes, ended", ScriptedLog::submitted_run(1, "program").push_completed(), (0, 0, 1, "complete")),
    ];
    for (case, tale, expected) in rows {
        let track = tale.run_tree();
        assert_eq!(tree_shape(&track), expected, "{case}");
        assert_eq!(track.damaged, None, "{case}");
        let ids: std::collections::HashSet<_> = track.edges.iter().map(RunTreeEdge::edge_id).collect();
        assert_eq!(ids.len(), track.edges.len(), "{case}: every edge has a name of its own");
    }
}

/// Proves T17, T6: a run is finished when no branch of it can continue, whichever is the newest.
#[test]
fn a_run_is_finished_when_every_branch_is() {
    let rows = [
        ("on its way", ScriptedLog::open_guided_run().advance_to_node("a", "b"), false),
        ("done", ScriptedLog::open_guided_run().advance_to_node("a", "end").push_completed(), true),
        (
            "the newer branch is done",
            ScriptedLog::open_guided_run()
                .advance_to_node("a", "b")
                .advance_to_node("a", "end")
                .push_completed(),
            false,
        ),
        (
            "the older branch is done",
            ScriptedLog::open_guided_run()
                .advance_to_node("a", "end")
                .push_completed()
                .advance_to_node("a", "c"),
            false,
        ),
        (
            "both are done",
            ScriptedLog::open_guided_run()
                .advance_to_node("a", "b")
                .advance_to_node("a", "end")
                .push_completed()
                .advance_to_node("b", "end-2"),
            true,
        ),
        (
            "stopped",
            ScriptedLog::open_guided_run().advance_to_node("a", "b").push_event(Event::Canceled),
            true,
        ),
        ("no nodes, under way", ScriptedLog::submitted_run(1, "program"), false),
        ("no nodes, ended", ScriptedLog::submitted_run(1, "program").push_completed(), true),
    ];
    for (case, tale, expected) in rows {
        assert_eq!(tale.run_tree().has_no_open_branch(), expected, "{case}");
    }
}

/// Proves T12: an event that does not fit marks the run as damaged, and everything before it stays
/// visible.
#[test]
fn damage_is_shown_up_to_where_it_is() {
    let rows = [
        ScriptedLog::open_guided_run()
            .advance_to_node("a", "b")
            .advance_to_node("nowhere", "c")
            .advance_to_node("b", "end"),
        ScriptedLog::open_guided_run().advance_to_node("a", "b").advance_to_node("a", "b"),
        ScriptedLog::open_guided_run().advance_to_node("a", "b").push_checkpoint(Some("nowhere"), "x"),
        ScriptedLog::open_guided_run().advance_to_node("a", "b").push_event(Event::Started),
        ScriptedLog::open_guided_run().advance_to_node("a", "b").push_repin("nowhere", "sha256-1"),
    ];
    for (case, tale) in rows.iter().enumerate() {
        let track = tale.run_tree();
        assert!(track.damaged.is_some(), "{case}");
        assert_eq!(tree_shape(&track), (2, 1, 1, "running"), "{case}");
        let view = SessionView::new(track.submission.session.clone(), vec![track]);
        assert_eq!(view.damaged_runs().count(), 1);
        assert!(!view.can_be_removed(trackway_domain::Timestamp(i64::MAX)));
    }
    assert_eq!(RunTree::fold_log([(&Event::Started, trackway_domain::Timestamp(0))]), None);
}

/// Proves T12: events after the damage are visible, even if the node before them is lost.
#[test]
fn what_lies_behind_the_damage_is_shown() {
    let tale = ScriptedLog::open_guided_run()
        .advance_to_node("a", "b")
        .advance_to_node("b", "c")
        .advance_to_node("a", "d")
        .advance_to_node("c", "e");
    let submission = tale.run_tree().submission;
    let events: Vec<_> = tale.events.iter().map(|(event, at)| (event, *at)).collect();
    for lost in 1..events.len() {
        let left = events.iter().enumerate().skip(1).filter(|(place, _)| *place != lost);
        let track = RunTree::fold_damaged_log(&submission, events[0].1, left.map(|(_, event)| *event));
        let whole = tale.run_tree();
        let made = whole.nodes.len() - usize::from(lost >= 2);
        assert_eq!(track.nodes.len(), made, "event {lost} is lost");
        assert_eq!(track.updated_at, events.iter().rev().find(|event| event.1 != events[lost].1).unwrap().1);
        for edge in &track.edges {
            assert!(track.find_node(edge.from).is_some() && track.find_node(edge.to).is_some());
        }
    }
}

/// Proves T17: a run that was started and never answered does not keep its session for ever.
#[test]
fn a_start_that_nobody_answered_is_abandoned() {
    use trackway_domain::Timestamp;
    let view = |tale: &ScriptedLog| {
        let track = tale.run_tree();
        SessionView::new(track.submission.session.clone(), vec![track])
    };
    let started = view(&ScriptedLog::open_guided_run());
    let at = started.runs[0].updated_at;
    assert!(started.can_be_removed(at));
    assert!(!started.can_be_removed(Timestamp(at.millis() - 1)), "not yet");
    let noted = view(&ScriptedLog::open_guided_run().push_checkpoint(Some("a"), "x"));
    let answered = view(&ScriptedLog::open_guided_run().advance_to_node("a", "b"));
    assert!(!noted.can_be_removed(Timestamp(i64::MAX)));
    assert!(!answered.can_be_removed(Timestamp(i64::MAX)));
}

/// Proves T13.
#[test]
fn reducers_build_headers_logs_and_tables() {
    let table = |value| sample_document_change("t", Table, Some("/id"), value);
    let rows: Vec<(&str, Vec<trackway_domain::DocumentChange>, Value)> = vec![
        (
            "later fields replace earlier ones",
            vec![
                sample_document_change("h", Header, None, json!({"title": "a", "by": "me"})),
                sample_document_change("h", Header, None, json!({"title": "b"})),
            ],
            json!({"title": "b", "by": "me"}),
        ),
        (
            "a value without fields has a field of its own",
            vec![sample_document_change("h", Header, None, json!("plain"))],
            json!({"value": "plain"}),
        ),
        (
            "a log only grows, by items and by lists",
            vec![
                sample_document_change("l", Log, None, json!(1)),
                sample_document_change("l", Log, None, json!([1, 2])),
                sample_document_change("l", Log, None, json!([])),
            ],
            json!([1, 1, 2]),
        ),
        (
            "the first of a key keeps its place, a later one replaces its content",
            vec![
                table(json!([{"id": 1, "v": "a"}, {"id": 2, "v": "b"}])),
                table(json!({"id": 3, "v": "c"})),
                table(json!([{"id": 1, "v": "A"}])),
            ],
            json!([{"id": 1, "v": "A"}, {"id": 2, "v": "b"}, {"id": 3, "v": "c"}]),
        ),
        (
            "a number and its text are two keys",
            vec![table(json!([{"id": 1}, {"id": "1"}]))],
            json!([{"id": 1}, {"id": "1"}]),
        ),
        (
            "a row without its key is like no other",
            vec![table(json!([{"v": 1}, {"v": 1}]))],
            json!([{"v": 1}, {"v": 1}]),
        ),
        (
            "a key may be a field's name, and without one the row is its own",
            vec![
                sample_document_change("t", Table, Some("id"), json!([{"id": 1, "v": 1}, {"id": 1, "v": 2}])),
                sample_document_change("t", Table, None, json!([{"id": 9}, {"id": 9}])),
            ],
            json!([{"id": 1, "v": 2}, {"id": 9}]),
        ),
    ];
    for (case, changes, expected) in rows {
        let documents = run_documents::documents_from_changes(changes.iter());
        assert_eq!(documents.len(), 1, "{case}");
        assert_eq!(documents[0].2, expected, "{case}");
        assert_eq!(
            run_documents::documents_from_changes(changes.iter()),
            documents,
            "{case}: the same every time"
        );
    }
}

/// Proves T13 and T6: an abandoned branch keeps its notes, and its rows do not mix with other
/// branches.
#[test]
fn documents_are_those_of_the_newest_branch_and_notes_of_every_branch() {
    let log = |text: &str| vec![sample_document_change("log", Log, None, json!(text))];
    let tale = ScriptedLog::open_guided_run()
        .advance_to_node_with("a", "b", Some("first try"), log("one"))
        .push_checkpoint(Some("b"), "a thought")
        .advance_to_node_with("a", "c", Some("second try"), log("two"))
        .advance_to_node_with("c", "end", None, log("three"))
        .push_completed();
    let seen: Vec<_> = tale
        .run_tree()
        .run_documents()
        .into_iter()
        .map(|document| (document.name, document.kind, document.value, document.step))
        .collect();
    let step = Some("step-a".to_owned());
    assert_eq!(
        seen,
        [
            ("log".to_owned(), Log, json!(["two", "three"]), None),
            ("step-a".to_owned(), Notes, json!("first try"), step.clone()),
            ("checkpoint".to_owned(), Checkpoint, json!("a thought"), Some("step-b".to_owned())),
            ("step-a".to_owned(), Notes, json!("second try"), step),
        ]
    );
    let left = tale.run_tree().documents_at_node(node_id("b"));
    assert_eq!(left[0].value, json!(["one"]), "the other branch's own can still be built");
}

/// Proves T13: notes that the interpreter declared are not shown a second time.
#[test]
fn declared_notes_are_shown_once() {
    let declared = vec![sample_document_change("Findings", Notes, None, json!("text"))];
    let track =
        ScriptedLog::open_guided_run().advance_to_node_with("a", "b", Some("text"), declared).run_tree();
    let names: Vec<_> = track.run_documents().into_iter().map(|document| document.name).collect();
    assert_eq!(names, ["Findings"]);
}

/// Proves T11 and T14.
#[test]
fn a_session_holds_runs_and_its_own_notes_apart_from_them() {
    let keeper = ScriptedLog::submitted_run(9, WorkflowRef::SESSION_NOTES)
        .push_completed()
        .push_checkpoint(None, "remember")
        .run_tree();
    let done = ScriptedLog::open_guided_run().advance_to_node("a", "end").push_completed().run_tree();
    let program = ScriptedLog::submitted_run(2, "program").run_tree();
    let id = done.submission.session.clone();
    let view = SessionView::new(id.clone(), vec![keeper.clone(), program, done.clone()]);
    let runs: Vec<_> = view.runs.iter().map(|run| run.submission.workflow.name.as_str()).collect();
    assert_eq!(runs, ["wf", "program"]);
    assert_eq!(view.run_nodes().count(), 2);
    assert_eq!(view.run_edges().count(), 1);
    assert_eq!(view.session_notes().iter().map(|note| note.markdown).collect::<Vec<_>>(), ["remember"]);
    assert_eq!(
        view.session_documents().last().map(|last| last.name.as_str()),
        Some(WorkflowRef::SESSION_NOTES)
    );
    assert!(!view.can_be_removed(trackway_domain::Timestamp(i64::MAX)), "the program is under way");
    assert!(SessionView::new(id, vec![keeper, done]).can_be_removed(trackway_domain::Timestamp(0)));
}

/// Proves T3: a node that switches to another definition keeps its position.
#[test]
fn a_repinned_node_keeps_its_place_and_its_name() {
    let track = ScriptedLog::open_guided_run()
        .advance_to_node("a", "b")
        .push_blocked_attempt("a")
        .push_repin("a", "sha256-1")
        .run_tree();
    assert_eq!(track.nodes[0].definition, "sha256-1");
    assert_eq!((track.nodes[0].id, track.nodes[0].blocked), (node_id("a"), 1));
    assert_eq!(track.nodes.last().map(|node| node.id), Some(node_id("b")));
}
