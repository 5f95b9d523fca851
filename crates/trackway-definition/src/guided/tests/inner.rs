//! A nested workflow reports what it needs to begin.

use serde_json::{Value, json};
use trackway_domain::{AttemptInputs, BlockReason};

use super::{ScriptedAgent, obedient::answer_until_accepted};
use crate::guided::{advance_guided_run, begin_guided_run};
use crate::model::{Definition, Step, StepKind};
use crate::test_support::{
    attempt_inputs_with_context, expect_object, map_step, nested_step, prompt_step, sample_definition,
};

fn with_input(mut step: Step, schema: Value) -> Step {
    if let StepKind::Nested(nested) = &mut step.kind {
        nested.input = Some(schema);
    }
    step
}

fn schema() -> Value {
    json!({
        "type": "object",
        "required": ["topic", "size"],
        "properties": {"topic": {"type": "string"}, "size": {"type": "integer", "minimum": 1}},
        "additionalProperties": false,
    })
}

fn inside() -> Vec<Step> {
    vec![prompt_step("in", "{{ topic }} of {{ size }}")]
}

fn pointers(block: &Value) -> Vec<&str> {
    let needs = block["needs"].as_array().expect("needs");
    needs.iter().filter_map(|need| need["pointer"].as_str()).collect()
}

/// Answers the first step by sending what is requested.
fn obey(definition: &Definition, context: Value) -> String {
    let first = begin_guided_run(definition, &expect_object(context)).expect("it opens");
    let act =
        |inputs: &AttemptInputs| advance_guided_run(definition, &first.position, &first.context, inputs);
    answer_until_accepted("first", json!({}), act).pending.expect("a step").prompt
}

/// If the nested workflow shares the outer context, its names are requested, and other names in it do no
/// harm. Proves T7 and T8.
#[test]
fn a_shared_context_is_asked_for_by_its_names() {
    let inner = with_input(nested_step("n", None, None, inside()), schema());
    let definition = sample_definition(vec![prompt_step("a", "first"), inner]);
    let agent = ScriptedAgent::start(definition.clone(), json!({"size": "big", "unrelated": 1}));
    let block = agent.blocked(&AttemptInputs::default());
    assert_eq!(block["code"], "context-invalid");
    let mut found = pointers(&block);
    found.sort_unstable();
    assert_eq!(found, ["/context/size", "/context/topic"]);
    assert!(block["message"].as_str().is_some_and(|said| said.contains("`n-workflow`")));
    assert!(obey(&definition, json!({"size": "big"})).ends_with(" of 1"));
}

/// A name that is mapped from an outer one is requested there, with the rest of it kept; one that is
/// computed, or not mapped at all, under its own name. Proves T7 and T8.
#[test]
fn a_mapped_context_is_asked_for_outside() {
    let values = [("topic", json!("=about.title")), ("size", json!("=a + b"))];
    let inner = with_input(nested_step("n", Some(&values), None, inside()), schema());
    let definition = sample_definition(vec![prompt_step("a", "first"), inner]);
    let context = json!({"about": {"title": 7, "by": "Ada"}, "a": 0, "b": 0});
    let agent = ScriptedAgent::start(definition.clone(), context.clone());
    let block = agent.blocked(&AttemptInputs::default());
    let mut found = pointers(&block);
    found.sort_unstable();
    assert_eq!(found, ["/context/about", "/context/size"]);
    let about = block["needs"].as_array().expect("needs").iter();
    let about = about.filter(|need| need["pointer"] == "/context/about").collect::<Vec<_>>();
    assert_eq!(about[0]["example"]["by"], "Ada");
    assert!(about[0]["message"].as_str().is_some_and(|said| said.contains("`about.title`")));
    assert!(obey(&definition, context).ends_with(" of 1"));

    let bare = with_input(nested_step("n", Some(&[]), None, inside()), schema());
    let definition =
        super::super::super::test_support::sample_definition(vec![prompt_step("a", "first"), bare]);
    assert!(obey(&definition, json!({})).ends_with(" of 1"));
}

/// What is sent at the last item of a map applies after the map. Proves T7.
#[test]
fn what_is_asked_for_behind_a_map_can_be_sent() {
    for values in [None, Some([("topic", json!("=about")), ("size", json!(2))])] {
        let values = values.as_ref().map(|values| &values[..]);
        let inner = with_input(nested_step("n", values, None, inside()), schema());
        let steps = vec![map_step("m", "items", None, vec![prompt_step("each", "each")]), inner];
        let context = json!({"items": [1], "size": 2, "about": 0, "topic": 0});
        let mut agent = ScriptedAgent::start(sample_definition(steps), context);
        agent.blocked(&AttemptInputs::default());
        agent.send(&attempt_inputs_with_context(json!({"about": "tea", "topic": "tea"})));
        assert_eq!(agent.prompt(), "tea of 2");
    }
}

/// A start reports in the same way what it lacks. Proves T8.
#[test]
fn a_start_says_what_the_first_workflow_needs() {
    let definition = sample_definition(vec![with_input(nested_step("n", None, None, inside()), schema())]);
    let block: BlockReason =
        begin_guided_run(&definition, &expect_object(json!({}))).expect_err("it lacks names");
    assert_eq!((block.code.as_str(), block.needs.len()), ("context-missing", 2));
    assert!(begin_guided_run(&definition, &expect_object(json!({"topic": "t", "size": 1}))).is_ok());
}
