//! Calls and their results: matched by id, in the order of the calls, no longer tracked once they
//! arrive.

use proptest::prelude::*;

use super::*;

/// Several calls in one answer, results in another order, entries in the order of the calls. Proves D7.
#[test]
fn results_stand_in_the_order_of_the_calls() {
    let mut turn = began(TurnBudgets::default());
    let calls = vec![call("a", "echo"), call("b", "add"), call("c", "echo")];
    turn.apply_model_answer(&answer("I look.", calls.clone())).unwrap();
    for (id, rest) in [("c", vec!["a", "b"]), ("a", vec!["b"]), ("b", vec![])] {
        assert!(waiting(&turn).contains(&id.to_owned()));
        turn.apply_call_result(id, ToolCallRecord::new(vec![text(id)])).unwrap();
        assert_eq!(waiting(&turn), rest);
    }
    assert_eq!(turn.next_action(), NextTurnAction::Ask);
    let said = ConversationEntry::Model { text: "I look.".into(), calls };
    let results = [result("a", "echo", "a"), result("b", "add", "b"), result("c", "echo", "c")];
    assert_eq!(turn.conversation_entries()[1], said);
    assert_eq!(turn.conversation_entries()[2..], results);
}

/// Proves D6: a result that was handled is no longer tracked.
#[test]
fn a_result_is_taken_once() {
    let mut turn = began(TurnBudgets::default());
    turn.apply_model_answer(&answer("", vec![call("a", "x"), call("b", "x")])).unwrap();
    turn.apply_call_result("a", ToolCallRecord::record_from_json(&json!(1))).unwrap();
    let again = turn.apply_call_result("a", ToolCallRecord::record_from_json(&json!(2))).unwrap_err();
    assert_eq!(again.to_string(), r#"no call "a" waits for a result (waiting: b)"#);
    turn.apply_call_result("b", ToolCallRecord::record_from_json(&json!(3))).unwrap();
    assert!(turn.apply_call_result("b", ToolCallRecord::record_from_json(&json!(4))).is_err());
    assert_eq!(turn.conversation_entries()[2..], [result("a", "x", "1"), result("b", "x", "3")]);
}

/// Two dispatches of one workflow, in one answer and in two, are two calls with a step, a number and a
/// result each, even if the provider gives both the same id. Proves D6.
#[test]
fn two_dispatches_of_one_workflow_are_two() {
    let tool = "dispatch_workflow_echo";
    let mut turn = began(TurnBudgets::default());
    turn.apply_model_answer(&answer("", vec![call("a", tool), call("a", tool)])).unwrap();
    let NextTurnAction::Call(first) = turn.next_action() else { panic!("{:?}", turn.next_action()) };
    for waiting in &first {
        turn.apply_call_result(&waiting.call.id, ToolCallRecord::new(vec![text(&waiting.call_step_key())]))
            .unwrap();
    }
    turn.apply_model_answer(&answer("", vec![call("a", tool)])).unwrap();
    let NextTurnAction::Call(second) = turn.next_action() else { panic!("{:?}", turn.next_action()) };

    let seen: Vec<_> = first
        .iter()
        .chain(&second)
        .map(|w| (w.call_step_key(), w.call_artifact_name_and_id("tool-call")))
        .collect();
    let name = format!("tool-call-{tool}");
    let expected = [
        (format!("call 0.0 {tool}"), (name.clone(), name.clone())),
        (format!("call 0.1 {tool}"), (name.clone(), format!("{name}.2"))),
        (format!("call 1.0 {tool}"), (name.clone(), format!("{name}.3"))),
    ];
    assert_eq!(seen, expected);
    let ConversationEntry::Result { pieces, .. } = &turn.conversation_entries()[3] else { panic!() };
    assert_eq!(pieces, &[text(&format!("call 0.1 {tool}"))]);
}

/// Another turn knows nothing of the calls of this one. Proves D6.
#[test]
fn a_new_turn_tracks_nothing_of_the_one_before() {
    let mut turn = began(TurnBudgets::default());
    turn.apply_model_answer(&answer("", vec![call("a", "dispatch_workflow_echo")])).unwrap();
    let history = turn.conversation_entries().to_vec();
    let mut next = AgentTurn::begin_turn(&agent(), history, vec![text("More")], Timestamp(0));
    assert_eq!(next.next_action(), NextTurnAction::Ask);
    next.apply_model_answer(&answer("", vec![call("a", "dispatch_workflow_echo")])).unwrap();
    let NextTurnAction::Call(calls) = next.next_action() else { panic!() };
    assert_eq!(calls[0].nth, 1);
    assert_eq!(calls[0].call_step_key(), "call 0.0 dispatch_workflow_echo");
}

/// A call whose arguments are not JSON waits like the others, so that it is published like them. Its
/// result describes the error.
#[test]
fn broken_arguments_are_told_and_nothing_is_called() {
    let broken = ToolUse {
        arguments: ToolArguments::Broken { text: "{\"a\":".into(), reason: "it ends too early".into() },
        ..call("a", "echo")
    };
    let mut turn = began(TurnBudgets::default());
    turn.apply_model_answer(&answer("", vec![broken.clone(), call("b", "echo")])).unwrap();
    assert_eq!(waiting(&turn), ["a", "b"]);
    turn.apply_call_result("a", turn_record::broken_arguments_record(&broken).unwrap()).unwrap();
    turn.apply_call_result("b", ToolCallRecord::record_from_json(&json!(1))).unwrap();
    let ConversationEntry::Result { call, pieces, failed: true, .. } = &turn.conversation_entries()[2] else {
        panic!("{:?}", turn.conversation_entries())
    };
    assert_eq!(call, "a");
    let told = "The arguments of this call of echo are not JSON (it ends too early). Nothing was \
                called. Call it again with one JSON object.";
    assert_eq!(pieces, &[text(told)]);
}

/// A model may make up any tool name; an artifact's name and id are restricted.
#[test]
fn artifacts_have_usable_names_whatever_is_called() {
    let table = [
        ("echo", "tool-call-echo"),
        ("a\nb", "tool-call-a_b"),
        ("", "tool-call-"),
        (&"ü".repeat(300), "tool-call-unknown"),
    ];
    for (tool, name) in table {
        let place = ToolCallPosition { model_call: 0, index: 0 };
        let waiting = PendingToolCall { call: call("a", tool), position: place, nth: 2 };
        assert_eq!(waiting.call_artifact_name_and_id("tool-call"), (name.to_owned(), format!("{name}.2")));
        trackway_domain::ArtifactId::new(&waiting.call_artifact_name_and_id("tool-call").1).unwrap();
    }
}

proptest! {
    /// In any order of results, and with any other inputs in between, every call gets its own result,
    /// in its own position. Proves D6 and D7.
    #[test]
    fn every_call_gets_its_own_result(
        answers in prop::collection::vec((1usize..6, any::<u64>(), any::<bool>()), 1..5),
    ) {
        let budgets = TurnBudgets { calls: 100, ..TurnBudgets::default() };
        let mut turn = began(budgets);
        for (model_call, (count, order, stray)) in answers.into_iter().enumerate() {
            // The same ids in every answer, as some servers send them.
            let calls: Vec<ToolUse> = (0..count).map(|n| call(&format!("call_{n}"), "t")).collect();
            turn.apply_model_answer(&answer("", calls)).unwrap();
            let NextTurnAction::Call(mut open) = turn.next_action() else { panic!() };
            prop_assert_eq!(open.len(), count);
            let before = turn.conversation_entries().len();
            let mut random = order;
            while !open.is_empty() {
                if stray {
                    prop_assert!(turn.apply_call_result("nobody", ToolCallRecord::record_from_json(&json!(0))).is_err());
                }
                let waiting = open.swap_remove((random % open.len() as u64) as usize);
                random = random.rotate_left(7).wrapping_mul(31);
                let record = ToolCallRecord::new(vec![text(&waiting.call_step_key())]);
                prop_assert!(turn.apply_call_result(&waiting.call.id, record.clone()).is_ok());
                prop_assert!(turn.apply_call_result(&waiting.call.id, record).is_err());
            }
            prop_assert_eq!(turn.next_action(), NextTurnAction::Ask);
            let results: Vec<ConversationEntry> = (0..count)
                .map(|n| result(&format!("call_{n}"), "t", &format!("call {model_call}.{n} t")))
                .collect();
            prop_assert_eq!(&turn.conversation_entries()[before..], &results[..]);
        }
        // The request repeats no id, and every result follows its call.
        let sent = turn.build_model_request(TurnRequestContext::default()).entries;
        let ids: Vec<&str> = sent.iter().filter_map(|entry| match entry {
            ConversationEntry::Result { call, .. } => Some(call.as_str()),
            _ => None,
        }).collect();
        let made: Vec<&str> = sent.iter().flat_map(|entry| match entry {
            ConversationEntry::Model { calls, .. } => calls.iter().map(|call| call.id.as_str()).collect(),
            _ => Vec::new(),
        }).collect();
        prop_assert_eq!(&ids, &made);
        let distinct: std::collections::BTreeSet<&str> = ids.iter().copied().collect();
        prop_assert_eq!(distinct.len(), ids.len());
    }
}
