//! Loops, conditions and nested workflows, as an agent sees them: one pending step after the other.

use serde_json::{Value, json};

use super::{
    answer::Answer,
    client::Mcp,
    shop::{Shop, step, workflow},
};

/// A loop around one step whose prompt shows what it sees.
fn looped(what: Value, prompt: &str) -> Value {
    let mut body = step("body");
    body["prompt"] = prompt.into();
    let looped =
        json!({ "id": "loop", "type": "loop", "title": "Loop", "loop": what, "body": [body] });
    workflow("looping", json!([looped, step("after")]))
}

/// Advances with the same inputs until the step after the loop, and returns the prompts on the way.
fn prompts(agent: &mut Mcp, start: Answer, more: &dyn Fn(usize) -> Value) -> (Vec<String>, Answer) {
    let (mut at, mut seen) = (start, Vec::new());
    while at.step() == "body" {
        seen.push(at.prompt().to_owned());
        at = agent.advance(&at, more(seen.len()));
    }
    assert_eq!(at.step(), "after");
    (seen, at)
}

/// Proves T9: forEach shows each item with its index, which begins at 0.
#[test]
fn for_each_shows_items_and_indexes() {
    let what = json!({
        "type": "forEach", "items": "items", "itemVar": "item", "indexVar": "i", "maxIterations": 9,
    });
    let shop = Shop::with(&[looped(what, "{{i}}: {{item}}")]);
    let mut agent = shop.agent();
    let start = agent.start_run("looping", json!({ "items": ["a", "b", "c"] }));
    let (seen, end) = prompts(&mut agent, start, &|_| json!({}));
    assert_eq!(seen, ["0: a", "1: b", "2: c"]);
    assert_eq!(end.json["warnings"], json!([]));
    let empty = agent.start_run("looping", json!({ "items": [] }));
    assert_eq!(empty.step(), "after", "an empty list is no round");
}

/// Proves T9: `for` counts, by a number or by a name.
#[test]
fn for_counts() {
    for count in [json!(2), json!("rounds")] {
        let what =
            json!({ "type": "for", "count": count, "iterationVar": "n", "maxIterations": 9 });
        let shop = Shop::with(&[looped(what, "round {{n}}")]);
        let mut agent = shop.agent();
        let start = agent.start_run("looping", json!({ "rounds": 2 }));
        let (seen, _) = prompts(&mut agent, start, &|_| json!({}));
        assert_eq!(seen.len(), 2, "{seen:?}");
    }
}

/// Proves T9: `while` goes on as long as its condition holds, `until` as long as it does not.
#[test]
fn while_and_until_follow_the_context() {
    let condition = json!({ "var": "left", "gt": 0 });
    let what = json!({ "type": "while", "condition": condition, "maxIterations": 9 });
    let shop = Shop::with(&[looped(what, "more")]);
    let mut agent = shop.agent();
    let start = agent.start_run("looping", json!({ "left": 3 }));
    let (seen, end) =
        prompts(&mut agent, start, &|round| json!({ "context": { "left": 3 - round } }));
    assert_eq!(seen.len(), 3);
    assert_eq!(end.json["warnings"], json!([]));
    assert_eq!(agent.start_run("looping", json!({ "left": 0 })).step(), "after");

    let condition = json!({ "var": "done", "equals": true });
    let what = json!({ "type": "until", "condition": condition, "maxIterations": 9 });
    let shop = Shop::with(&[looped(what, "more")]);
    let mut agent = shop.agent();
    let start = agent.start_run("looping", json!({ "done": false }));
    let (seen, _) =
        prompts(&mut agent, start, &|round| json!({ "context": { "done": round == 2 } }));
    assert_eq!(seen.len(), 2);
}

/// Proves T9: a loop at its bound ends with a warning, and the run goes on.
#[test]
fn a_loop_at_its_bound_warns_and_goes_on() {
    let endless = json!({ "var": "on", "equals": true });
    let what = json!({ "type": "while", "condition": endless, "maxIterations": 3 });
    let shop = Shop::with(&[looped(what, "more")]);
    let mut agent = shop.agent();
    let start = agent.start_run("looping", json!({ "on": true }));
    let (seen, end) = prompts(&mut agent, start, &|_| json!({}));
    assert_eq!(seen.len(), 3);
    assert_eq!(end.warnings().len(), 1, "{end:#?}");
    assert!(end.text.contains("loop"), "it names the loop: {end:#?}");
    assert!(agent.advance(&end, json!({})).is_complete());
}

/// Proves T9: a list that is longer than the bound warns as well; a body by id is the step of that id.
#[test]
fn a_body_by_id_is_the_step_of_that_id() {
    let mut body = step("body");
    body["prompt"] = "{{currentItem}}".into();
    let looped = json!({
        "id": "loop", "type": "loop", "title": "Loop", "body": "body",
        "loop": { "type": "forEach", "items": "items", "itemVar": "currentItem", "maxIterations": 2 },
    });
    let shop = Shop::with(&[workflow("looping", json!([looped, body, step("after")]))]);
    let mut agent = shop.agent();
    let start = agent.start_run("looping", json!({ "items": [1, 2, 3] }));
    let (seen, end) = prompts(&mut agent, start, &|_| json!({}));
    assert_eq!(seen, ["1", "2"]);
    assert_eq!(end.warnings().len(), 1, "{end:#?}");
}

/// Proves T9: a step whose condition does not hold is not seen; conditions read the context of the
/// snapshot.
#[test]
fn run_conditions_choose_steps() {
    let mut small = step("small");
    small["runCondition"] = json!({ "var": "size", "equals": "small" });
    let mut large = step("large");
    large["runCondition"] = json!({ "not": { "var": "size", "equals": "small" } });
    let shop = Shop::with(&[workflow("sized", json!([step("first"), small, large]))]);
    let mut agent = shop.agent();
    let start = agent.start_run("sized", json!({}));
    for size in ["small", "large"] {
        let next = agent.advance(&start, json!({ "context": { "size": size } }));
        assert_eq!(next.step(), size);
        assert!(agent.advance(&next, json!({})).is_complete());
    }
}

/// Proves T9: a nested workflow is walked like steps of the run; a routine by its WorkRail name.
#[test]
fn nested_workflows_are_walked() {
    let routine = workflow("wr.routine-check", json!([step("look"), step("judge")]));
    let call = json!({
        "id": "routine", "title": "Routine",
        "templateCall": { "templateId": "wr.templates.routine.check" },
    });
    let caller = workflow("caller", json!([step("first"), call, step("last")]));
    let shop = Shop::with(&[routine, caller]);
    let mut agent = shop.agent();
    let mut at = agent.start_run("caller", json!({}));
    let mut prompts = Vec::new();
    while !at.is_complete() {
        prompts.push(at.prompt().to_owned());
        at = agent.advance(&at, json!({}));
    }
    assert_eq!(prompts, ["Do first.", "Do look.", "Do judge.", "Do last."]);
}
