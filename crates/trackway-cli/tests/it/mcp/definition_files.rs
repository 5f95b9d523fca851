//! Definitions of every kind that an agent can walk, and those that it must not walk.

use serde_json::{Value, json};

use super::{
    mcp_workspace::{McpWorkspace, prompt_step, workflow_definition},
    obedient_agent::drive_to_end,
};

const EVERY_KIND: &str = r#"
trackway: 1
id: every-kind
name: Every kind
description: One step of each kind.
version: "1"
input:
  type: object
  required: [who]
  properties: { who: { type: string } }
steps:
  - id: hello
    title: Hello
    prompt: "Hello {{ who }}"
  - id: question
    title: Question
    ask:
      message: "Which color for {{ who }}?"
      schema:
        type: object
        required: [color]
        properties: { color: { enum: [red, blue] } }
    save: answer
  - id: choice
    title: Choice
    switch:
      - when: answer.color == "red"
        steps: [{ id: red, title: Red, prompt: Red it is. }]
      - else: true
        steps: [{ id: blue, title: Blue, prompt: Another one. }]
  - id: told
    title: Told
    emit: { artifact: note, text: "for {{ who }}" }
  - id: each
    title: Each
    map:
      items: list
      itemVar: item
      steps: [{ id: one, title: One, prompt: "Do {{ item }}" }]
  - id: nested
    title: Nested
    workflow: { id: inner }
"#;

/// Proves T9: YAML with a step of each kind; the agent sees only what is pending.
#[test]
fn a_step_of_each_kind_is_walked() {
    let shop = McpWorkspace::with_workflows(&[workflow_definition("inner", json!([prompt_step("inside")]))]);
    shop.write_text("every-kind.yaml", EVERY_KIND);
    let mut agent = shop.connect();
    assert_eq!(agent.start_run("every-kind", json!({})).error_code(), "missing-context");
    let hello = agent.start_run("every-kind", json!({ "who": "Ann", "list": ["x", "y"] }));
    assert_eq!(hello.prompt(), "Hello Ann");
    let question = agent.advance(&hello, json!({}));
    assert!(question.prompt().contains("Which color for Ann?"), "{question:#?}");
    let red = agent.advance(&question, json!({ "output": { "color": "red" } }));
    assert_eq!(red.step_id(), "red");
    let blue = agent.advance(&question, json!({ "output": { "color": "blue" } }));
    assert_eq!((blue.step_id(), &blue.json["branch"]["forked"]), ("blue", &json!(true)));
    let one = agent.advance(&red, json!({}));
    assert_eq!(one.prompt(), "Do x");
    let two = agent.advance(&one, json!({}));
    assert_eq!(two.prompt(), "Do y");
    let inside = agent.advance(&two, json!({}));
    assert_eq!(inside.prompt(), "Do inside.");
    assert!(agent.advance(&inside, json!({})).is_complete());
    let driven = drive_to_end(&mut agent, "every-kind", json!({}));
    assert!(driven.blocked > 0, "an agent that knows nothing comes to the end too: {driven:#?}");
}

/// Proves T9: an inspection names a construct that is ignored, and a start is refused if ignoring it would
/// change what runs.
#[test]
fn an_unknown_construct_is_named_and_refused() {
    let mut condition = prompt_step("only");
    condition["runCondition"] = json!({ "var": "x", "resembles": "y" });
    let mut kind = prompt_step("only");
    kind["type"] = "teleport".into();
    let looped = json!({
        "id": "only", "type": "loop", "title": "Loop", "body": [prompt_step("body")],
        "loop": { "type": "sometimes", "maxIterations": 2 },
    });
    for (odd, path) in [
        (condition, "/steps/1/runCondition/resembles"),
        (kind, "/steps/1/type"),
        (looped, "/steps/1/loop/type"),
    ] {
        let shop =
            McpWorkspace::with_workflows(&[workflow_definition("odd", json!([prompt_step("first"), odd]))]);
        let mut agent = shop.connect();
        let shown = agent.inspect("odd");
        let unheeded = shown.json["unheeded"].as_array().unwrap();
        let named = unheeded.iter().find(|it| it["path"] == path);
        assert_eq!(named.map(|it| &it["matters"]), Some(&Value::Bool(true)), "{shown:#?}");
        let refused = agent.start_run("odd", json!({}));
        assert_eq!(refused.error_code(), "unsupported-workflow");
        assert!(refused.text.contains(path), "{refused:#?}");
    }
    let mut harmless = workflow_definition("odd", json!([prompt_step("first")]));
    harmless["steps"][0]["sparkle"] = true.into();
    let shop = McpWorkspace::with_workflows(&[harmless]);
    let mut agent = shop.connect();
    let shown = agent.inspect("odd");
    assert_eq!(shown.json["unheeded"][0]["matters"], false, "{shown:#?}");
    assert_eq!(agent.start_run("odd", json!({})).step_id(), "first");
}

/// Proves T9: values for a calculation in a prompt are requested with a type that it can use.
#[test]
fn needs_fit_what_a_prompt_does_with_a_value() {
    let mut counted = prompt_step("counted");
    counted["prompt"] = "{{(done / items.length * 100).toFixed(1)}}% of {{name}}".into();
    let shop = McpWorkspace::with_workflows(&[workflow_definition(
        "counting",
        json!([prompt_step("first"), counted]),
    )]);
    let mut agent = shop.connect();
    let driven = drive_to_end(&mut agent, "counting", json!({}));
    assert!(driven.end.is_complete(), "{driven:#?}");
    let start = agent.start_run("counting", json!({ "items": [1, 2], "name": "it" }));
    let blocked = agent.advance(&start, json!({ "context": { "done": "two" } }));
    assert_eq!(blocked.need_at("/context/done")["got"], "two");
    let counted = agent.advance(&blocked, json!({ "context": { "done": 1 } }));
    assert_eq!(counted.prompt(), "50.0% of it");
}

/// Proves T9: the published schema is JSON, and knows the format.
#[test]
fn the_schema_is_printed() {
    let schema = McpWorkspace::with_workflows(&[]).run_command(&["schema"]).expect(0).json();
    assert!(schema["$schema"].is_string() && schema["properties"]["steps"].is_object(), "{schema}");
}
