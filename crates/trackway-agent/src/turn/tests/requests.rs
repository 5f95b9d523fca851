//! The request for the model.

use super::*;
use crate::{AgentSpec, OpenQuestionNote, ToolSpec, samples::image};

/// The whole context of a second turn: prompt, history with calls and results, tools. Proves D1 and D7
/// as far as the model sees them; calls of earlier turns are kept in the history.
#[test]
fn the_request_of_a_turn() {
    let history = vec![
        user("What time is it?"),
        ConversationEntry::Model { text: "I look.".into(), calls: vec![call("call_0", "time")] },
        result("call_0", "time", "12:00"),
        ConversationEntry::Model { text: "Noon.".into(), calls: Vec::new() },
    ];
    let asked = vec![text("Echo this twice."), image()];
    let mut turn = AgentTurn::begin_turn(&agent(), history, asked, Timestamp(0));
    let calls = vec![call("call_0", "dispatch_workflow_echo"), call("call_1", "time")];
    turn.apply_model_answer(&answer("", calls)).unwrap();
    turn.apply_call_result("call_1", ToolCallRecord::failed_call_with_reason("no clock")).unwrap();
    turn.apply_call_result(
        "call_0",
        ToolCallRecord::record_from_json(&json!({"outcome": "answered", "result": []})),
    )
    .unwrap();
    let tool = |name: &str| ToolSpec {
        name: name.into(),
        description: "Does it.".into(),
        schema: json!({"type": "object"}),
    };
    let offer = TurnRequestContext {
        tools: vec![tool("dispatch_workflow_echo").into(), tool("time").into()],
        open: vec![OpenQuestionNote {
            person_only: false,
            task_id: "run_1".into(),
            workflow: "invest".into(),
            asks: "How much?".into(),
            schema: Some(json!({"type": "number"})),
        }],
        ended: Vec::new(),
        takes_images: false,
        offers_peer_workflow: false,
    };
    insta::assert_json_snapshot!(turn.build_model_request(offer.clone()));

    let seen = turn.build_model_request(TurnRequestContext { takes_images: true, ..offer });
    let ConversationEntry::User { pieces } = &seen.entries[4] else { panic!("{:?}", seen.entries) };
    assert!(matches!(pieces[1], ContentPiece::Image { .. }));
    assert_eq!(
        turn.clone()
            .with_output_schema(json!({"type": "array"}))
            .build_model_request(TurnRequestContext::default())
            .output,
        Some(json!({"type": "array"}))
    );
}

/// Proves I8: the dual-mode instruction is in the prompt exactly when a workflow of a peer is offered.
#[test]
fn the_two_ways_of_input_are_explained_if_they_exist() {
    let turn = AgentTurn::begin_turn(&agent(), Vec::new(), vec![text("Now")], Timestamp(0));
    let prompt = |offers_peer_workflow| {
        let context = TurnRequestContext { offers_peer_workflow, ..TurnRequestContext::default() };
        turn.build_model_request(context).system
    };
    assert_eq!(prompt(false), "You help.");
    insta::assert_snapshot!("dual-mode-prompt", prompt(true));
    let silent = AgentSpec { prompt: " ".into(), ..agent() };
    let turn = AgentTurn::begin_turn(&silent, Vec::new(), vec![text("Now")], Timestamp(0));
    let context = TurnRequestContext { offers_peer_workflow: true, ..TurnRequestContext::default() };
    assert_eq!(turn.build_model_request(context).system, crate::WORKFLOW_INPUT_NOTE);
}

/// Some servers reject consecutive entries of the user: a summary, a message to a turn that had not
/// asked and the next message become one entry.
#[test]
fn the_user_speaks_once_at_a_time() {
    let history = vec![user("Summary"), user("Left over")];
    let turn = AgentTurn::begin_turn(&agent(), history, vec![text("Now")], Timestamp(0));
    let entries = turn.build_model_request(TurnRequestContext::default()).entries;
    assert_eq!(
        entries,
        [ConversationEntry::User { pieces: vec![text("Summary"), text("Left over"), text("Now")] }]
    );
}

/// A compaction replaces the earlier entries; the turn continues with it.
#[test]
fn a_compaction_takes_the_place_of_the_history() {
    let history = vec![user("Old"), ConversationEntry::Model { text: "Old too".into(), calls: Vec::new() }];
    let mut turn = AgentTurn::begin_turn(&agent(), history, vec![text("Now")], Timestamp(0));
    let kept = vec![user("Now")];
    let compacted = CompactedHistory { summary: "Sum".into(), kept, ..CompactedHistory::default() };
    turn.apply_compaction(&compacted).unwrap();
    assert_eq!(turn.conversation_entries(), [user("Sum"), user("Now")]);
    assert_eq!(turn.next_action(), NextTurnAction::Ask);
}
