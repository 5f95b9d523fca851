//! An agent without any understanding: it does exactly what the answers say, and nothing else.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::{answer::ToolAnswer, client::McpTestClient};

/// More steps than any workflow of the tests has; a run that needs more is in an endless loop.
const STEPS_MAX: usize = 400;
/// More corrections than one call can need: each of them passes one check.
const MENDS_MAX: usize = 12;

/// The course of a run.
#[derive(Debug)]
pub(super) struct DrivenRun {
    pub(super) end: ToolAnswer,
    /// How many snapshots were answered.
    pub(super) advanced: usize,
    /// How many answers were blocked.
    pub(super) blocked: usize,
    pub(super) steps: BTreeSet<String>,
}

/// Starts a workflow and drives it to its end, by `example` and `needs` alone.
pub(super) fn drive_to_end(agent: &mut McpTestClient, workflow: &str, context: Value) -> DrivenRun {
    let mut arguments = json!({ "workflowId": workflow, "context": context });
    let mut at = agent.call("workflow_start", &arguments);
    for _ in 0..MENDS_MAX {
        if !at.is_error {
            break;
        }
        apply_needs(&mut arguments, &at);
        at = agent.call("workflow_start", &arguments);
    }
    let (mut advanced, mut blocked) = (0, 0);
    let mut steps = BTreeSet::new();
    while !at.is_complete() {
        steps.insert(at.step_id().to_owned());
        let (next, blocks) = answer_step(agent, &at);
        (at, advanced, blocked) = (next, advanced + 1, blocked + blocks);
        assert!(advanced <= STEPS_MAX, "{workflow} does not come to an end: {at:#?}");
    }
    DrivenRun { end: at, advanced, blocked, steps }
}

/// Answers one step with notes, and adds what is needed.
fn answer_step(agent: &mut McpTestClient, at: &ToolAnswer) -> (ToolAnswer, usize) {
    let mut arguments = json!({ "notesMarkdown": format!("Did {}.", at.step_id()) });
    arguments["stateToken"] = at.state_token().into();
    arguments["ackToken"] = at.ack_token().into();
    for blocks in 0..MENDS_MAX {
        let answer = agent.call("workflow_advance", &arguments);
        if answer.json["blocked"].is_null() {
            assert!(!answer.is_error, "{arguments:#} got {answer:#?}");
            return (answer, blocks);
        }
        assert_eq!(answer.state_token(), at.state_token(), "a block stays where it was: {answer:#?}");
        assert_ne!(answer.ack_token(), arguments["ackToken"].as_str().unwrap(), "{answer:#?}");
        apply_needs(&mut arguments, &answer);
        arguments["ackToken"] = answer.ack_token().into();
    }
    panic!("{} cannot be corrected: {arguments:#}", at.step_id());
}

/// Puts each need at its pointer.
pub(super) fn apply_needs(arguments: &mut Value, answer: &ToolAnswer) {
    assert!(!answer.needs().is_empty(), "{answer:#?}");
    for need in answer.needs() {
        let value = match (need.get("example"), need.get("schema")) {
            (Some(example), _) => decide_example(example),
            (None, Some(schema)) => example_for_schema(schema),
            // This agent does no work that would change its judgement.
            _ if answer.json["blocked"]["code"] == "followup-required" => json!("high"),
            (None, None) => panic!("nothing says what to send: {need} in {answer:#?}"),
        };
        insert_at_pointer(arguments, need["pointer"].as_str().unwrap(), value);
    }
}

/// An example with its open choices made, `<continue | stop>`: always the last.
fn decide_example(example: &Value) -> Value {
    match example {
        Value::Array(items) => items.iter().map(decide_example).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(name, field)| (name.clone(), decide_example(field))).collect()
        }
        Value::String(text) => {
            let open = text.strip_prefix('<').and_then(|text| text.strip_suffix('>'));
            open.and_then(|open| open.rsplit(" | ").next()).unwrap_or(text).into()
        }
        other => other.clone(),
    }
}

/// Puts a value at a JSON pointer, creating the objects on the way.
pub(super) fn insert_at_pointer(whole: &mut Value, pointer: &str, value: Value) {
    let mut place = whole;
    for name in pointer.split('/').skip(1) {
        let name = name.replace("~1", "/").replace("~0", "~");
        let index = name.parse::<usize>().ok();
        if place.is_null() || !(place.is_object() || place.is_array()) {
            *place = if index.is_some() { json!([]) } else { json!({}) };
        }
        place = match (place, index) {
            (Value::Array(items), Some(index)) => {
                while items.len() <= index {
                    items.push(Value::Null);
                }
                &mut items[index]
            }
            (Value::Object(fields), _) => fields.entry(name).or_insert(Value::Null),
            (other, _) => panic!("{pointer} leads nowhere in {other}"),
        };
    }
    *place = value;
}

/// A small value that fits a schema.
fn example_for_schema(schema: &Value) -> Value {
    let last = schema.get("enum").and_then(Value::as_array).and_then(|all| all.last());
    if let Some(value) = schema.get("const").or(last) {
        return value.clone();
    }
    if let Some(first) = schema.pointer("/anyOf/0").or_else(|| schema.pointer("/oneOf/0")) {
        return example_for_schema(first);
    }
    let kind = match &schema["type"] {
        Value::Array(kinds) => kinds[0].as_str(),
        kind => kind.as_str(),
    };
    match kind {
        Some("object") => {
            let required = schema["required"].as_array().into_iter().flatten();
            let fields = required.map(|name| {
                let name = name.as_str().unwrap();
                (name.to_owned(), example_for_schema(&schema["properties"][name]))
            });
            Value::Object(fields.collect::<Map<_, _>>())
        }
        Some("array") => {
            let count = schema["minItems"].as_u64().unwrap_or(0);
            (0..count).map(|_| example_for_schema(&schema["items"])).collect()
        }
        Some("integer" | "number") => schema.get("minimum").cloned().unwrap_or(json!(1)),
        Some("boolean") => json!(true),
        _ => {
            let length = schema["minLength"].as_u64().unwrap_or(1).max(1);
            "x".repeat(usize::try_from(length).unwrap()).into()
        }
    }
}
