//! A position that is moved to another definition.

use serde_json::json;
use trackway_domain::AttemptInputs;

use super::{super::repin_to_definition, ScriptedAgent};
use crate::{
    Definition,
    model::{Condition, LoopKind, Step},
    test_support::{
        expect_object, group_step, loop_over_items, loop_step, nested_step, prompt_step, sample_definition,
        switch_step,
    },
};

fn body(text: &str) -> Vec<Step> {
    vec![switch_step("s", vec![(Condition::Always, vec![prompt_step("work", text)])])]
}

fn sample() -> Definition {
    let inner = nested_step("n", None, Some("1"), body("{{ item }}"));
    sample_definition(vec![
        loop_step("l", loop_over_items("list", "item"), 5, vec![inner]),
        prompt_step("z", "end"),
    ])
}

/// In the second round.
fn agent() -> ScriptedAgent {
    let mut agent = ScriptedAgent::start(sample(), json!({"list": ["a", "b"], "thing": "before"}));
    agent.send(&AttemptInputs::default());
    assert_eq!(agent.prompt(), "b");
    agent
}

/// The step is found by its id, with other steps before it and groups around it, in the same round; its
/// prompt and the names of its loop are those of the other definition. Proves T3.
#[test]
fn a_run_goes_on_in_another_definition() {
    let cases = vec![
        (Condition::Cel("false".to_owned()), vec![prompt_step("other", "o")]),
        (Condition::Always, vec![group_step("g", vec![prompt_step("work", "now {{ thing }}")])]),
    ];
    let inner = nested_step("n", None, Some("1"), vec![prompt_step("new", "new"), switch_step("s", cases)]);
    let steps = vec![
        prompt_step("start", "start"),
        group_step("around", vec![loop_step("l", loop_over_items("list", "thing"), 9, vec![inner])]),
        prompt_step("z", "{{ thing }}"),
    ];
    let to = sample_definition(steps);
    let mut agent = agent();
    let moved =
        repin_to_definition(&sample(), &to, &agent.state.position, agent.context()).expect("it is found");
    assert_eq!(moved.context["thing"], "b");
    assert!(!moved.context.contains_key("item"));
    agent.state = moved;
    agent.definition = to;
    assert_eq!(agent.prompts(), ["work: now b", "z: before"]);
    assert_eq!(*agent.context(), expect_object(json!({"list": ["a", "b"], "thing": "before"})));
}

/// A step that was removed or moved is named, and nothing changes.
#[test]
fn missing_step_of_a_migration_is_named() {
    let nest = |steps| nested_step("n", None, Some("1"), steps);
    let each_item = |steps| loop_step("l", loop_over_items("list", "item"), 5, steps);
    let samples = [
        (vec![prompt_step("work", "x")], "`l`"),
        (vec![each_item(vec![prompt_step("work", "x")])], "`n`"),
        (vec![each_item(vec![nest(vec![prompt_step("work", "x")])])], "`s`"),
        (vec![each_item(vec![nest(vec![switch_step("s", vec![])])])], "`work`"),
        (vec![loop_step("l", LoopKind::Decision { id: None }, 5, vec![nest(body("x"))])], "`l`"),
        (vec![prompt_step("l", "x")], "`l`"),
    ];
    let agent = agent();
    for (steps, named) in samples {
        let block =
            repin_to_definition(&sample(), &sample_definition(steps), &agent.state.position, agent.context())
                .expect_err("it is gone");
        assert_eq!(block.code, "place-lost");
        assert!(block.message.contains(named), "{}", block.message);
    }
}

/// A run that is complete stays complete.
#[test]
fn a_complete_run_stays_complete() {
    let mut agent = agent();
    agent.prompts();
    let moved = repin_to_definition(
        &sample(),
        &sample_definition(vec![prompt_step("x", "x")]),
        &agent.state.position,
        agent.context(),
    );
    assert_eq!(moved.expect("it is complete").pending, None);
}

/// A position that does not belong to a definition is detected, whatever it contains.
#[test]
fn position_from_another_definition_is_refused() {
    let agent = agent();
    let other = sample_definition(vec![prompt_step("x", "x")]);
    for position in [agent.state.position.clone(), json!({"frames": 1}), json!(null)] {
        let block = super::advance_guided_run(&other, &position, agent.context(), &AttemptInputs::default());
        assert_eq!(block.expect_err("it is foreign").code, "place-lost");
    }
}
