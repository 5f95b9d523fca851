//! Facts that conditions decide by: they are named before they are needed, and when they were not sent.

use serde_json::{Value, json};
use trackway_domain::Inputs;

use super::Agent;
use crate::model::{Condition, LoopOver, Rule, Step, Test};
use crate::testing::{definition, each, equals, facts, group, output, prompt, repeat, switch};

fn cel(source: &str) -> Condition {
    Condition::Cel(source.to_owned())
}

fn by_path() -> Vec<Step> {
    vec![
        prompt("triage", "Capture pathComplexity."),
        prompt("quick", "quick").when(equals("pathComplexity", json!("Simple"))),
        group("deep", vec![prompt("design", "design")])
            .when(equals("pathComplexity", json!("Epic"))),
        prompt("tests", "tests").when(equals("risk", json!("high"))),
        prompt("end", "end").when(equals("report", json!(true))),
    ]
}

fn wanted(agent: &Agent) -> Value {
    agent.standing.pending.as_ref().map_or(json!(null), |pending| json!(pending.facts))
}

/// Proves T9, T10: steps that a fact left out because nobody sent it are named with it.
#[test]
fn steps_left_out_for_want_of_a_fact_are_named() {
    let mut agent = Agent::start(definition(by_path()), json!({}));
    agent.send(&facts(json!({"risk": "low"})));
    assert_eq!(agent.prompt(), "(complete)");
    let [warning] = &agent.standing.warnings[..] else { panic!("one warning") };
    assert_eq!(warning.code, "condition-unset");
    assert_eq!(warning.steps, ["quick", "deep", "end"]);
    assert_eq!(warning.facts, ["pathComplexity", "report"]);
    for named in ["`quick`", "`pathComplexity`", "`context`"] {
        assert!(warning.message.contains(named), "{}", warning.message);
    }
    assert!(!warning.message.contains("`tests`"));

    // What was sent decides, and is no reason to warn.
    let mut agent = Agent::start(definition(by_path()), json!({}));
    agent.send(&facts(json!({"pathComplexity": "Epic", "risk": "low", "report": false})));
    assert_eq!((agent.prompt(), agent.warnings()), ("design", vec![]));
}

/// Proves T9: a rule that other facts decide is not waiting for the one that is not set.
#[test]
fn a_rule_that_is_decided_without_a_fact_is_not_warned_of() {
    let test =
        |name: &str, value: Value| Rule::Test { name: name.into(), test: Test::Equals, value };
    let unset = || test("unset", json!(1));
    let no = || test("mode", json!("fast"));
    let exists = || Rule::Test { name: "unset".into(), test: Test::Exists, value: json!(true) };
    let samples = [
        (Rule::And(vec![unset(), no()]), false),
        (Rule::Or(vec![unset(), no()]), true),
        (exists(), false),
        (Rule::Not(Box::new(Rule::Not(Box::new(unset())))), true),
        (Rule::Truthy { name: "unset".into() }, true),
        (Rule::Or(vec![Rule::And(vec![unset(), no()]), no()]), false),
    ];
    for (rule, warned) in samples {
        let said = format!("{rule:?}");
        let steps = vec![prompt("a", "go"), prompt("b", "x").when(Condition::Rule(rule))];
        let mut agent = Agent::start(definition(steps), json!({"mode": "slow"}));
        agent.send(&Inputs::default());
        assert_eq!(agent.prompt(), "(complete)", "{said}");
        assert_eq!(!agent.warnings().is_empty(), warned, "{said}");
    }
}

/// Proves T9: the same for a case of a switch, and for a `while` loop.
#[test]
fn cases_and_loops_left_out_for_want_of_a_fact_are_named() {
    let cases = vec![
        (equals("size", json!("large")), vec![prompt("plan", "plan")]),
        (Condition::Always, vec![prompt("skim", "skim")]),
    ];
    let again = LoopOver::While(equals("more", json!(true)));
    let steps = vec![
        prompt("a", "go"),
        repeat("loop", again, 3, vec![prompt("in", "in")]),
        switch("by-size", cases),
    ];
    let mut agent = Agent::start(definition(steps), json!({}));
    agent.send(&Inputs::default());
    assert_eq!(agent.prompt(), "skim");
    assert_eq!(agent.standing.warnings[0].steps, ["loop", "by-size"]);
    assert_eq!(agent.standing.warnings[0].facts, ["more", "size"]);
}

/// Proves T9, T10: a step names the facts that conditions ahead decide by, with their values, until they
/// are set. What the workflow sets itself is not asked for.
#[test]
fn a_step_names_the_facts_that_are_wanted_ahead() {
    let mut agent = Agent::start(definition(by_path()), json!({"report": true}));
    assert_eq!(
        wanted(&agent),
        json!([
            {"name": "pathComplexity", "values": ["Simple", "Epic"], "steps": ["quick", "deep"]},
            {"name": "risk", "values": ["high"], "steps": ["tests"]},
        ])
    );
    agent.send(&facts(json!({"pathComplexity": "Simple", "risk": "low"})));
    assert_eq!(agent.prompt(), "quick");
    assert_eq!(wanted(&agent), json!([]));

    let steps = vec![
        prompt("a", "go").set("made", "1"),
        prompt("b", "x").when(cel("made > least.count")),
        repeat(
            "l",
            each("files", "file"),
            3,
            vec![prompt("in", "x").when(cel("file.large && has(context.skip)"))],
        ),
        repeat(
            "u",
            LoopOver::Until(cel("green")),
            3,
            vec![prompt("fix", "fix").set("green", "result.green")],
        ),
    ];
    let agent = Agent::start(definition(steps), json!({}));
    let names: Vec<Value> = wanted(&agent)
        .as_array()
        .expect("a list")
        .iter()
        .map(|fact| fact["name"].clone())
        .collect();
    assert_eq!(names, ["least.count", "files"]);
}

/// Proves T9: an answer names no more than can be read, however many steps there are.
#[test]
fn what_is_named_is_bounded() {
    let many = (0..100).map(|number| {
        prompt(&format!("s{number}"), "x").when(equals(&format!("fact{number}"), json!(number)))
    });
    let steps: Vec<Step> = [prompt("a", "go")].into_iter().chain(many).collect();
    let mut agent = Agent::start(definition(steps), json!({}));
    assert_eq!(wanted(&agent).as_array().map(Vec::len), Some(12));
    agent.send(&Inputs::default());
    let warning = &agent.standing.warnings[0];
    assert_eq!((warning.steps.len(), warning.facts.len()), (16, 16));
    assert!(warning.message.contains("and 84 more") && warning.message.len() < 1000);
}

/// Proves T9: `until` waits for a fact that is not set; `while` enters for one that its own steps set,
/// and asks for any other, naming itself.
#[test]
fn loops_wait_for_the_facts_that_their_steps_set() {
    let fix = || vec![prompt("fix", "fix").set("green", "result.green")];
    for over in [LoopOver::Until(cel("green")), LoopOver::While(cel("!green"))] {
        let steps = vec![prompt("a", "go"), repeat("l", over, 5, fix()), prompt("z", "end")];
        let mut agent = Agent::start(definition(steps), json!({}));
        agent.send(&Inputs::default());
        assert_eq!(agent.prompt(), "fix");
        agent.send(&output(json!({"green": false})));
        assert_eq!((agent.prompt(), agent.warnings()), ("fix", vec![]));
        agent.send(&output(json!({"green": true})));
        assert_eq!((agent.prompt(), agent.warnings()), ("end", vec![]));
    }
    let outside = || vec![prompt("fix", "fix")];
    let until = vec![repeat("l", LoopOver::Until(cel("green")), 5, outside()), prompt("z", "end")];
    let mut agent = Agent::start(definition(until), json!({}));
    assert_eq!((agent.prompt(), agent.warnings()), ("fix", vec![]));
    agent.send(&Inputs::default());
    assert_eq!((agent.prompt(), agent.warnings()), ("fix", vec!["condition-unset"]));
    agent.send(&facts(json!({"green": true})));
    assert_eq!(agent.prompt(), "end");

    let steps = vec![prompt("a", "go"), repeat("l", LoopOver::While(cel("more")), 5, outside())];
    let agent = Agent::start(definition(steps), json!({}));
    let block = agent.blocked(&Inputs::default());
    assert_eq!(block["code"], "context-missing");
    assert!(block["message"].as_str().is_some_and(|text| text.contains("`l`")), "{block}");
}
