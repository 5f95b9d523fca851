//! What an answer to a step has to bring: its output, its judgements, its notes.

mod artifacts;

use serde_json::{Value, json};
use trackway_domain::{Block, Expected, Inputs, Need, Object};

use crate::model::{Form, Prompt};
use crate::{assessment, criteria, schema};
use artifacts::Wanted;

/// The place of an answer's output in a call's arguments.
pub(crate) const OUTPUT: &str = "/output";

/// The form of a step's whole output; none where it has no say.
pub(crate) fn expected(prompt: &Prompt) -> Option<Expected> {
    let wanted = artifacts::wanted(prompt);
    let whole = prompt.output.as_ref().and_then(|contract| match &contract.form {
        Form::Whole { schema, example } => Some((schema, example, contract.required)),
        Form::Artifact { .. } => None,
    });
    let Some((schema, example, required)) = whole else {
        return (!wanted.is_empty()).then(|| Expected {
            schema: artifacts::schema(&wanted),
            example: json!({ "artifacts": artifacts::examples(&wanted) }),
            required: wanted.iter().any(|wanted| wanted.required),
        });
    };
    if wanted.is_empty() {
        return Some(Expected { schema: schema.clone(), example: example.clone(), required });
    }
    let mut example = example.clone();
    if let Some(object) = example.as_object_mut() {
        object.insert("artifacts".to_owned(), artifacts::examples(&wanted));
    }
    let schema = json!({ "allOf": [schema, artifacts::schema(&wanted)] });
    Some(Expected { schema, example, required: true })
}

/// Whether an answer brings what the step asks for, and if not, all that is missing or wrong at once.
pub(crate) fn check(prompt: &Prompt, inputs: &Inputs, context: &Object) -> Result<(), Block> {
    let mut blocks: Vec<Block> = Vec::new();
    blocks.extend(check_whole(prompt, inputs));
    blocks.extend(check_artifacts(prompt, inputs));
    if let Some(criteria) = &prompt.criteria {
        blocks.extend(criteria::check(criteria, inputs.notes.as_deref(), context).err());
    }
    let mut blocks = blocks.into_iter();
    if let Some(mut first) = blocks.next() {
        first.needs.extend(blocks.flat_map(|other| other.needs));
        return Err(first);
    }
    assessment::check_consequences(prompt, given(inputs))
}

/// The artifacts of an answer, where it has a list of them.
pub(crate) fn given(inputs: &Inputs) -> &[Value] {
    let artifacts = inputs.output.as_ref().and_then(|output| output.get("artifacts"));
    artifacts.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

pub(crate) fn block(code: &str, needs: Vec<Need>) -> Option<Block> {
    let message = match needs.as_slice() {
        [] => return None,
        [only] => only.message.clone(),
        [first, rest @ ..] => format!("{}; and {} more, see `needs`", first.message, rest.len()),
    };
    Some(Block { code: code.to_owned(), message, needs })
}

fn check_whole(prompt: &Prompt, inputs: &Inputs) -> Option<Block> {
    let contract = prompt.output.as_ref()?;
    let Form::Whole { schema, example } = &contract.form else { return None };
    match &inputs.output {
        Some(output) => {
            block("output-invalid", schema::needs(schema, output, OUTPUT, Some(example)))
        }
        None if contract.required => {
            let need = Need {
                pointer: OUTPUT.to_owned(),
                message: "The step asks for an `output`".to_owned(),
                schema: Some(schema.clone()),
                example: Some(example.clone()),
                got: None,
            };
            block("output-missing", vec![need])
        }
        None => None,
    }
}

fn check_artifacts(prompt: &Prompt, inputs: &Inputs) -> Option<Block> {
    let wanted = artifacts::wanted(prompt);
    if wanted.is_empty() {
        return None;
    }
    let required: Vec<&Wanted> = wanted.iter().filter(|wanted| wanted.required).collect();
    match &inputs.output {
        None if required.is_empty() => return None,
        Some(output) if !output.is_object() => {
            let expected = expected(prompt)?;
            let need = Need {
                pointer: OUTPUT.to_owned(),
                message: "`output` has to be an object with a list of `artifacts`".to_owned(),
                schema: Some(expected.schema),
                example: Some(expected.example),
                got: Some(schema::cut(output)),
            };
            return block("output-invalid", vec![need]);
        }
        _ => {}
    }
    let list = inputs.output.as_ref().and_then(|output| output.get("artifacts"));
    match list {
        Some(Value::Array(items)) if !items.is_empty() => {
            let mut needs: Vec<Need> =
                wanted.iter().flat_map(|wanted| wanted.wrong(items)).collect();
            let code = if needs.is_empty() { "output-missing" } else { "output-invalid" };
            let missing = required.iter().filter(|wanted| !wanted.is_among(items));
            needs.extend(
                missing.enumerate().map(|(place, wanted)| wanted.need(items.len() + place)),
            );
            block(code, needs)
        }
        Some(Value::Array(_)) | None if required.is_empty() => None,
        other => {
            let is_list = matches!(other, Some(Value::Array(_)) | None);
            let code = if is_list { "output-missing" } else { "output-invalid" };
            block(code, vec![artifacts::all(&wanted, other)])
        }
    }
}

#[cfg(test)]
mod tests;
