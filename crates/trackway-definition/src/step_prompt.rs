//! The steps that are answered from outside, in the form of a prompt: the request, and what an answer has to
//! be.

use std::borrow::Cow;

use serde_json::{Value, json};
use trackway_domain::BlockReason;

use crate::{
    model::{AskStep, Condition, OutputContract, OutputContractForm, PromptStep, Step, StepKind},
    schema_validation,
};

/// The pointer of a step's result as if it were part of the context, as it is for `set`.
const RESULT_POINTER: &str = "/context/result";

/// What a step requests; none if it requests nothing. The text of a tool step is not included, because it
/// contains values that must not be read as a template.
pub(crate) fn prompt_of_step(step: &Step) -> Option<Cow<'_, PromptStep>> {
    match &step.kind {
        StepKind::Prompt(prompt) => Some(Cow::Borrowed(prompt)),
        StepKind::Ask(ask) => Some(Cow::Owned(prompt_from_ask(ask))),
        StepKind::Tool(_) => Some(Cow::Owned(prompt_for_tool_result())),
        _ => None,
    }
}

/// The result of an outside agent's answer.
pub(crate) fn extract_step_result(step: &Step, mut output: Value) -> Value {
    match &step.kind {
        StepKind::Tool(_) => output.get_mut("result").map(Value::take).unwrap_or_default(),
        _ => output,
    }
}

/// A block about a step's `result`, in terms of the call that sends it.
pub(crate) fn point_block_at_output(step: &Step, mut block: BlockReason) -> BlockReason {
    let pointer = match &step.kind {
        StepKind::Tool(_) => "/output/result",
        _ => "/output",
    };
    for need in &mut block.needs {
        let below = need.pointer.strip_prefix(RESULT_POINTER);
        if let Some(below) = below.filter(|below| below.is_empty() || below.starts_with('/')) {
            need.pointer = format!("{pointer}{below}");
            need.message = need.message.replace("`context`", "`output`");
            block.message.clone_from(&need.message);
            let kind = if need.got.is_some() { "output-invalid" } else { "output-missing" };
            kind.clone_into(&mut block.code);
        }
    }
    block
}

fn prompt_from_ask(ask: &AskStep) -> PromptStep {
    let whom = match ask.authorize {
        true => "Ask the user to authorize this. The answer is theirs alone",
        false => "Ask the user this",
    };
    let text = format!("{whom}, and send the answer in `output`:\n\n{}", ask.message);
    let form = OutputContractForm::WholeOutput {
        schema: ask.schema.clone(),
        example: schema_validation::example_for_subschema(&ask.schema, &ask.schema),
    };
    // A person confirms that the answer is theirs.
    let confirm = ask.authorize.then_some(Condition::Always);
    PromptStep { text, confirm, output: Some(required_output_contract(form)), ..PromptStep::default() }
}

fn prompt_for_tool_result() -> PromptStep {
    let form = OutputContractForm::WholeOutput {
        schema: json!({
            "type": "object",
            "properties": {"result": {"description": "What the tool returned."}},
            "required": ["result"],
        }),
        example: json!({"result": "what the tool returned"}),
    };
    PromptStep { output: Some(required_output_contract(form)), ..PromptStep::default() }
}

fn required_output_contract(form: OutputContractForm) -> OutputContract {
    OutputContract { form, required: true, documents: Vec::new() }
}
