//! Output with a schema: parsed, judged, repaired.

use super::*;

fn expecting() -> AgentTurn {
    began(TurnBudgets::default()).with_output_schema(json!({"type": "object"}))
}

fn problem(path: &str, message: &str, hint: Option<&str>) -> ValidationError {
    ValidationError {
        path: path.into(),
        code: "type".into(),
        message: message.into(),
        expected: json!("string"),
        got: None,
        hint: hint.map(str::to_owned),
    }
}

#[test]
fn output_is_read_and_judged() {
    let value = json!({"a": 1});
    for said in ["{\"a\":1}", " {\"a\": 1}\n", "```json\n{\"a\": 1}\n```", "```\n{\"a\": 1}```"] {
        let mut turn = expecting();
        turn.apply_model_answer(&answer(said, Vec::new())).unwrap();
        assert_eq!(turn.next_action(), NextTurnAction::Judge(value.clone()), "{said:?}");
        turn.apply_output_validation(&[]).unwrap();
        let done = TurnOutcome { text: said.into(), output: Some(value.clone()), ending: TurnEnding::Said };
        assert_eq!(turn.next_action(), NextTurnAction::Done(done));
    }
}

/// Tools may be called before the output.
#[test]
fn calls_come_before_output() {
    let mut turn = expecting();
    turn.apply_model_answer(&answer("I look.", vec![call("a", "echo")])).unwrap();
    turn.apply_call_result("a", ToolCallRecord::record_from_json(&json!(1))).unwrap();
    turn.apply_model_answer(&json_text(&json!([]))).unwrap();
    assert_eq!(turn.next_action(), NextTurnAction::Judge(json!([])));
}

/// Two repairs that include the errors, then it fails with them.
#[test]
fn output_is_mended_twice_and_then_fails() {
    let problems = [
        problem("/name", "7 is not of type \"string\"", None),
        problem("", "\"age\" is a required property", Some("add it")),
    ];
    let mut turn = expecting();
    for _ in 0..REPAIRS_MAX {
        turn.apply_model_answer(&json_text(&json!({"name": 7}))).unwrap();
        turn.apply_output_validation(&problems).unwrap();
        assert_eq!(turn.next_action(), NextTurnAction::Ask);
    }
    let Some(ConversationEntry::User { pieces }) = turn.conversation_entries().last() else { panic!() };
    let told = "Your answer is not of the required form: \n- /name: 7 is not of type \"string\"\n\
                - the whole answer: \"age\" is a required property (add it)\n\
                Answer again with the whole corrected JSON and nothing else.";
    assert_eq!(pieces, &[text(told)]);
    turn.apply_model_answer(&json_text(&json!({"name": 7}))).unwrap();
    turn.apply_output_validation(&problems).unwrap();
    let NextTurnAction::Failed(why) = turn.next_action() else { panic!("{:?}", turn.next_action()) };
    assert!(why.starts_with("The model's answer was not of the required form in 3 tries: "), "{why}");
    assert!(why.contains("- /name: 7 is not of type"), "{why}");
}

/// Text that is not JSON is sent back without a check against the schema.
#[test]
fn text_is_sent_back() {
    let table = [
        ("Sure!", "the answer is not JSON: "),
        ("", "the answer was empty"),
        ("```json\n```", "the answer was empty"),
        (&format!("{}1{}", "[".repeat(120), "]".repeat(120)), "the answer is nested deeper than 100"),
    ];
    for (said, why) in table {
        let mut turn = expecting();
        turn.apply_model_answer(&answer(said, Vec::new())).unwrap();
        assert_eq!(turn.next_action(), NextTurnAction::Ask, "{said:?}");
        let Some(ConversationEntry::User { pieces }) = turn.conversation_entries().last() else { panic!() };
        let ContentPiece::Text(told) = &pieces[0] else { panic!() };
        assert!(told.contains(why), "{told}");
    }
}

/// A repair counts as a model call, and a long list of problems is shortened.
#[test]
fn repairs_are_bounded_by_the_budget_too() {
    let mut turn = began(TurnBudgets { calls: 1, ..TurnBudgets::default() }).with_output_schema(json!({}));
    turn.apply_model_answer(&json_text(&json!(1))).unwrap();
    let problems: Vec<ValidationError> = (0..40).map(|n| problem(&format!("/{n}"), "no", None)).collect();
    turn.apply_output_validation(&problems).unwrap();
    assert_eq!(turn.next_action(), NextTurnAction::Limit(TurnLimit::Calls { max: 1 }));
    let Some(ConversationEntry::User { pieces }) = turn.conversation_entries().last() else { panic!() };
    let ContentPiece::Text(told) = &pieces[0] else { panic!() };
    assert!(told.contains("- /15: no\n- and 24 more\n"), "{told}");
}

#[test]
fn output_that_is_cut_off_fails_at_once() {
    for finish in [FinishReason::Length, FinishReason::Filtered] {
        let mut turn = expecting();
        turn.apply_model_answer(&ended("{\"a\":", finish)).unwrap();
        let NextTurnAction::Failed(why) = turn.next_action() else { panic!("{:?}", turn.next_action()) };
        assert!(why.starts_with("There is no output. The "), "{why}");
    }
}
