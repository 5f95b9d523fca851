//! The steps that are answered from outside, in the form of a prompt: what is asked, and what an answer
//! has to be.

use std::borrow::Cow;

use serde_json::{Value, json};
use trackway_domain::Block;

use crate::{
    model::{Ask, Condition, Contract, Form, Prompt, Step, StepKind},
    schema,
};

/// Where a step's result would lie if it were part of the context, as it is for `set`.
const RESULT_POINTER: &str = "/context/result";

/// What a step asks for; none where nobody is asked. The text of a tool's step is not in it, because it
/// has values in it that must not be read as a template.
pub(crate) fn prompt(step: &Step) -> Option<Cow<'_, Prompt>> {
    match &step.kind {
        StepKind::Prompt(prompt) => Some(Cow::Borrowed(prompt)),
        StepKind::Ask(ask) => Some(Cow::Owned(question(ask))),
        StepKind::Tool(_) => Some(Cow::Owned(tool_result())),
        _ => None,
    }
}

/// The result of an outside agent's answer.
pub(crate) fn result(step: &Step, mut output: Value) -> Value {
    match &step.kind {
        StepKind::Tool(_) => output.get_mut("result").map(Value::take).unwrap_or_default(),
        _ => output,
    }
}

/// A block that speaks of a step's `result`, in the words of the call that brings it.
pub(crate) fn blame(step: &Step, mut block: Block) -> Block {
    let place = match &step.kind {
        StepKind::Tool(_) => "/output/result",
        _ => "/output",
    };
    for need in &mut block.needs {
        let below = need.pointer.strip_prefix(RESULT_POINTER);
        if let Some(below) = below.filter(|below| below.is_empty() || below.starts_with('/')) {
            need.pointer = format!("{place}{below}");
            need.message = need.message.replace("`context`", "`output`");
            block.message.clone_from(&need.message);
            let kind = if need.got.is_some() { "output-invalid" } else { "output-missing" };
            kind.clone_into(&mut block.code);
        }
    }
    block
}

fn question(ask: &Ask) -> Prompt {
    let whom = match ask.authorize {
        true => "Ask the user to authorize this. The answer is theirs alone",
        false => "Ask the user this",
    };
    let text = format!("{whom}, and send the answer in `output`:\n\n{}", ask.message);
    let form =
        Form::Whole { schema: ask.schema.clone(), example: schema::made(&ask.schema, &ask.schema) };
    // A person says that the answer is theirs.
    let confirm = ask.authorize.then_some(Condition::Always);
    Prompt { text, confirm, output: Some(required(form)), ..Prompt::default() }
}

fn tool_result() -> Prompt {
    let form = Form::Whole {
        schema: json!({
            "type": "object",
            "properties": {"result": {"description": "What the tool returned."}},
            "required": ["result"],
        }),
        example: json!({"result": "what the tool returned"}),
    };
    Prompt { output: Some(required(form)), ..Prompt::default() }
}

fn required(form: Form) -> Contract {
    Contract { form, required: true, documents: Vec::new() }
}
