//! The request for the model.

use super::*;
use crate::{OpenNote, ToolSpec, samples::image};

/// The whole context of a second turn: prompt, history with calls and results, tools. Proves D1 and D7
/// as far as the model sees them; calls of earlier turns are kept in the history.
#[test]
fn the_request_of_a_turn() {
    let history = vec![
        user("What time is it?"),
        Entry::Model { text: "I look.".into(), calls: vec![call("call_0", "time")] },
        result("call_0", "time", "12:00"),
        Entry::Model { text: "Noon.".into(), calls: Vec::new() },
    ];
    let asked = vec![text("Echo this twice."), image()];
    let mut turn = Turn::begin(&agent(), history, asked, Timestamp(0));
    let calls = vec![call("call_0", "dispatch_workflow_echo"), call("call_1", "time")];
    turn.heard(&answer("", calls)).unwrap();
    turn.returned("call_1", CallRecord::failed("no clock")).unwrap();
    turn.returned("call_0", CallRecord::json(&json!({"outcome": "answered", "result": []})))
        .unwrap();
    let tool = |name: &str| ToolSpec {
        name: name.into(),
        description: "Does it.".into(),
        schema: json!({"type": "object"}),
    };
    let offer = Offer {
        tools: vec![tool("dispatch_workflow_echo").into(), tool("time").into()],
        open: vec![OpenNote {
            person_only: false,
            task_id: "run_1".into(),
            workflow: "invest".into(),
            asks: "How much?".into(),
            schema: Some(json!({"type": "number"})),
        }],
        ended: Vec::new(),
        takes_images: false,
    };
    insta::assert_json_snapshot!(turn.request(offer.clone()));

    let seen = turn.request(Offer { takes_images: true, ..offer });
    let Entry::User { pieces } = &seen.entries[4] else { panic!("{:?}", seen.entries) };
    assert!(matches!(pieces[1], Piece::Image { .. }));
    assert_eq!(
        turn.clone().expecting(json!({"type": "array"})).request(Offer::default()).output,
        Some(json!({"type": "array"}))
    );
}

/// Some servers reject consecutive entries of the user: a summary, a message to a turn that had not
/// asked and the next message become one entry.
#[test]
fn the_user_speaks_once_at_a_time() {
    let history = vec![user("Summary"), user("Left over")];
    let turn = Turn::begin(&agent(), history, vec![text("Now")], Timestamp(0));
    let entries = turn.request(Offer::default()).entries;
    assert_eq!(
        entries,
        [Entry::User { pieces: vec![text("Summary"), text("Left over"), text("Now")] }]
    );
}

/// A compaction replaces the earlier entries; the turn continues with it.
#[test]
fn a_compaction_takes_the_place_of_the_history() {
    let history = vec![user("Old"), Entry::Model { text: "Old too".into(), calls: Vec::new() }];
    let mut turn = Turn::begin(&agent(), history, vec![text("Now")], Timestamp(0));
    let kept = vec![user("Now")];
    let compacted = Compacted { summary: "Sum".into(), kept, ..Compacted::default() };
    turn.compact(&compacted).unwrap();
    assert_eq!(turn.entries(), [user("Sum"), user("Now")]);
    assert_eq!(turn.next(), Next::Ask);
}
