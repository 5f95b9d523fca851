//! A place that is carried over to another definition.

use serde_json::json;
use trackway_domain::Inputs;

use super::{super::repin, Agent};
use crate::{
    Definition,
    model::{Condition, LoopOver, Step},
    testing::{definition, each, group, nested, object, prompt, repeat, switch},
};

fn body(text: &str) -> Vec<Step> {
    vec![switch("s", vec![(Condition::Always, vec![prompt("work", text)])])]
}

fn sample() -> Definition {
    let inner = nested("n", None, Some("1"), body("{{ item }}"));
    definition(vec![repeat("l", each("list", "item"), 5, vec![inner]), prompt("z", "end")])
}

/// In the second round.
fn agent() -> Agent {
    let mut agent = Agent::start(sample(), json!({"list": ["a", "b"], "thing": "before"}));
    agent.send(&Inputs::default());
    assert_eq!(agent.prompt(), "b");
    agent
}

/// The step is found by its id, with other steps before it and groups around it, in the same round; its
/// prompt and the names of its loop are those of the other definition. Proves T3.
#[test]
fn a_run_goes_on_in_another_definition() {
    let cases = vec![
        (Condition::Cel("false".to_owned()), vec![prompt("other", "o")]),
        (Condition::Always, vec![group("g", vec![prompt("work", "now {{ thing }}")])]),
    ];
    let inner = nested("n", None, Some("1"), vec![prompt("new", "new"), switch("s", cases)]);
    let steps = vec![
        prompt("start", "start"),
        group("around", vec![repeat("l", each("list", "thing"), 9, vec![inner])]),
        prompt("z", "{{ thing }}"),
    ];
    let to = definition(steps);
    let mut agent = agent();
    let moved = repin(&sample(), &to, &agent.standing.walk, agent.context()).expect("it is found");
    assert_eq!(moved.context["thing"], "b");
    assert!(!moved.context.contains_key("item"));
    agent.standing = moved;
    agent.definition = to;
    assert_eq!(agent.prompts(), ["work: now b", "z: before"]);
    assert_eq!(*agent.context(), object(json!({"list": ["a", "b"], "thing": "before"})));
}

/// A step that is gone, or that is somewhere else, is named, and nothing changes.
#[test]
fn a_place_that_is_gone_is_named() {
    let nest = |steps| nested("n", None, Some("1"), steps);
    let each_item = |steps| repeat("l", each("list", "item"), 5, steps);
    let samples = [
        (vec![prompt("work", "x")], "`l`"),
        (vec![each_item(vec![prompt("work", "x")])], "`n`"),
        (vec![each_item(vec![nest(vec![prompt("work", "x")])])], "`s`"),
        (vec![each_item(vec![nest(vec![switch("s", vec![])])])], "`work`"),
        (vec![repeat("l", LoopOver::Decision { id: None }, 5, vec![nest(body("x"))])], "`l`"),
        (vec![prompt("l", "x")], "`l`"),
    ];
    let agent = agent();
    for (steps, named) in samples {
        let block = repin(&sample(), &definition(steps), &agent.standing.walk, agent.context())
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
    let moved = repin(
        &sample(),
        &definition(vec![prompt("x", "x")]),
        &agent.standing.walk,
        agent.context(),
    );
    assert_eq!(moved.expect("it is complete").pending, None);
}

/// A place and a definition that do not belong together are told apart, whatever the place says.
#[test]
fn a_foreign_place_is_refused() {
    let agent = agent();
    let other = definition(vec![prompt("x", "x")]);
    for walk in [agent.standing.walk.clone(), json!({"frames": 1}), json!(null)] {
        let block = super::advance(&other, &walk, agent.context(), &Inputs::default());
        assert_eq!(block.expect_err("it is foreign").code, "place-lost");
    }
}
