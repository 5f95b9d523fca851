//! The steps that are answered from outside, in the form of a prompt: what is asked, and what an answer
//! has to be.

use std::borrow::Cow;

use serde_json::{Value, json};

use crate::{
    model::{Ask, Contract, Form, Prompt, Step, StepKind},
    schema,
};

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

fn question(ask: &Ask) -> Prompt {
    let text = format!("Ask the user this, and send the answer in `output`:\n\n{}", ask.message);
    let form =
        Form::Whole { schema: ask.schema.clone(), example: schema::made(&ask.schema, &ask.schema) };
    Prompt { text, output: Some(required(form)), ..Prompt::default() }
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
