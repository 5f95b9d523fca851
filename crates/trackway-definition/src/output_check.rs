//! What an answer to a step has to contain: its output, its judgements, its notes.

mod artifact_check;

use serde_json::{Value, json};
use trackway_domain::{AttemptInputs, BlockReason, ExpectedOutput, InputRequirement, Object};

use crate::model::{OutputContractForm, PromptStep};
use crate::{assessment, notes_criteria, schema_validation};
use artifact_check::ExpectedArtifact;

/// The pointer of an answer's output in a call's arguments.
pub(crate) const OUTPUT: &str = "/output";

/// The form of a step's whole output; none if the step does not define it.
pub(crate) fn expected_step_output(prompt: &PromptStep) -> Option<ExpectedOutput> {
    let expected = artifact_check::expected_artifacts(prompt);
    let whole = prompt.output.as_ref().and_then(|contract| match &contract.form {
        OutputContractForm::WholeOutput { schema, example } => Some((schema, example, contract.required)),
        OutputContractForm::Artifact { .. } => None,
    });
    let Some((schema, example, required)) = whole else {
        return (!expected.is_empty()).then(|| ExpectedOutput {
            schema: artifact_check::artifacts_schema(&expected),
            example: json!({ "artifacts": artifact_check::artifact_examples(&expected) }),
            required: expected.iter().any(|expected| expected.required),
        });
    };
    if expected.is_empty() {
        return Some(ExpectedOutput { schema: schema.clone(), example: example.clone(), required });
    }
    let mut example = example.clone();
    if let Some(object) = example.as_object_mut() {
        object.insert("artifacts".to_owned(), artifact_check::artifact_examples(&expected));
    }
    let schema = json!({ "allOf": [schema, artifact_check::artifacts_schema(&expected)] });
    Some(ExpectedOutput { schema, example, required: true })
}

/// Whether an answer contains what the step requires. If not, everything that is missing or wrong at once.
pub(crate) fn check_step_answer(
    prompt: &PromptStep,
    inputs: &AttemptInputs,
    context: &Object,
) -> Result<(), BlockReason> {
    let mut blocks: Vec<BlockReason> = Vec::new();
    blocks.extend(check_whole_output(prompt, inputs));
    blocks.extend(check_output_artifacts(prompt, inputs));
    if let Some(criteria) = &prompt.criteria {
        blocks.extend(notes_criteria::check_notes(criteria, inputs.notes.as_deref(), context).err());
    }
    let mut blocks = blocks.into_iter();
    if let Some(mut first) = blocks.next() {
        first.needs.extend(blocks.flat_map(|other| other.needs));
        return Err(first);
    }
    assessment::check_assessment_consequences(prompt, output_artifacts(inputs))
}

/// The artifacts of an answer, if it has a list of them.
pub(crate) fn output_artifacts(inputs: &AttemptInputs) -> &[Value] {
    let artifacts = inputs.output.as_ref().and_then(|output| output.get("artifacts"));
    artifacts.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

pub(crate) fn block_reason_from_needs(code: &str, needs: Vec<InputRequirement>) -> Option<BlockReason> {
    let message = match needs.as_slice() {
        [] => return None,
        [only] => only.message.clone(),
        [first, rest @ ..] => format!("{}; and {} more, see `needs`", first.message, rest.len()),
    };
    Some(BlockReason { code: code.to_owned(), message, needs })
}

fn check_whole_output(prompt: &PromptStep, inputs: &AttemptInputs) -> Option<BlockReason> {
    let contract = prompt.output.as_ref()?;
    let OutputContractForm::WholeOutput { schema, example } = &contract.form else { return None };
    match &inputs.output {
        Some(output) => block_reason_from_needs(
            "output-invalid",
            schema_validation::find_schema_needs(schema, output, OUTPUT, Some(example)),
        ),
        None if contract.required => {
            let need = InputRequirement {
                pointer: OUTPUT.to_owned(),
                message: "The step asks for an `output`".to_owned(),
                schema: Some(schema.clone()),
                example: Some(example.clone()),
                got: None,
            };
            block_reason_from_needs("output-missing", vec![need])
        }
        None => None,
    }
}

fn check_output_artifacts(prompt: &PromptStep, inputs: &AttemptInputs) -> Option<BlockReason> {
    let expected = artifact_check::expected_artifacts(prompt);
    if expected.is_empty() {
        return None;
    }
    let required: Vec<&ExpectedArtifact> = expected.iter().filter(|expected| expected.required).collect();
    match &inputs.output {
        None if required.is_empty() => return None,
        Some(output) if !output.is_object() => {
            let expected = expected_step_output(prompt)?;
            let need = InputRequirement {
                pointer: OUTPUT.to_owned(),
                message: "`output` has to be an object with a list of `artifacts`".to_owned(),
                schema: Some(expected.schema),
                example: Some(expected.example),
                got: Some(schema_validation::truncate_value_for_display(output)),
            };
            return block_reason_from_needs("output-invalid", vec![need]);
        }
        _ => {}
    }
    let list = inputs.output.as_ref().and_then(|output| output.get("artifacts"));
    match list {
        Some(Value::Array(items)) if !items.is_empty() => {
            let mut needs: Vec<InputRequirement> =
                expected.iter().flat_map(|expected| expected.needs_of_invalid_artifacts(items)).collect();
            let code = if needs.is_empty() { "output-missing" } else { "output-invalid" };
            let missing = required.iter().filter(|expected| !expected.is_artifact_present(items));
            needs.extend(
                missing
                    .enumerate()
                    .map(|(index, expected)| expected.need_for_missing_artifact(items.len() + index)),
            );
            block_reason_from_needs(code, needs)
        }
        Some(Value::Array(_)) | None if required.is_empty() => None,
        other => {
            let is_list = matches!(other, Some(Value::Array(_)) | None);
            let code = if is_list { "output-missing" } else { "output-invalid" };
            block_reason_from_needs(code, vec![artifact_check::artifact_list_need(&expected, other)])
        }
    }
}

#[cfg(test)]
mod tests;
