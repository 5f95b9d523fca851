//! Logs in, session views out.

use serde_json::{Value, json};
use trackway_domain::{DocumentKind::*, Event, WorkflowRef};

use super::{fixture::*, *};

fn shape(track: &RunTrack) -> (usize, usize, usize, &'static str) {
    (track.nodes.len(), track.edges.len(), track.branches(), track.status().as_str())
}

/// Proves T12.
#[test]
fn lineage_status_and_branches_follow_from_the_log() {
    let rows = [
        ("only begun", Tale::guided(), (1, 0, 1, "running")),
        ("on its way", Tale::guided().advance("a", "b"), (2, 1, 1, "running")),
        ("blocked is no branch", Tale::guided().blocked("a").blocked("a"), (1, 0, 1, "running")),
        ("done", Tale::guided().advance("a", "end").completed(), (2, 1, 1, "complete")),
        (
            "forked at the first node",
            Tale::guided().advance("a", "b").advance("a", "c"),
            (3, 2, 2, "running"),
        ),
        (
            "forked after its end, and not done there",
            Tale::guided().advance("a", "end").completed().advance("a", "c"),
            (3, 2, 2, "running"),
        ),
        (
            "forked, and the newer branch is done",
            Tale::guided().advance("a", "b").advance("a", "end").completed(),
            (3, 2, 2, "complete"),
        ),
        ("stopped", Tale::guided().advance("a", "b").then(Event::Canceled), (2, 1, 1, "complete")),
        ("no nodes, under way", Tale::of(1, "program"), (0, 0, 1, "running")),
        ("no nodes, ended", Tale::of(1, "program").completed(), (0, 0, 1, "complete")),
    ];
    for (case, tale, expected) in rows {
        let track = tale.track();
        assert_eq!(shape(&track), expected, "{case}");
        assert_eq!(track.damaged, None, "{case}");
        let ids: std::collections::HashSet<_> = track.edges.iter().map(TrackEdge::id).collect();
        assert_eq!(ids.len(), track.edges.len(), "{case}: every edge has a name of its own");
    }
}

/// Proves T17, T6: a run is finished when no branch of it can continue, whichever is the newest.
#[test]
fn a_run_is_finished_when_every_branch_is() {
    let rows = [
        ("on its way", Tale::guided().advance("a", "b"), false),
        ("done", Tale::guided().advance("a", "end").completed(), true),
        (
            "the newer branch is done",
            Tale::guided().advance("a", "b").advance("a", "end").completed(),
            false,
        ),
        (
            "the older branch is done",
            Tale::guided().advance("a", "end").completed().advance("a", "c"),
            false,
        ),
        (
            "both are done",
            Tale::guided().advance("a", "b").advance("a", "end").completed().advance("b", "end-2"),
            true,
        ),
        ("stopped", Tale::guided().advance("a", "b").then(Event::Canceled), true),
        ("no nodes, under way", Tale::of(1, "program"), false),
        ("no nodes, ended", Tale::of(1, "program").completed(), true),
    ];
    for (case, tale, expected) in rows {
        assert_eq!(tale.track().is_finished(), expected, "{case}");
    }
}

/// Proves T12: an event that does not fit marks the run as damaged, and everything before it stays
/// visible.
#[test]
fn damage_is_shown_up_to_where_it_is() {
    let rows = [
        Tale::guided().advance("a", "b").advance("nowhere", "c").advance("b", "end"),
        Tale::guided().advance("a", "b").advance("a", "b"),
        Tale::guided().advance("a", "b").checkpoint(Some("nowhere"), "x"),
        Tale::guided().advance("a", "b").then(Event::Started),
        Tale::guided().advance("a", "b").repin("nowhere", "sha256-1"),
    ];
    for (case, tale) in rows.iter().enumerate() {
        let track = tale.track();
        assert!(track.damaged.is_some(), "{case}");
        assert_eq!(shape(&track), (2, 1, 1, "running"), "{case}");
        let view = SessionView::new(track.submission.session.clone(), vec![track]);
        assert_eq!(view.damages().count(), 1);
        assert!(!view.may_be_removed(trackway_domain::Timestamp(i64::MAX)));
    }
    assert_eq!(RunTrack::fold([(&Event::Started, trackway_domain::Timestamp(0))]), None);
}

/// Proves T12: events after the damage are visible, even if the node before them is lost.
#[test]
fn what_lies_behind_the_damage_is_shown() {
    let tale =
        Tale::guided().advance("a", "b").advance("b", "c").advance("a", "d").advance("c", "e");
    let submission = tale.track().submission;
    let events: Vec<_> = tale.events.iter().map(|(event, at)| (event, *at)).collect();
    for lost in 1..events.len() {
        let left = events.iter().enumerate().skip(1).filter(|(place, _)| *place != lost);
        let track = RunTrack::salvage(&submission, events[0].1, left.map(|(_, event)| *event));
        let whole = tale.track();
        let made = whole.nodes.len() - usize::from(lost >= 2);
        assert_eq!(track.nodes.len(), made, "event {lost} is lost");
        assert_eq!(
            track.updated_at,
            events.iter().rev().find(|event| event.1 != events[lost].1).unwrap().1
        );
        for edge in &track.edges {
            assert!(track.node(edge.from).is_some() && track.node(edge.to).is_some());
        }
    }
}

/// Proves T17: a run that was started and never answered does not keep its session for ever.
#[test]
fn a_start_that_nobody_answered_is_abandoned() {
    use trackway_domain::Timestamp;
    let view = |tale: &Tale| {
        let track = tale.track();
        SessionView::new(track.submission.session.clone(), vec![track])
    };
    let started = view(&Tale::guided());
    let at = started.runs[0].updated_at;
    assert!(started.may_be_removed(at));
    assert!(!started.may_be_removed(Timestamp(at.millis() - 1)), "not yet");
    let noted = view(&Tale::guided().checkpoint(Some("a"), "x"));
    let answered = view(&Tale::guided().advance("a", "b"));
    assert!(!noted.may_be_removed(Timestamp(i64::MAX)));
    assert!(!answered.may_be_removed(Timestamp(i64::MAX)));
}

/// Proves T13.
#[test]
fn reducers_build_headers_logs_and_tables() {
    let table = |value| change("t", Table, Some("/id"), value);
    let rows: Vec<(&str, Vec<trackway_domain::DocumentChange>, Value)> = vec![
        (
            "later fields replace earlier ones",
            vec![
                change("h", Header, None, json!({"title": "a", "by": "me"})),
                change("h", Header, None, json!({"title": "b"})),
            ],
            json!({"title": "b", "by": "me"}),
        ),
        (
            "a value without fields has a field of its own",
            vec![change("h", Header, None, json!("plain"))],
            json!({"value": "plain"}),
        ),
        (
            "a log only grows, by items and by lists",
            vec![
                change("l", Log, None, json!(1)),
                change("l", Log, None, json!([1, 2])),
                change("l", Log, None, json!([])),
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
                change("t", Table, Some("id"), json!([{"id": 1, "v": 1}, {"id": 1, "v": 2}])),
                change("t", Table, None, json!([{"id": 9}, {"id": 9}])),
            ],
            json!([{"id": 1, "v": 2}, {"id": 9}]),
        ),
    ];
    for (case, changes, expected) in rows {
        let documents = document::reduce(changes.iter());
        assert_eq!(documents.len(), 1, "{case}");
        assert_eq!(documents[0].2, expected, "{case}");
        assert_eq!(document::reduce(changes.iter()), documents, "{case}: the same every time");
    }
}

/// Proves T13 and T6: an abandoned branch keeps its notes, and its rows do not mix with other
/// branches.
#[test]
fn documents_are_those_of_the_newest_branch_and_notes_of_every_branch() {
    let log = |text: &str| vec![change("log", Log, None, json!(text))];
    let tale = Tale::guided()
        .advance_with("a", "b", Some("first try"), log("one"))
        .checkpoint(Some("b"), "a thought")
        .advance_with("a", "c", Some("second try"), log("two"))
        .advance_with("c", "end", None, log("three"))
        .completed();
    let seen: Vec<_> = tale
        .track()
        .documents()
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
    let left = tale.track().documents_at(node_id("b"));
    assert_eq!(left[0].value, json!(["one"]), "the other branch's own can still be built");
}

/// Proves T13: notes that the interpreter declared are not shown a second time.
#[test]
fn declared_notes_are_shown_once() {
    let declared = vec![change("Findings", Notes, None, json!("text"))];
    let track = Tale::guided().advance_with("a", "b", Some("text"), declared).track();
    let names: Vec<_> = track.documents().into_iter().map(|document| document.name).collect();
    assert_eq!(names, ["Findings"]);
}

/// Proves T11 and T14.
#[test]
fn a_session_holds_runs_and_its_own_notes_apart_from_them() {
    let keeper =
        Tale::of(9, WorkflowRef::SESSION_NOTES).completed().checkpoint(None, "remember").track();
    let done = Tale::guided().advance("a", "end").completed().track();
    let program = Tale::of(2, "program").track();
    let id = done.submission.session.clone();
    let view = SessionView::new(id.clone(), vec![keeper.clone(), program, done.clone()]);
    let runs: Vec<_> = view.runs.iter().map(|run| run.submission.workflow.name.as_str()).collect();
    assert_eq!(runs, ["wf", "program"]);
    assert_eq!(view.nodes().count(), 2);
    assert_eq!(view.edges().count(), 1);
    assert_eq!(view.notes().iter().map(|note| note.markdown).collect::<Vec<_>>(), ["remember"]);
    assert_eq!(
        view.documents().last().map(|last| last.name.as_str()),
        Some(WorkflowRef::SESSION_NOTES)
    );
    assert!(!view.may_be_removed(trackway_domain::Timestamp(i64::MAX)), "the program is under way");
    assert!(SessionView::new(id, vec![keeper, done]).may_be_removed(trackway_domain::Timestamp(0)));
}

/// Proves T3: a node that switches to another definition keeps its position.
#[test]
fn a_repinned_node_keeps_its_place_and_its_name() {
    let track = Tale::guided().advance("a", "b").blocked("a").repin("a", "sha256-1").track();
    assert_eq!(track.nodes[0].definition, "sha256-1");
    assert_eq!((track.nodes[0].id, track.nodes[0].blocked), (node_id("a"), 1));
    assert_eq!(track.nodes.last().map(|node| node.id), Some(node_id("b")));
}
