//! Expressions over values of the wrong kind: the requested values fix them, and prompts name everything that
//! they lack at once.

use serde_json::{Value, json};
use trackway_domain::AttemptInputs;

use super::{ScriptedAgent, obedient::obey_blocks};
use crate::model::{Condition, LoopKind, LoopRoundCount, PromptFragment, Step, StepKind, ValueExpression};
use crate::test_support::{attempt_inputs_with_context, loop_step, prompt_step, sample_definition};

fn obey(steps: Vec<Step>, context: &Value) {
    obey_blocks(&sample_definition(steps), context, |_| ());
}

fn cel(source: &str) -> ValueExpression {
    ValueExpression::Cel(source.to_owned())
}

/// An agent that only sends what is requested gets through conditions. Proves T7 and T8.
#[test]
fn needs_fix_conditions() {
    let samples = [
        ("a / b > 0", json!({"a": 4, "b": 0})),
        ("a / b > 0", json!({"a": "x", "b": 0})),
        ("a / b > 0", json!({})),
        ("a > b", json!({"a": "x", "b": 1})),
        ("flag ? on : off", json!({"flag": true, "on": "x", "off": false})),
        ("ready && size(items) > least", json!({"ready": "yes", "items": 3, "least": "two"})),
        ("items[2] == other", json!({"items": [1], "other": 1})),
        ("items.all(i, i.score > least)", json!({"items": [{"score": "x"}], "least": 1})),
        ("user.age > limits.age", json!({"user": "Ada", "limits": {"other": 1}})),
    ];
    for (source, context) in samples {
        let step = prompt_step("b", "second").with_condition(Condition::Cel(source.to_owned()));
        obey(vec![prompt_step("a", "first"), step], &context);
    }
}

/// The same for what a step sets, also from its result. Proves T7 and T8.
#[test]
fn needs_fix_set_expressions() {
    let samples = [
        ("total / count", json!({"total": 4, "count": 0})),
        ("total * rate + result.more", json!({"total": "4", "rate": 2})),
        ("names.map(n, n + suffix)", json!({"names": [1, 2], "suffix": "!"})),
    ];
    for (source, context) in samples {
        obey(
            vec![prompt_step("a", "first").with_set_expression("made", source), prompt_step("b", "second")],
            &context,
        );
    }
}

/// The same for lists and numbers of rounds. Proves T7 and T8.
#[test]
fn needs_fix_loop_sources() {
    let each = |source| LoopKind::Each { list: cel(source), item: "item".into(), index: None };
    let count = |source| LoopKind::Count(LoopRoundCount::From(cel(source)));
    let samples = [
        (each("first + second"), json!({"first": 1, "second": 2})),
        (each("first + second"), json!({"first": [1], "second": "x"})),
        (each("flag ? first : second"), json!({"flag": true, "first": "x", "second": []})),
        (count("tries - done"), json!({"tries": 1, "done": 5})),
        (count("tries - done"), json!({"tries": "1", "done": "5"})),
    ];
    for (over, context) in samples {
        let steps =
            vec![prompt_step("a", "first"), loop_step("l", over, 3, vec![prompt_step("in", "inside")])];
        obey(steps, &context);
    }
}

/// If no tried value fixes it, the block names the first name that is read.
#[test]
fn unfixable_error_names_what_is_read() {
    let step = prompt_step("b", "x")
        .with_condition(Condition::Cel("a.matches('^z{3}$') ? b / 0 > 1 : c / 0 > 1".into()));
    let agent = ScriptedAgent::start(
        sample_definition(vec![prompt_step("a", "first"), step]),
        json!({"a": "text", "b": 1, "c": 2}),
    );
    let block = agent.blocked(&AttemptInputs::default());
    assert_eq!(block["needs"][0]["pointer"], "/context/a");
    assert_eq!(block["needs"][0]["got"], "text");
    assert_eq!(block["needs"][0].get("example"), None);
}

/// A prompt names everything that it lacks at once, with its fragments and its title, in one value for each
/// name of the context, up to a limit. Proves T8.
#[test]
fn prompt_names_all_missing_facts() {
    let mut step = prompt_step("b", "{{ one }}, {{ two + 1 }}, {{ user.name }} and {{ user.age + 1 }}");
    step.title = "About {{ three }}".to_owned();
    if let StepKind::Prompt(prompt) = &mut step.kind {
        prompt.fragments = vec![PromptFragment { when: None, text: "{{ four }} {{ one }}".to_owned() }];
    }
    let mut agent = ScriptedAgent::start(
        sample_definition(vec![prompt_step("a", "first"), step]),
        json!({"user": {"id": 7}}),
    );
    let block = agent.blocked(&AttemptInputs::default());
    let needs = block["needs"].as_array().expect("needs");
    let sent = needs.iter().map(|need| {
        let name = need["pointer"].as_str().and_then(|at| at.strip_prefix("/context/"));
        (name.expect("a name").to_owned(), need["example"].clone())
    });
    let sent: serde_json::Map<String, Value> = sent.collect();
    let names: Vec<&str> = sent.keys().map(String::as_str).collect();
    assert_eq!(names, ["four", "one", "three", "two", "user"]);
    assert_eq!(sent["user"]["id"], 7);
    agent.send(&attempt_inputs_with_context(Value::Object(sent)));
    assert_eq!(agent.prompt(), "…, 2, … and 2\n\n… …");

    let many: String = (0..40).map(|number| format!("{{{{ name{number} }}}} ")).collect();
    let agent = ScriptedAgent::start(
        sample_definition(vec![prompt_step("a", "first"), prompt_step("b", &many)]),
        json!({}),
    );
    let block = agent.blocked(&AttemptInputs::default());
    assert_eq!(block["needs"].as_array().map(Vec::len), Some(16));
}
