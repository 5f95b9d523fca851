//! Answers that lead an agent the right way: to the list of a loop, to the facts that decide steps, and
//! to a judgement of its own.

use serde_json::json;

use super::shop::{Shop, step, workflow};

fn looping() -> serde_json::Value {
    let mut body = step("body");
    body["prompt"] = json!("Do {{ currentSlice.name }}.");
    let each = json!({
        "id": "each",
        "loop": { "type": "forEach", "items": "slices", "itemVar": "currentSlice" },
        "body": [body],
    });
    let mut definition = workflow("looping", json!([step("before"), each]));
    definition["trackway"] = 1.into();
    definition
}

/// Proves T8, T10: a block points into the list of a loop, its example is enough, and what is sent under
/// the loop's own name is not kept and warned of.
#[test]
fn a_loop_asks_for_its_items_in_the_list() {
    let shop = Shop::with(&[looping()]);
    let mut agent = shop.agent();
    let start = agent.start_run("looping", json!({}));
    let blocked = agent.advance(&start, json!({}));
    assert_eq!(blocked.need("/context/slices")["example"], json!([{ "name": "…" }]));
    assert!(blocked.text.contains("`each`"), "{blocked:#?}");
    let wrong = json!({ "slices": ["x", "y"], "currentSlice": { "name": "NAME" } });
    let blocked = agent.advance(&blocked, json!({ "context": wrong }));
    assert_eq!(blocked.need("/context/slices/0")["example"], json!({ "name": "…" }));
    let right = json!({ "slices": [{ "name": "A" }], "currentSlice": { "name": "NAME" } });
    let body = agent.advance(&blocked, json!({ "context": right }));
    assert_eq!((body.prompt(), body.warnings()), ("Do A.", vec!["context-not-kept"]));
}

/// Proves T9, T10: a step names the facts that later steps depend on, and an answer that left steps out
/// for want of one names both, in the JSON and in the text.
#[test]
fn facts_that_decide_steps_are_named() {
    let mut deep = step("deep");
    deep["runCondition"] = json!({ "var": "pathComplexity", "equals": "Epic" });
    let mut definition = workflow("path", json!([step("triage"), deep]));
    definition["trackway"] = 1.into();
    let shop = Shop::with(&[definition]);
    let mut agent = shop.agent();
    let start = agent.start_run("path", json!({}));
    let wanted = json!([{ "name": "pathComplexity", "values": ["Epic"], "steps": ["deep"] }]);
    assert_eq!(start.json["pending"]["facts"], wanted);
    assert!(start.text.contains("`pathComplexity` (compared with \"Epic\")"), "{start:#?}");

    let end = agent.advance(&start, json!({ "notesMarkdown": "Triaged." }));
    assert!(end.is_complete());
    let warning = &end.json["warnings"][0];
    assert_eq!(warning["code"], "condition-unset");
    assert_eq!(
        (&warning["steps"], &warning["facts"]),
        (&json!(["deep"]), &json!(["pathComplexity"]))
    );
    assert!(end.text.starts_with("=== END OF THE RUN ==="), "{end:#?}");
    for named in ["condition-unset", "`deep`", "`pathComplexity`"] {
        assert!(end.text.contains(named), "{end:#?}");
    }
    // The snapshot before can be answered again, with the fact.
    let again = agent.advance(&start, json!({ "context": { "pathComplexity": "Epic" } }));
    assert_eq!((again.step(), again.warnings()), ("deep", vec![]));
}

/// Proves T13: copying the example of a decision is blocked, and the block names both choices and
/// makes none.
#[test]
fn a_copied_example_decides_nothing() {
    let mut decide = step("decide");
    decide["outputContract"] = json!({ "contractRef": "wr.contracts.loop_control" });
    let again = json!({
        "id": "again",
        "loop": {
            "type": "while", "maxIterations": 3,
            "conditionSource": { "kind": "artifact_contract", "contractRef": "wr.contracts.loop_control", "loopId": "again" },
        },
        "body": [decide],
    });
    let mut definition = workflow("decided", json!([again]));
    definition["trackway"] = 1.into();
    let shop = Shop::with(&[definition]);
    let mut agent = shop.agent();
    let start = agent.start_run("decided", json!({}));
    let example = start.json["pending"]["output"]["example"].clone();
    assert_eq!(example["artifacts"][0]["decision"], "<continue | stop>");
    let blocked = agent.advance(&start, json!({ "output": example }));
    let need = blocked.need("/output/artifacts/0/decision");
    assert_eq!(
        (need.get("example"), &need["schema"]["enum"]),
        (None, &json!(["continue", "stop"]))
    );
    assert!(blocked.text.contains(r#""continue" | "stop""#), "{blocked:#?}");
}

/// Proves T1: an empty folder says where files are looked for; words filter the list.
#[test]
fn the_list_can_be_searched_and_helps_to_begin() {
    let shop = Shop::with(&[]);
    let mut agent = shop.agent();
    let none = agent.list();
    assert!(none.text.contains(shop.workflows()) && none.text.contains("hello.yaml"), "{none:#?}");
    shop.write(&looping());
    shop.write(&workflow("other", json!([step("only")])));
    let found = agent.call("workflow_list", &json!({ "query": "LOOP" }));
    assert_eq!(found.json["total"], 1);
    assert_eq!(found.json["workflows"][0]["workflowId"], "looping");
    let refused = agent.call("workflow_list", &json!({ "cursor": "2" }));
    assert_eq!(refused.error(), "invalid-request");
}

/// Proves T9: a reference to a file that is not here is marked and is not to be followed; keys that are
/// not acted on take one line.
#[test]
fn what_is_not_here_and_not_acted_on_is_said_briefly() {
    let mut definition = workflow("foreign", json!([step("only")]));
    let reference = |title: &str, source: &str| {
        json!({
            "id": title, "title": title, "source": source, "purpose": "Says how.", "authoritative": true,
        })
    };
    definition["references"] =
        json!([reference("Gone", "./spec/gone.md"), reference("There", "there.md")]);
    for key in ["about", "examples", "metricsProfile", "modelTier", "author", "license"] {
        definition[key] = json!("x");
    }
    let shop = Shop::with(&[definition]);
    shop.write_text("there.md", "It is here.");
    let mut agent = shop.agent();
    let start = agent.start_run("foreign", json!({}));
    let gone = start.json["guidance"].as_array().unwrap().iter().map(|rule| rule.as_str().unwrap());
    let rules: Vec<&str> = gone.collect();
    assert!(rules[0].contains("[unresolved]") && !rules[0].contains("strictly"), "{rules:?}");
    assert!(rules[1].contains("Follow it strictly"), "{rules:?}");
    let shown = agent.inspect("foreign");
    let lines = shown.text.lines().filter(|line| line.contains("Not acted on"));
    assert_eq!(lines.count(), 1, "{shown:#?}");
    assert!(
        shown.text.contains("`/about`") && shown.json["unheeded"].as_array().unwrap().len() >= 6
    );
}
