//! Loops: every kind, with its limits and its names.

use serde_json::json;
use trackway_domain::AttemptInputs;

use super::ScriptedAgent;
use crate::{
    model::{LoopKind, Step, StepKind},
    test_support::{
        attempt_inputs_with_context, attempt_inputs_with_loop_decision, attempt_inputs_with_output,
        emit_step, equals_condition, expect_object, loop_by_count, loop_over_items, loop_step, map_step,
        prompt_step, sample_definition,
    },
};

fn numbered(mut step: Step, name: &str) -> Step {
    if let StepKind::Loop(repeated) = &mut step.kind {
        repeated.round = Some(name.to_owned());
    }
    step
}

/// The list is fixed at entry, and progress is never read from the context; indexes begin at 0; after the
/// loop its names are removed, and earlier values are restored. Proves T9 and T10.
#[test]
fn a_loop_goes_through_its_list() {
    let body = vec![
        prompt_step("do", "{{ itemIndex }} {{ item }} {{ round }}"),
        prompt_step("check", "{{ item }}?"),
    ];
    let steps = vec![
        numbered(loop_step("l", loop_over_items("todo", "item"), 10, body), "round"),
        prompt_step("z", "{{ item }}"),
    ];
    let mut agent =
        ScriptedAgent::start(sample_definition(steps), json!({"todo": ["a", "b"], "item": "before"}));
    assert_eq!(agent.prompt(), "0 a 0");
    // Neither another list nor another item moves the loop.
    agent.send(&attempt_inputs_with_context(json!({"todo": [], "item": "x", "itemIndex": 7, "round": 7})));
    assert_eq!(agent.prompt(), "a?");
    assert_eq!(agent.warnings(), ["context-not-kept"]);
    // A value that is sent back unchanged was kept.
    agent.send(&attempt_inputs_with_context(json!({"item": "a", "other": 1})));
    assert!(agent.warnings().is_empty());
    let rest = agent.prompts();
    assert_eq!(rest, ["do: 1 b 1", "check: b?", "z: before"]);
    assert_eq!(*agent.context(), expect_object(json!({"todo": [], "item": "before", "other": 1})));
}

/// No items, no rounds, or a condition that does not hold: the loop is skipped.
#[test]
fn a_loop_without_rounds_is_left_out() {
    let over = [
        loop_over_items("none", "item"),
        loop_by_count("zero"),
        LoopKind::While(equals_condition("go", json!(true))),
        LoopKind::Until(equals_condition("go", json!(false))),
    ];
    for over in over {
        let steps = vec![loop_step("l", over, 5, vec![prompt_step("in", "inside")]), prompt_step("z", "end")];
        let context = json!({"none": [], "zero": 0, "go": false});
        let mut agent = ScriptedAgent::start(sample_definition(steps), context);
        assert_eq!(agent.prompts(), ["z: end"]);
    }
}

/// A condition is evaluated before each round, and may read the round.
#[test]
fn conditions_are_looked_at_before_each_round() {
    let run = |over| {
        let body = vec![prompt_step("in", "round {{ n }}")];
        let steps = vec![numbered(loop_step("l", over, 5, body), "n"), prompt_step("z", "end")];
        let mut agent = ScriptedAgent::start(sample_definition(steps), json!({"go": true}));
        agent.send(&attempt_inputs_with_context(json!({"go": true})));
        assert_eq!(agent.prompt(), "round 1");
        agent.send(&attempt_inputs_with_context(json!({"go": false})));
        assert_eq!(agent.prompt(), "end");
        assert!(agent.warnings().is_empty());
    };
    run(LoopKind::While(equals_condition("go", json!(true))));
    run(LoopKind::Until(equals_condition("go", json!(false))));
    let steps = vec![numbered(
        loop_step(
            "l",
            LoopKind::Until(equals_condition("n", json!(2))),
            5,
            vec![prompt_step("in", "{{ n }}")],
        ),
        "n",
    )];
    assert_eq!(ScriptedAgent::start(sample_definition(steps), json!({})).prompts(), ["in: 0", "in: 1"]);
}

/// A loop at its limit ends with a warning, and the run continues after it. Proves T9.
#[test]
fn a_loop_at_its_limit_ends_with_a_warning() {
    let over = [
        loop_over_items("many", "item"),
        loop_by_count("number"),
        LoopKind::While(equals_condition("go", json!(true))),
        LoopKind::Until(equals_condition("go", json!(false))),
        LoopKind::Decision { id: None },
    ];
    for over in over {
        let steps = vec![loop_step("l", over, 2, vec![prompt_step("in", "inside")]), prompt_step("z", "end")];
        let context = json!({"many": [1, 2, 3], "number": 3.0, "go": true});
        let mut agent = ScriptedAgent::start(sample_definition(steps), context);
        agent.send(&AttemptInputs::default());
        assert!(agent.warnings().is_empty());
        agent.send(&AttemptInputs::default());
        assert_eq!(agent.prompt(), "end");
        assert_eq!(agent.warnings(), ["loop-limit"]);
    }
}

/// Exactly as many rounds as the limit allows cause no warning.
#[test]
fn a_loop_that_fits_its_limit_does_not_warn() {
    let steps = vec![loop_step("l", loop_over_items("many", "item"), 2, vec![prompt_step("in", "inside")])];
    let mut agent = ScriptedAgent::start(sample_definition(steps), json!({"many": [1, 2]}));
    agent.prompts();
    assert!(agent.warnings().is_empty());
}

/// Nested loops are independent, even with the same names.
#[test]
fn loops_inside_of_loops_keep_apart() {
    let inner = loop_step("inner", loop_over_items("list", "item"), 9, vec![prompt_step("in", "{{ item }}")]);
    let body = vec![prompt_step("out", "{{ item }}"), inner, prompt_step("back", "{{ item }}")];
    let steps = vec![loop_step("outer", loop_over_items("names", "item"), 9, body)];
    let mut agent =
        ScriptedAgent::start(sample_definition(steps), json!({"names": ["x", "y"], "list": [1, 2]}));
    let asked = agent.prompts();
    assert_eq!(asked, ["out: x", "in: 1", "in: 2", "back: x", "out: y", "in: 1", "in: 2", "back: y"]);
    assert_eq!(*agent.context(), expect_object(json!({"names": ["x", "y"], "list": [1, 2]})));
}

/// A map handles one item after the other; an item sees nothing of the one before, and the results are one
/// list.
#[test]
fn a_map_gathers_its_results() {
    let body = vec![
        prompt_step("in", "{{ index }} {{ item }}").with_save_name("made"),
        emit_step("e", "log", "{{ made }}"),
    ];
    let steps =
        vec![map_step("m", "list", Some("made"), body).with_save_name("all"), prompt_step("z", "{{ all }}")];
    let mut agent = ScriptedAgent::start(sample_definition(steps), json!({"list": ["a", "b", "c", "d"]}));
    // Three at most.
    assert_eq!(agent.warnings(), ["loop-limit"]);
    assert_eq!(agent.prompt(), "0 a");
    agent.send(&AttemptInputs {
        context: expect_object(json!({"mine": 1})),
        ..attempt_inputs_with_output(json!("A"))
    });
    assert_eq!(agent.prompt(), "1 b");
    assert!(!agent.context().contains_key("mine") && !agent.context().contains_key("made"));
    agent.send(&attempt_inputs_with_output(json!("B")));
    agent.send(&attempt_inputs_with_output(json!("C")));
    assert_eq!(
        *agent.context(),
        expect_object(json!({"list": ["a", "b", "c", "d"], "all": ["A", "B", "C"]}))
    );
}

/// Loops that skip everything end at a limit instead of blocking the caller.
#[test]
fn a_walk_that_never_stops_is_stopped() {
    let never = || vec![prompt_step("p", "x").with_condition(equals_condition("never", json!(1)))];
    let steps = vec![loop_step("l", LoopKind::Until(equals_condition("never", json!(1))), u32::MAX, never())];
    let block = super::begin_guided_run(&sample_definition(steps), &expect_object(json!({})))
        .expect_err("it is stopped");
    assert_eq!(block.code, "no-progress");
    let steps = vec![loop_step("l", LoopKind::Until(equals_condition("never", json!(1))), u32::MAX, vec![])];
    let block = super::begin_guided_run(&sample_definition(steps), &expect_object(json!({})))
        .expect_err("it is stopped");
    assert_eq!(block.code, "no-progress");
}

/// A position has the same size in a late round as in an early one: an answer costs the same however long the
/// run is.
#[test]
fn walk_position_does_not_grow() {
    let steps = vec![loop_step("l", loop_by_count("number"), 1000, vec![prompt_step("in", "inside")])];
    let mut agent = ScriptedAgent::start(sample_definition(steps), json!({"number": 1000}));
    let size = |agent: &ScriptedAgent| json!([agent.state.position, agent.context()]).to_string().len();
    for _ in 0..100 {
        agent.send(&attempt_inputs_with_loop_decision("continue", Some("l")));
    }
    let early = size(&agent);
    for _ in 0..800 {
        agent.send(&attempt_inputs_with_loop_decision("continue", Some("l")));
    }
    assert_eq!(size(&agent), early);
}
