//! What the context lacks, and that sending the named values fixes it.

use insta::assert_json_snapshot;
use serde_json::{Value, json};
use trackway_domain::AttemptInputs;

use super::{ScriptedAgent, begin_guided_run, obedient::put_at};
use crate::test_support::{
    attempt_inputs_with_context, attempt_inputs_with_output, expect_object, loop_by_count, loop_over_items,
    loop_step, map_step, nested_step, prompt_step, sample_definition, tool_step,
};

/// Puts an example at the need's pointer, as a caller would.
fn inputs_from_needs(block: &Value) -> AttemptInputs {
    let mut arguments = json!({"context": {}});
    for need in block["needs"].as_array().expect("needs") {
        let pointer = need["pointer"].as_str().expect("a pointer");
        put_at(&mut arguments, pointer, need["example"].clone());
    }
    attempt_inputs_with_context(arguments["context"].take())
}

/// A loop whose list or number is unset or of the wrong kind blocks the answer before it and says what to
/// send. Proves T8.
#[test]
fn loop_names_its_missing_facts() {
    let body = || vec![prompt_step("in", "inside")];
    let samples = [
        ("no-list", loop_step("l", loop_over_items("plan.items", "item"), 5, body())),
        ("no-count", loop_step("l", loop_by_count("tries"), 5, body())),
        ("no-map-list", map_step("l", "items", None, body())),
        ("wrong-list", loop_step("l", loop_over_items("text", "item"), 5, body())),
        ("wrong-count", loop_step("l", loop_by_count("text"), 5, body())),
    ];
    for (name, step) in samples {
        let steps = vec![prompt_step("a", "first"), step, prompt_step("z", "end")];
        let mut agent = ScriptedAgent::start(sample_definition(steps.clone()), json!({"text": "three"}));
        let block = agent.blocked(&AttemptInputs::default());
        assert_json_snapshot!(name, block);
        agent.send(&inputs_from_needs(&block));
        assert_eq!(agent.prompt(), "inside", "{name}");
    }
}

/// An unset name in the next prompt blocks as well.
#[test]
fn prompt_names_a_missing_fact() {
    let steps = vec![prompt_step("a", "first"), prompt_step("b", "about {{ topic }}")];
    let mut agent = ScriptedAgent::start(sample_definition(steps), json!({}));
    let block = agent.blocked(&AttemptInputs::default());
    assert_eq!(block["code"], "context-missing");
    assert_eq!(block["needs"][0]["pointer"], "/context/topic");
    agent.send(&attempt_inputs_with_context(json!({"topic": "tea"})));
    assert_eq!(agent.prompt(), "about tea");
}

/// Contexts are merged by top-level names, so a nested name is requested together with everything that is
/// already there: sending the example loses nothing. Proves T7.
#[test]
fn what_is_missing_inside_of_a_name_is_asked_for_as_a_whole() {
    let steps = vec![prompt_step("a", "first"), prompt_step("b", "{{ user.name }} is {{ user.age + 1 }}")];
    let mut agent = ScriptedAgent::start(sample_definition(steps), json!({"user": {"name": "Ada"}}));
    let block = agent.blocked(&AttemptInputs::default());
    assert_eq!(block["needs"][0]["pointer"], "/context/user");
    assert_eq!(block["needs"][0]["example"], json!({"name": "Ada", "age": 1}));
    agent.send(&inputs_from_needs(&block));
    assert_eq!(agent.prompt(), "Ada is 2");
}

/// Sending what is named helps outside and inside a nested workflow, and at the start.
#[test]
fn missing_facts_can_be_sent_inside_and_outside() {
    let inner = vec![prompt_step("b", "{{ inside }}"), prompt_step("c", "go")];
    let steps = vec![
        prompt_step("a", "first"),
        nested_step("n", Some(&[]), Some("1"), inner.clone()),
        prompt_step("d", "{{ outside }}"),
    ];
    let mut agent = ScriptedAgent::start(sample_definition(steps), json!({}));
    assert_eq!(agent.blocked(&AttemptInputs::default())["needs"][0]["pointer"], "/context/inside");
    agent.send(&attempt_inputs_with_context(json!({"inside": "within"})));
    assert_eq!(agent.prompt(), "within");
    agent.send(&AttemptInputs::default());
    assert_eq!(agent.blocked(&AttemptInputs::default())["needs"][0]["pointer"], "/context/outside");
    agent.send(&attempt_inputs_with_context(json!({"outside": "without"})));
    assert_eq!(agent.prompt(), "without");

    let first = sample_definition(vec![nested_step("n", Some(&[]), None, inner)]);
    let block = begin_guided_run(&first, &expect_object(json!({}))).expect_err("it lacks a name");
    assert_eq!(block.needs[0].pointer, "/context/inside");
    assert!(begin_guided_run(&first, &expect_object(json!({"inside": 1}))).is_ok());
}

/// What a step computes from its result is requested where the result is sent.
#[test]
fn incomplete_result_is_requested_in_output() {
    let steps = vec![
        prompt_step("a", "x").with_set_expression("title", "result.title"),
        tool_step("t", "find", &[]).with_set_expression("found", "result.items[0]"),
    ];
    let mut agent = ScriptedAgent::start(sample_definition(steps), json!({}));
    // A fact of the same name is not the result.
    let inputs = AttemptInputs {
        context: expect_object(json!({"result": {"title": 1}})),
        ..attempt_inputs_with_output(json!({"x": 1}))
    };
    let block = agent.blocked(&inputs);
    assert_json_snapshot!("no-title", block);
    agent.send(&attempt_inputs_with_output(json!({"title": "T"})));
    let block = agent.blocked(&attempt_inputs_with_output(json!({"result": {"other": 1}})));
    assert_eq!(block["needs"][0]["pointer"], "/output/result/items");
    agent.send(&attempt_inputs_with_output(json!({"result": {"items": [7]}})));
    assert_eq!(*agent.context(), expect_object(json!({"title": "T", "found": 7})));
}

/// An unusable value outside a map is fixed by an answer inside it.
#[test]
fn invalid_value_behind_a_map_can_be_corrected() {
    let steps = vec![
        map_step("m", "items", None, vec![prompt_step("in", "inside")]),
        loop_step("l", loop_over_items("plan.list", "item"), 5, vec![prompt_step("then", "{{ item }}")]),
    ];
    for plan in [json!({"list": "text"}), json!({"list": null}), json!({})] {
        let mut agent =
            ScriptedAgent::start(sample_definition(steps.clone()), json!({"items": [1], "plan": plan}));
        let block = agent.blocked(&AttemptInputs::default());
        assert_eq!(block["needs"][0]["pointer"], "/context/plan");
        assert_eq!(block["needs"][0]["example"], json!({"list": ["…"]}));
        agent.send(&attempt_inputs_with_context(json!({"plan": {"list": ["mended"]}})));
        assert_eq!(agent.prompt(), "mended");
    }
}

/// A value that grows without end is stopped by a limit.
#[test]
fn what_a_workflow_makes_is_bounded() {
    let deeper = prompt_step("p", "x").with_set_expression("x", "result");
    let mut agent = ScriptedAgent::start(sample_definition(vec![deeper, prompt_step("z", "end")]), json!({}));
    let mut deep = json!(1);
    for _ in 0..110 {
        deep = json!([deep]);
    }
    let inputs = AttemptInputs { output: Some(deep), ..AttemptInputs::default() };
    assert_eq!(agent.blocked(&inputs)["code"], "context-invalid");
    let large = "x".repeat(300 * 1024);
    let inputs = AttemptInputs { output: Some(json!(large)), ..AttemptInputs::default() };
    assert_eq!(agent.blocked(&inputs)["code"], "context-invalid");
    agent.send(&AttemptInputs { output: Some(json!("small")), ..AttemptInputs::default() });
    assert_eq!(agent.prompt(), "end");
}
