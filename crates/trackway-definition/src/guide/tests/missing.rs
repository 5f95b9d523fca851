//! What the context lacks, and that sending what is named mends it.

use insta::assert_json_snapshot;
use serde_json::{Value, json};
use trackway_domain::Inputs;

use super::{Agent, obedient::put_at, open};
use crate::testing::{
    count, definition, each, facts, map, nested, object, output, prompt, repeat, tool,
};

/// Puts an example where the need says, as a caller would.
fn mended(block: &Value) -> Inputs {
    let mut arguments = json!({"context": {}});
    for need in block["needs"].as_array().expect("needs") {
        let pointer = need["pointer"].as_str().expect("a pointer");
        put_at(&mut arguments, pointer, need["example"].clone());
    }
    facts(arguments["context"].take())
}

/// A loop whose list or number is not set, or is something else, blocks the answer before it and says
/// what to send. Proves T8.
#[test]
fn a_loop_says_what_it_lacks() {
    let body = || vec![prompt("in", "inside")];
    let samples = [
        ("no-list", repeat("l", each("plan.items", "item"), 5, body())),
        ("no-count", repeat("l", count("tries"), 5, body())),
        ("no-map-list", map("l", "items", None, body())),
        ("wrong-list", repeat("l", each("text", "item"), 5, body())),
        ("wrong-count", repeat("l", count("text"), 5, body())),
    ];
    for (name, step) in samples {
        let steps = vec![prompt("a", "first"), step, prompt("z", "end")];
        let mut agent = Agent::start(definition(steps.clone()), json!({"text": "three"}));
        let block = agent.blocked(&Inputs::default());
        assert_json_snapshot!(name, block);
        agent.send(&mended(&block));
        assert_eq!(agent.prompt(), "inside", "{name}");
    }
}

/// A name that the next prompt speaks of and nobody has set blocks as well.
#[test]
fn a_prompt_says_what_it_lacks() {
    let steps = vec![prompt("a", "first"), prompt("b", "about {{ topic }}")];
    let mut agent = Agent::start(definition(steps), json!({}));
    let block = agent.blocked(&Inputs::default());
    assert_eq!(block["code"], "context-missing");
    assert_eq!(block["needs"][0]["pointer"], "/context/topic");
    agent.send(&facts(json!({"topic": "tea"})));
    assert_eq!(agent.prompt(), "about tea");
}

/// Contexts are merged by top-level names, so a name inside of one is asked for with all that is there
/// already: sending the example loses nothing. Proves T7.
#[test]
fn what_is_missing_inside_of_a_name_is_asked_for_as_a_whole() {
    let steps = vec![prompt("a", "first"), prompt("b", "{{ user.name }} is {{ user.age + 1 }}")];
    let mut agent = Agent::start(definition(steps), json!({"user": {"name": "Ada"}}));
    let block = agent.blocked(&Inputs::default());
    assert_eq!(block["needs"][0]["pointer"], "/context/user");
    assert_eq!(block["needs"][0]["example"], json!({"name": "Ada", "age": 1}));
    agent.send(&mended(&block));
    assert_eq!(agent.prompt(), "Ada is 2");
}

/// Sending what is named helps on both sides of a workflow inside another one, and at the start.
#[test]
fn what_is_lacking_can_be_sent_wherever_it_is_lacking() {
    let inner = vec![prompt("b", "{{ inside }}"), prompt("c", "go")];
    let steps = vec![
        prompt("a", "first"),
        nested("n", Some(&[]), Some("1"), inner.clone()),
        prompt("d", "{{ outside }}"),
    ];
    let mut agent = Agent::start(definition(steps), json!({}));
    assert_eq!(agent.blocked(&Inputs::default())["needs"][0]["pointer"], "/context/inside");
    agent.send(&facts(json!({"inside": "within"})));
    assert_eq!(agent.prompt(), "within");
    agent.send(&Inputs::default());
    assert_eq!(agent.blocked(&Inputs::default())["needs"][0]["pointer"], "/context/outside");
    agent.send(&facts(json!({"outside": "without"})));
    assert_eq!(agent.prompt(), "without");

    let first = definition(vec![nested("n", Some(&[]), None, inner)]);
    let block = open(&first, &object(json!({}))).expect_err("it lacks a name");
    assert_eq!(block.needs[0].pointer, "/context/inside");
    assert!(open(&first, &object(json!({"inside": 1}))).is_ok());
}

/// What a step makes of its result is asked for where the result is sent.
#[test]
fn a_result_that_lacks_something_is_asked_for_in_the_output() {
    let steps = vec![
        prompt("a", "x").set("title", "result.title"),
        tool("t", "find", &[]).set("found", "result.items[0]"),
    ];
    let mut agent = Agent::start(definition(steps), json!({}));
    // A fact of the same name is not the result.
    let inputs =
        Inputs { context: object(json!({"result": {"title": 1}})), ..output(json!({"x": 1})) };
    let block = agent.blocked(&inputs);
    assert_json_snapshot!("no-title", block);
    agent.send(&output(json!({"title": "T"})));
    let block = agent.blocked(&output(json!({"result": {"other": 1}})));
    assert_eq!(block["needs"][0]["pointer"], "/output/result/items");
    agent.send(&output(json!({"result": {"items": [7]}})));
    assert_eq!(*agent.context(), object(json!({"title": "T", "found": 7})));
}

/// A value that is of no use outside of a map is mended by an answer inside of it.
#[test]
fn a_wrong_value_behind_a_map_can_be_mended() {
    let steps = vec![
        map("m", "items", None, vec![prompt("in", "inside")]),
        repeat("l", each("plan.list", "item"), 5, vec![prompt("then", "{{ item }}")]),
    ];
    for plan in [json!({"list": "text"}), json!({"list": null}), json!({})] {
        let mut agent =
            Agent::start(definition(steps.clone()), json!({"items": [1], "plan": plan}));
        let block = agent.blocked(&Inputs::default());
        assert_eq!(block["needs"][0]["pointer"], "/context/plan");
        assert_eq!(block["needs"][0]["example"], json!({"list": ["…"]}));
        agent.send(&facts(json!({"plan": {"list": ["mended"]}})));
        assert_eq!(agent.prompt(), "mended");
    }
}

/// A value that grows without end is stopped before it can do harm.
#[test]
fn what_a_workflow_makes_is_bounded() {
    let deeper = prompt("p", "x").set("x", "result");
    let mut agent = Agent::start(definition(vec![deeper, prompt("z", "end")]), json!({}));
    let mut deep = json!(1);
    for _ in 0..110 {
        deep = json!([deep]);
    }
    let inputs = Inputs { output: Some(deep), ..Inputs::default() };
    assert_eq!(agent.blocked(&inputs)["code"], "context-invalid");
    let large = "x".repeat(300 * 1024);
    let inputs = Inputs { output: Some(json!(large)), ..Inputs::default() };
    assert_eq!(agent.blocked(&inputs)["code"], "context-invalid");
    agent.send(&Inputs { output: Some(json!("small")), ..Inputs::default() });
    assert_eq!(agent.prompt(), "end");
}
