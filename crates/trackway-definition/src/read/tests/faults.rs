//! Files that are wrong, and what is said of them.

use serde_json::json;

use super::{linked, shown, with_steps, wrong};
use crate::{Format, read};

/// Proves T9: every fault of a file is named at once, with its line.
#[test]
fn all_faults_are_named_with_their_lines() {
    let text = "{\n  \"id\": \"Upper\",\n  \"nmae\": \"x\",\n  \"description\": 3,\n  \"steps\": [\n    {\n      \"id\": \"a b\"\n    },\n    7\n  ]\n}";
    let unreadable = read(text, Format::Json).expect_err("faults");
    assert_eq!(unreadable.id.as_deref(), Some("Upper"));
    let lines: Vec<(Option<u32>, &str)> =
        unreadable.faults.iter().map(|fault| (fault.line, fault.path.as_str())).collect();
    assert_eq!(
        lines,
        [
            (Some(2), "/id"),
            (Some(1), ""),
            (Some(4), "/description"),
            (Some(7), "/steps/0/id"),
            (Some(9), "/steps/1"),
            (Some(3), "/nmae"),
        ]
    );
}

/// Proves T9: a fault says what was expected, what was found, and what was probably meant.
#[test]
fn faults_of_steps() {
    let step = |more: serde_json::Value| {
        let mut step = json!({ "id": "one", "title": "One" });
        step.as_object_mut()
            .expect("an object")
            .extend(more.as_object().expect("an object").clone());
        json!([step])
    };
    let round = |settings: serde_json::Value| {
        step(
            json!({ "type": "loop", "loop": settings, "body": [{ "id": "in-it", "prompt": "x" }] }),
        )
    };
    let rows = [
        (json!([]), "/steps: a workflow needs at least one step"),
        (json!({}), "/steps: expected a list, found an object"),
        (step(json!({ "prompt": 3 })), "/steps/0/prompt: expected text, found a number"),
        (step(json!({ "prompt": " " })), "/steps/0/prompt: expected text, found nothing in it"),
        (
            step(json!({ "promt": "x" })),
            "/steps/0/promt: `promt` is not known here [did you mean `prompt`?]",
        ),
        (
            step(json!({ "prompt": "x", "run_condition": {} })),
            "/steps/0/run_condition: `run_condition` is not known here [did you mean `runCondition`?]",
        ),
        (
            step(json!({ "prompt": "x", "ask": { "message": "m", "schema": {} } })),
            "/steps/0: a step is of one kind; this one has `ask`, `prompt`",
        ),
        (
            step(json!({ "prompt": "x", "runCondition": 3 })),
            "/steps/0/runCondition: expected a condition: an expression as text, or a rule as an object, found a number",
        ),
        (
            step(json!({ "prompt": "x", "runCondition": { "equals": 1 } })),
            "/steps/0/runCondition/equals: `equals` tests a name of the context: `var` is missing",
        ),
        (
            step(json!({ "prompt": "x", "runCondition": { "var": "a", "equal": 1 } })),
            "/steps/0/runCondition/equal: `equal` is not known here [did you mean `equals`?]",
        ),
        (
            step(json!({ "prompt": "x", "runCondition": { "var": "a", "gt": "1" } })),
            "/steps/0/runCondition/gt: expected a number, found text",
        ),
        (
            step(json!({ "prompt": "x", "runCondition": "sizes(a) > 1" })),
            "/steps/0/runCondition: there is no function `sizes` in expressions [did you mean `size`?]",
        ),
        (
            step(json!({ "prompt": "x", "outputContract": { "schema": {}, "example": [1] } })),
            "/steps/0/outputContract/example: an output is an object, found a list; give what it holds a name, such as `items`",
        ),
        (
            step(
                json!({ "prompt": "x", "outputContract": { "schema": { "type": "string" }, "example": "hi" } }),
            ),
            "/steps/0/outputContract/example: an output is an object, found text; give what it holds a name, such as `items`",
        ),
        (round(json!({ "type": "for" })), "/steps/0/loop: a loop of type `for` needs `count`"),
        (
            round(json!({ "type": "while" })),
            "/steps/0/loop: a loop of type `while` needs `condition`",
        ),
        (
            round(json!({ "type": "for", "count": 1.5 })),
            "/steps/0/loop/count: expected a whole number from 0 to 1000, found 1.5",
        ),
        (
            round(json!({ "type": "for", "count": 1, "maxIterations": 0 })),
            "/steps/0/loop/maxIterations: expected a whole number from 1 to 1000, found 0",
        ),
        (
            step(json!({ "type": "loop", "loop": { "type": "for", "count": 1 }, "body": "on" })),
            "/steps/0/body: there is no step `on` for the loop's body [did you mean `one`?]",
        ),
        (
            step(json!({ "prompt": "x", "assessmentRefs": ["a"] })),
            "/steps/0/assessmentRefs/0: there is no assessment `a`",
        ),
        (
            step(json!({ "promptBlocks": {} })),
            "/steps/0/promptBlocks: the blocks are empty: there is nothing to do in them",
        ),
        (
            step(json!({ "prompt": "x", "promptBlocks": { "goal": "g" } })),
            "/steps/0: a step is of one kind; this one has `prompt`, `promptBlocks`",
        ),
        (
            step(json!({ "prompt": "x", "outputContract": {} })),
            "/steps/0/outputContract: a contract has either `contractRef`, or `schema` and `example`",
        ),
        (
            step(json!({ "prompt": "x", "validationCriteria": [{ "type": "contains" }] })),
            "/steps/0/validationCriteria/0: `value` is missing",
        ),
        (
            json!([{ "id": "a", "prompt": "x" }, { "id": "a", "prompt": "x" }]),
            "/steps/1/id: another step has the id `a` already",
        ),
    ];
    for (steps, expected) in rows {
        assert_eq!(wrong(&steps), [expected], "{steps}");
    }
}

/// Proves T9 and T13: a strict file has nothing that nobody acts on.
#[test]
fn faults_of_strict_files() {
    let rows = [
        ("prompt: x, sparkles: 1", "/steps/0/sparkles: `sparkles` is not known here"),
        (
            "prompt: x, notesOptional: true",
            "/steps/0/notesOptional: `notesOptional` is not known here",
        ),
        (
            "title: nothing",
            "/steps/0: the step says nothing to do: it needs `prompt`, `ask`, `tool`, `emit`, `status`, `reject`, `workflow`, `switch`, `map` or `loop`",
        ),
        ("type: dance, prompt: x", "/steps/0/type: `dance` is no known type of step"),
        (
            "prompt: x, functionReferences: [f()]",
            "/steps/0/functionReferences/0: there is no function `f`",
        ),
        (
            "prompt: x, outputContract: { contractRef: wr.contracts.lop_control }",
            "/steps/0/outputContract/contractRef: there is no contract `wr.contracts.lop_control` [did you mean `wr.contracts.loop_control`?]",
        ),
        (
            "prompt: x, outputContract: { schema: {} }",
            "/steps/0/outputContract: `example` is missing: an agent is shown what fits the schema",
        ),
        (
            "prompt: x, outputContract: { schema: { type: strange }, example: 1 }",
            "/steps/0/outputContract/schema: this is no JSON Schema",
        ),
        (
            "prompt: x, outputContract: { schema: { type: string }, example: 1 }",
            "/steps/0/outputContract/example: The example does not fit the schema",
        ),
        (
            "prompt: x, outputContract: { schema: {}, example: {}, documents: [{ name: a, kind: log, from: /x, key: y }] }",
            "/steps/0/outputContract/documents/0/key: only a table has a `key`",
        ),
        (
            "prompt: x, outputContract: { schema: {}, example: {}, documents: [{ name: a, kind: pile, from: /x }] }",
            "/steps/0/outputContract/documents/0/kind: `pile` is no kind of document: `header`, `log` or `table`",
        ),
        (
            "prompt: x, outputContract: { schema: {}, example: {}, documents: [{ name: a, kind: log, from: x.y }] }",
            "/steps/0/outputContract/documents/0/from: `x.y` is no JSON pointer [did you mean `/x/y`?]",
        ),
        (
            "switch: [{ else: true, steps: [{ id: a, prompt: x }] }, { when: 'true', steps: [{ id: b, prompt: x }] }]",
            "/steps/0/switch/0/else: `else` is for the last case: those after it would never run",
        ),
        (
            "switch: [{ steps: [{ id: a, prompt: x }] }]",
            "/steps/0/switch/0: a case has either `when` or `else: true`",
        ),
        ("emit: { artifact: a }", "/steps/0/emit: an artifact has either `text` or `data`"),
        (
            "map: { items: xs, steps: [{ id: a, prompt: x }], onFailure: cry }",
            "/steps/0/map/onFailure: `cry` is not known: `fail`, `skip` or `keep`",
        ),
        (
            "prompt: x, save: a-b",
            "/steps/0/save: `a-b` is no name: letters, digits and `_`, not beginning with a digit",
        ),
    ];
    for (step, expected) in rows {
        let text = format!(
            "id: mine\nname: n\ndescription: d\nversion: '1'\nsteps:\n  - {{ id: one, {step} }}\n"
        );
        let faults = shown(linked(&text, Format::Yaml));
        assert!(faults.len() == 1 && faults[0].starts_with(expected), "{step}: {faults:#?}");
    }
}

/// Proves T9: expressions and templates of a strict file are read when the file is.
#[test]
fn expressions_and_templates_are_read_early() {
    for step in [
        "prompt: '{{ a', ",
        "prompt: x, runCondition: 'a +', ",
        "prompt: x, set: { a: '(' }, ",
        "tool: { name: t, args: { a: '=)' } }, ",
    ] {
        let text = format!(
            "id: mine\nname: n\ndescription: d\nversion: '1'\nsteps:\n  - {{ {step} id: one }}\n"
        );
        assert_eq!(shown(linked(&text, Format::Yaml)).len(), 1, "{step}");
    }
}

/// Proves T9: a file says which version of our format it is written in.
#[test]
fn another_version_of_the_format_is_refused() {
    let mut text: serde_json::Value =
        serde_json::from_str(&with_steps(&json!([{ "id": "a", "prompt": "x" }]))).expect("JSON");
    text["trackway"] = json!(1);
    assert!(linked(&text.to_string(), Format::Json).is_ok());
    text["trackway"] = json!(2);
    assert_eq!(
        shown(linked(&text.to_string(), Format::Json)),
        ["/trackway: this program reads version 1 of the format"]
    );
}
