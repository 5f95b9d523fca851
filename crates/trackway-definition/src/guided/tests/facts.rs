//! Facts that conditions depend on: they are named before they are needed, and when they were not sent.

use serde_json::{Value, json};
use trackway_domain::AttemptInputs;

use super::ScriptedAgent;
use crate::model::{Comparison, Condition, ConditionRule, LoopKind, Step};
use crate::test_support::{
    attempt_inputs_with_context, attempt_inputs_with_output, equals_condition, group_step, loop_over_items,
    loop_step, prompt_step, sample_definition, switch_step,
};

fn cel(source: &str) -> Condition {
    Condition::Cel(source.to_owned())
}

fn steps_by_path() -> Vec<Step> {
    vec![
        prompt_step("triage", "Capture pathComplexity."),
        prompt_step("quick", "quick").with_condition(equals_condition("pathComplexity", json!("Simple"))),
        group_step("deep", vec![prompt_step("design", "design")])
            .with_condition(equals_condition("pathComplexity", json!("Epic"))),
        prompt_step("tests", "tests").with_condition(equals_condition("risk", json!("high"))),
        prompt_step("end", "end").with_condition(equals_condition("report", json!(true))),
    ]
}

fn missing_facts_of(agent: &ScriptedAgent) -> Value {
    agent.state.pending.as_ref().map_or(json!(null), |pending| json!(pending.facts))
}

/// Proves T9, T10: steps that were skipped because a fact was not sent are named with it.
#[test]
fn steps_left_out_for_want_of_a_fact_are_named() {
    let mut agent = ScriptedAgent::start(sample_definition(steps_by_path()), json!({}));
    agent.send(&attempt_inputs_with_context(json!({"risk": "low"})));
    assert_eq!(agent.prompt(), "(complete)");
    let [warning] = &agent.state.warnings[..] else { panic!("one warning") };
    assert_eq!(warning.code, "condition-unset");
    assert_eq!(warning.steps, ["quick", "deep", "end"]);
    assert_eq!(warning.facts, ["pathComplexity", "report"]);
    for named in ["`quick`", "`pathComplexity`", "`context`"] {
        assert!(warning.message.contains(named), "{}", warning.message);
    }
    assert!(!warning.message.contains("`tests`"));

    // A sent fact decides, and causes no warning.
    let mut agent = ScriptedAgent::start(sample_definition(steps_by_path()), json!({}));
    agent.send(&attempt_inputs_with_context(
        json!({"pathComplexity": "Epic", "risk": "low", "report": false}),
    ));
    assert_eq!((agent.prompt(), agent.warnings()), ("design", vec![]));
}

/// Proves T9: a rule that other facts decide does not wait for the unset one.
#[test]
fn decided_rule_gives_no_warning() {
    let test =
        |name: &str, value: Value| ConditionRule::Test { name: name.into(), test: Comparison::Equals, value };
    let unset = || test("unset", json!(1));
    let no = || test("mode", json!("fast"));
    let exists =
        || ConditionRule::Test { name: "unset".into(), test: Comparison::Exists, value: json!(true) };
    let samples = [
        (ConditionRule::And(vec![unset(), no()]), false),
        (ConditionRule::Or(vec![unset(), no()]), true),
        (exists(), false),
        (ConditionRule::Not(Box::new(ConditionRule::Not(Box::new(unset())))), true),
        (ConditionRule::Truthy { name: "unset".into() }, true),
        (ConditionRule::Or(vec![ConditionRule::And(vec![unset(), no()]), no()]), false),
    ];
    for (rule, warned) in samples {
        let said = format!("{rule:?}");
        let steps = vec![prompt_step("a", "go"), prompt_step("b", "x").with_condition(Condition::Rule(rule))];
        let mut agent = ScriptedAgent::start(sample_definition(steps), json!({"mode": "slow"}));
        agent.send(&AttemptInputs::default());
        assert_eq!(agent.prompt(), "(complete)", "{said}");
        assert_eq!(!agent.warnings().is_empty(), warned, "{said}");
    }
}

/// Proves T9: the same for a case of a switch, and for a `while` loop.
#[test]
fn cases_and_loops_left_out_for_want_of_a_fact_are_named() {
    let cases = vec![
        (equals_condition("size", json!("large")), vec![prompt_step("plan", "plan")]),
        (Condition::Always, vec![prompt_step("skim", "skim")]),
    ];
    let again = LoopKind::While(equals_condition("more", json!(true)));
    let steps = vec![
        prompt_step("a", "go"),
        loop_step("loop", again, 3, vec![prompt_step("in", "in")]),
        switch_step("by-size", cases),
    ];
    let mut agent = ScriptedAgent::start(sample_definition(steps), json!({}));
    agent.send(&AttemptInputs::default());
    assert_eq!(agent.prompt(), "skim");
    assert_eq!(agent.state.warnings[0].steps, ["loop", "by-size"]);
    assert_eq!(agent.state.warnings[0].facts, ["more", "size"]);
}

/// Proves T9, T10: a step names the facts that later conditions depend on, with their values, until they are
/// set. A fact that the workflow sets itself is not requested.
#[test]
fn a_step_names_the_facts_that_are_wanted_ahead() {
    let mut agent = ScriptedAgent::start(sample_definition(steps_by_path()), json!({"report": true}));
    assert_eq!(
        missing_facts_of(&agent),
        json!([
            {"name": "pathComplexity", "values": ["Simple", "Epic"], "steps": ["quick", "deep"]},
            {"name": "risk", "values": ["high"], "steps": ["tests"]},
        ])
    );
    agent.send(&attempt_inputs_with_context(json!({"pathComplexity": "Simple", "risk": "low"})));
    assert_eq!(agent.prompt(), "quick");
    assert_eq!(missing_facts_of(&agent), json!([]));

    let steps = vec![
        prompt_step("a", "go").with_set_expression("made", "1"),
        prompt_step("b", "x").with_condition(cel("made > least.count")),
        loop_step(
            "l",
            loop_over_items("files", "file"),
            3,
            vec![prompt_step("in", "x").with_condition(cel("file.large && has(context.skip)"))],
        ),
        loop_step(
            "u",
            LoopKind::Until(cel("green")),
            3,
            vec![prompt_step("fix", "fix").with_set_expression("green", "result.green")],
        ),
    ];
    let agent = ScriptedAgent::start(sample_definition(steps), json!({}));
    let names: Vec<Value> = missing_facts_of(&agent)
        .as_array()
        .expect("a list")
        .iter()
        .map(|fact| fact["name"].clone())
        .collect();
    assert_eq!(names, ["least.count", "files"]);
}

/// Proves T9: an answer names a limited number of facts, however many steps there are.
#[test]
fn named_facts_are_bounded() {
    let many = (0..100).map(|number| {
        prompt_step(&format!("s{number}"), "x")
            .with_condition(equals_condition(&format!("fact{number}"), json!(number)))
    });
    let steps: Vec<Step> = [prompt_step("a", "go")].into_iter().chain(many).collect();
    let mut agent = ScriptedAgent::start(sample_definition(steps), json!({}));
    assert_eq!(missing_facts_of(&agent).as_array().map(Vec::len), Some(12));
    agent.send(&AttemptInputs::default());
    let warning = &agent.state.warnings[0];
    assert_eq!((warning.steps.len(), warning.facts.len()), (16, 16));
    assert!(warning.message.contains("and 84 more") && warning.message.len() < 1000);
}

/// Proves T9: `until` waits for a fact that is not set; `while` enters for one that its own steps set, and
/// requests any other, with its own name.
#[test]
fn loops_wait_for_the_facts_that_their_steps_set() {
    let fix = || vec![prompt_step("fix", "fix").with_set_expression("green", "result.green")];
    for over in [LoopKind::Until(cel("green")), LoopKind::While(cel("!green"))] {
        let steps = vec![prompt_step("a", "go"), loop_step("l", over, 5, fix()), prompt_step("z", "end")];
        let mut agent = ScriptedAgent::start(sample_definition(steps), json!({}));
        agent.send(&AttemptInputs::default());
        assert_eq!(agent.prompt(), "fix");
        agent.send(&attempt_inputs_with_output(json!({"green": false})));
        assert_eq!((agent.prompt(), agent.warnings()), ("fix", vec![]));
        agent.send(&attempt_inputs_with_output(json!({"green": true})));
        assert_eq!((agent.prompt(), agent.warnings()), ("end", vec![]));
    }
    let outside = || vec![prompt_step("fix", "fix")];
    let until = vec![loop_step("l", LoopKind::Until(cel("green")), 5, outside()), prompt_step("z", "end")];
    let mut agent = ScriptedAgent::start(sample_definition(until), json!({}));
    assert_eq!((agent.prompt(), agent.warnings()), ("fix", vec![]));
    agent.send(&AttemptInputs::default());
    assert_eq!((agent.prompt(), agent.warnings()), ("fix", vec!["condition-unset"]));
    agent.send(&attempt_inputs_with_context(json!({"green": true})));
    assert_eq!(agent.prompt(), "end");

    let steps = vec![prompt_step("a", "go"), loop_step("l", LoopKind::While(cel("more")), 5, outside())];
    let agent = ScriptedAgent::start(sample_definition(steps), json!({}));
    let block = agent.blocked(&AttemptInputs::default());
    assert_eq!(block["code"], "context-missing");
    assert!(block["message"].as_str().is_some_and(|text| text.contains("`l`")), "{block}");
}
