//! Loops that end by a decision.

use serde_json::json;
use trackway_domain::AttemptInputs;

use super::ScriptedAgent;
use crate::test_support::{
    attempt_inputs_with_loop_decision, equals_condition, loop_by_decision, loop_step, prompt_step,
    sample_definition,
};

fn sample(id: Option<&str>) -> crate::Definition {
    let body = vec![prompt_step("work", "work"), prompt_step("judge", "again?")];
    sample_definition(vec![
        prompt_step("init", "init"),
        loop_step("rounds", loop_by_decision(id), 3, body),
        prompt_step("z", "end"),
    ])
}

/// The loop is entered without a decision; `continue` or no decision continues, `stop` leaves at the end of
/// the round. Proves T9.
#[test]
fn a_decision_ends_the_loop_at_the_end_of_its_round() {
    let mut agent = ScriptedAgent::start(sample(Some("tries")), json!({}));
    agent.send(&AttemptInputs::default());
    assert_eq!(agent.prompt(), "work");
    agent.send(&AttemptInputs::default());
    agent.send(&attempt_inputs_with_loop_decision("continue", Some("tries")));
    assert_eq!(agent.prompt(), "work");
    // The round is still finished.
    agent.send(&attempt_inputs_with_loop_decision("stop", None));
    assert_eq!(agent.prompt(), "again?");
    agent.send(&AttemptInputs::default());
    assert_eq!(agent.prompt(), "end");
    assert!(agent.warnings().is_empty());
}

/// The last decision of a round counts, and a decision of the round before does not.
#[test]
fn the_last_decision_of_a_round_counts() {
    let mut agent = ScriptedAgent::start(sample(None), json!({}));
    agent.send(&AttemptInputs::default());
    agent.send(&attempt_inputs_with_loop_decision("stop", None));
    agent.send(&attempt_inputs_with_loop_decision("continue", Some("anything")));
    assert_eq!(agent.prompt(), "work");
    agent.send(&AttemptInputs::default());
    agent.send(&attempt_inputs_with_loop_decision("stop", Some("rounds")));
    assert_eq!(agent.prompt(), "end");
}

/// A decision from before the loop is its first one: `continue` enters it, `stop` skips it.
#[test]
fn a_decision_before_the_loop_is_its_first() {
    for (said, id, next) in [
        ("continue", None, "work"),
        ("stop", None, "end"),
        ("stop", Some("tries"), "end"),
        ("stop", Some("rounds"), "end"),
        ("stop", Some("others"), "work"),
    ] {
        let mut agent = ScriptedAgent::start(sample(Some("tries")), json!({}));
        agent.send(&attempt_inputs_with_loop_decision(said, id));
        assert_eq!(agent.prompt(), next, "{said} {id:?}");
        let unheeded = if id == Some("others") { vec!["decision-unheeded"] } else { vec![] };
        assert_eq!(agent.warnings(), unheeded);
    }
}

/// A decision that ended one loop does not skip the next, and a skipped loop uses up its decision.
#[test]
fn loop_decision_is_used_once() {
    let body = |id: &str| vec![prompt_step(id, id)];
    let steps = vec![
        loop_step("first", loop_by_decision(Some("one")), 3, body("in-first")),
        loop_step("second", loop_by_decision(Some("two")), 3, body("in-second")),
        prompt_step("between", "between"),
        loop_step("third", loop_by_decision(Some("three")), 3, body("in-third"))
            .with_condition(equals_condition("x", json!(1))),
        loop_step("fourth", loop_by_decision(Some("four")), 3, body("in-fourth")),
    ];
    let mut agent = ScriptedAgent::start(sample_definition(steps), json!({}));
    agent.send(&attempt_inputs_with_loop_decision("stop", None));
    assert_eq!(agent.prompt(), "in-second");
    agent.send(&attempt_inputs_with_loop_decision("stop", Some("two")));
    assert_eq!(agent.prompt(), "between");
    agent.send(&attempt_inputs_with_loop_decision("stop", None));
    assert_eq!(agent.prompt(), "in-fourth");
}

/// Inside two loops, a decision is for the one that it names.
#[test]
fn a_decision_is_for_the_loop_that_it_names() {
    let inner = loop_step("inner", loop_by_decision(Some("in")), 3, vec![prompt_step("work", "work")]);
    let steps =
        vec![loop_step("outer", loop_by_decision(Some("out")), 3, vec![inner]), prompt_step("z", "end")];
    let mut agent = ScriptedAgent::start(sample_definition(steps), json!({}));
    agent.send(&attempt_inputs_with_loop_decision("stop", Some("out")));
    assert_eq!(agent.prompt(), "work");
    agent.send(&attempt_inputs_with_loop_decision("stop", Some("in")));
    assert_eq!(agent.prompt(), "end");
}
