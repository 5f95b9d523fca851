//! Loops that end by a decision.

use serde_json::json;
use trackway_domain::Inputs;

use super::Agent;
use crate::testing::{decide, decision, definition, equals, prompt, repeat};

fn sample(id: Option<&str>) -> crate::Definition {
    let body = vec![prompt("work", "work"), prompt("judge", "again?")];
    definition(vec![
        prompt("init", "init"),
        repeat("rounds", decision(id), 3, body),
        prompt("z", "end"),
    ])
}

/// The loop is entered before a first decision; `continue` and silence go on, `stop` leaves at the end
/// of the round. Proves T9.
#[test]
fn a_decision_ends_the_loop_at_the_end_of_its_round() {
    let mut agent = Agent::start(sample(Some("tries")), json!({}));
    agent.send(&Inputs::default());
    assert_eq!(agent.prompt(), "work");
    agent.send(&Inputs::default());
    agent.send(&decide("continue", Some("tries")));
    assert_eq!(agent.prompt(), "work");
    // The round is finished even so.
    agent.send(&decide("stop", None));
    assert_eq!(agent.prompt(), "again?");
    agent.send(&Inputs::default());
    assert_eq!(agent.prompt(), "end");
    assert!(agent.warnings().is_empty());
}

/// The last decision of a round counts, and a decision of the round before does not.
#[test]
fn the_last_decision_of_a_round_counts() {
    let mut agent = Agent::start(sample(None), json!({}));
    agent.send(&Inputs::default());
    agent.send(&decide("stop", None));
    agent.send(&decide("continue", Some("anything")));
    assert_eq!(agent.prompt(), "work");
    agent.send(&Inputs::default());
    agent.send(&decide("stop", Some("rounds")));
    assert_eq!(agent.prompt(), "end");
}

/// A decision from before the loop is its first one: `continue` enters it, `stop` leaves it out.
#[test]
fn a_decision_before_the_loop_is_its_first() {
    for (said, id, next) in [
        ("continue", None, "work"),
        ("stop", None, "end"),
        ("stop", Some("tries"), "end"),
        ("stop", Some("rounds"), "end"),
        ("stop", Some("others"), "work"),
    ] {
        let mut agent = Agent::start(sample(Some("tries")), json!({}));
        agent.send(&decide(said, id));
        assert_eq!(agent.prompt(), next, "{said} {id:?}");
        let unheeded = if id == Some("others") { vec!["decision-unheeded"] } else { vec![] };
        assert_eq!(agent.warnings(), unheeded);
    }
}

/// What ended one loop does not leave out the next, and a loop that is left out takes its decision along.
#[test]
fn a_decision_is_used_up() {
    let body = |id: &str| vec![prompt(id, id)];
    let steps = vec![
        repeat("first", decision(Some("one")), 3, body("in-first")),
        repeat("second", decision(Some("two")), 3, body("in-second")),
        prompt("between", "between"),
        repeat("third", decision(Some("three")), 3, body("in-third")).when(equals("x", json!(1))),
        repeat("fourth", decision(Some("four")), 3, body("in-fourth")),
    ];
    let mut agent = Agent::start(definition(steps), json!({}));
    agent.send(&decide("stop", None));
    assert_eq!(agent.prompt(), "in-second");
    agent.send(&decide("stop", Some("two")));
    assert_eq!(agent.prompt(), "between");
    agent.send(&decide("stop", None));
    assert_eq!(agent.prompt(), "in-fourth");
}

/// Inside of two loops, a decision is for the one that it names.
#[test]
fn a_decision_is_for_the_loop_that_it_names() {
    let inner = repeat("inner", decision(Some("in")), 3, vec![prompt("work", "work")]);
    let steps = vec![repeat("outer", decision(Some("out")), 3, vec![inner]), prompt("z", "end")];
    let mut agent = Agent::start(definition(steps), json!({}));
    agent.send(&decide("stop", Some("out")));
    assert_eq!(agent.prompt(), "work");
    agent.send(&decide("stop", Some("in")));
    assert_eq!(agent.prompt(), "end");
}
