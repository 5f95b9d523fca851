//! Nested workflows.

use serde_json::json;
use trackway_domain::AttemptInputs;

use super::ScriptedAgent;
use crate::test_support::{
    attempt_inputs_with_context, attempt_inputs_with_output, expect_object, loop_over_items, loop_step,
    nested_step, prompt_step, sample_definition,
};

/// The inner steps see the values that are passed, and return what the output says; the steps keep their ids.
/// Proves T9.
#[test]
fn an_inner_workflow_has_a_context_of_its_own() {
    let inner =
        vec![prompt_step("in", "{{ who }}").with_save_name("said").with_set_expression("who", "result")];
    let given: &[_] = &[("who", json!("=user.name")), ("plain", json!(1))];
    let steps = vec![
        nested_step("n", Some(given), Some("said"), inner).with_save_name("answer"),
        prompt_step("z", "{{ who }} {{ answer }}"),
    ];
    let mut agent =
        ScriptedAgent::start(sample_definition(steps), json!({"user": {"name": "Ada"}, "who": "me"}));
    assert_eq!(agent.prompt(), "Ada");
    assert_eq!(*agent.context(), expect_object(json!({"who": "Ada", "plain": 1})));
    agent.send(&attempt_inputs_with_output(json!("yes")));
    assert_eq!(agent.state.pending.as_ref().map(|pending| pending.step.as_str()), Some("z"));
    assert_eq!(agent.prompt(), "me yes");
}

/// Without its own context, the inner workflow uses the outer one.
#[test]
fn an_inner_workflow_may_share_the_context() {
    let inner = vec![prompt_step("in", "{{ who }}").with_save_name("said")];
    let steps = vec![nested_step("n", None, Some("said"), inner), prompt_step("z", "{{ said }}")];
    let mut agent = ScriptedAgent::start(sample_definition(steps), json!({"who": "me"}));
    agent.send(&attempt_inputs_with_output(json!("yes")));
    assert_eq!(agent.prompt(), "yes");
}

/// A sent fact is known outside too; only what the inner steps create stays inside.
#[test]
fn facts_are_known_outside_of_an_inner_workflow() {
    let inner = vec![prompt_step("in", "x").with_save_name("mine"), prompt_step("in-2", "y")];
    let steps = vec![nested_step("n", Some(&[]), Some("mine"), inner), prompt_step("z", "{{ fact }}")];
    let mut agent = ScriptedAgent::start(sample_definition(steps), json!({}));
    agent.send(&attempt_inputs_with_context(json!({"fact": "it rains"})));
    agent.send(&AttemptInputs::default());
    assert_eq!(agent.prompt(), "it rains");
    assert_eq!(*agent.context(), expect_object(json!({"fact": "it rains"})));
}

/// Without an output, the result is the inner context.
#[test]
fn the_inner_context_is_the_result_unless_another_is_named() {
    let given: &[_] = &[("a", json!(1))];
    let inner = vec![prompt_step("in", "x").with_save_name("b")];
    let steps = vec![nested_step("n", Some(given), None, inner).with_save_name("all")];
    let mut agent = ScriptedAgent::start(sample_definition(steps), json!({}));
    agent.send(&attempt_inputs_with_output(json!(2)));
    assert_eq!(*agent.context(), expect_object(json!({"all": {"a": 1, "b": 2}})));
}

/// The names of an outer loop stay set while an inner workflow runs.
#[test]
fn a_loop_around_an_inner_workflow_keeps_its_names() {
    let inner = vec![prompt_step("in", "{{ it }}")];
    let given: &[_] = &[("it", json!("=item"))];
    let body = vec![nested_step("n", Some(given), Some("it"), inner), prompt_step("out", "{{ item }}")];
    let steps = vec![loop_step("l", loop_over_items("list", "item"), 5, body)];
    let mut agent = ScriptedAgent::start(sample_definition(steps), json!({"list": ["a", "b"]}));
    // If an agent sends the loop's name from inside, the outer value does not change.
    agent.send(&attempt_inputs_with_context(json!({"item": "z"})));
    assert_eq!(agent.prompts(), ["out: a", "in: b", "out: b"]);
    assert_eq!(*agent.context(), expect_object(json!({"list": ["a", "b"]})));
}
