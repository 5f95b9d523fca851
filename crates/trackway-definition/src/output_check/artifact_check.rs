//! Artifacts: parts of an output that are identified by their kind.

use std::borrow::Cow;

use serde_json::{Value, json};
use trackway_domain::InputRequirement;

use crate::model::{Assessment, OutputContractForm, PromptStep};
use crate::{assessment, choice_placeholder, schema_validation};

/// The pointer of the artifacts in a call's arguments.
const ARTIFACTS: &str = "/output/artifacts";

/// An artifact that a step requires.
pub(super) struct ExpectedArtifact<'a> {
    pub(super) required: bool,
    kind: &'a str,
    schema: Value,
    example: Value,
    assessment: Option<AssessmentArtifact<'a>>,
}

/// An artifact that is a judgement; its id says which one.
struct AssessmentArtifact<'a> {
    assessment: &'a Assessment,
    /// No other judgement is required, so its id is optional.
    is_only: bool,
}

pub(super) fn expected_artifacts(prompt: &PromptStep) -> Vec<ExpectedArtifact<'_>> {
    let only = prompt.assessments.len() == 1;
    let judged = prompt.assessments.iter().map(|assessment| ExpectedArtifact {
        required: true,
        kind: assessment::KIND,
        schema: assessment::assessment_artifact_schema(assessment, only),
        example: assessment::assessment_artifact_example(assessment),
        assessment: Some(AssessmentArtifact { assessment, is_only: only }),
    });
    let contract = prompt.output.as_ref().and_then(|contract| match &contract.form {
        // The step's own assessments are more precise than the general contract.
        OutputContractForm::Artifact { kind, .. }
            if kind == assessment::KIND && !prompt.assessments.is_empty() =>
        {
            None
        }
        OutputContractForm::Artifact { kind, schema, example } => Some(ExpectedArtifact {
            required: contract.required,
            kind,
            schema: artifact_schema_with_kind(schema, kind),
            example: artifact_example_with_kind(example, kind),
            assessment: None,
        }),
        OutputContractForm::WholeOutput { .. } => None,
    });
    contract.into_iter().chain(judged).collect()
}

impl ExpectedArtifact<'_> {
    /// Whether one is present, right or wrong.
    pub(super) fn is_artifact_present(&self, artifacts: &[Value]) -> bool {
        self.matching_artifacts(artifacts).next().is_some()
    }

    /// What is wrong with the present ones.
    pub(super) fn needs_of_invalid_artifacts(&self, artifacts: &[Value]) -> Vec<InputRequirement> {
        let needs = self.matching_artifacts(artifacts).flat_map(|(index, artifact)| {
            let at = format!("{ARTIFACTS}/{index}");
            match &self.assessment {
                Some(judged) => assessment::find_assessment_needs(judged.assessment, artifact, &at),
                None => {
                    let needs = schema_validation::find_schema_needs(
                        &self.schema,
                        artifact,
                        &at,
                        Some(&self.example),
                    );
                    needs.into_iter().map(|need| self.leave_choice_open_in_need(need, &at)).collect()
                }
            }
        });
        needs.collect()
    }

    /// A need that makes no choice for the agent: if the contract's example leaves a choice open, the schema
    /// names the choices.
    fn leave_choice_open_in_need(&self, mut need: InputRequirement, at: &str) -> InputRequirement {
        let shown = need.pointer.strip_prefix(at).and_then(|pointer| self.example.pointer(pointer));
        match shown {
            Some(open) if choice_placeholder::parse_choice_placeholder(open).is_some() => need.example = None,
            Some(open) if choice_placeholder::has_open_choice(open) => need.example = Some(open.clone()),
            _ => {}
        }
        need
    }

    /// What to append to add one.
    pub(super) fn need_for_missing_artifact(&self, index: usize) -> InputRequirement {
        InputRequirement {
            pointer: format!("{ARTIFACTS}/{index}"),
            message: format!("An artifact of kind `{}` is missing{}", self.kind, self.assessment_suffix()),
            schema: Some(self.schema.clone()),
            example: Some(self.example.clone()),
            got: None,
        }
    }

    fn assessment_suffix(&self) -> Cow<'static, str> {
        match &self.assessment {
            Some(judged) => format!(", for the assessment `{}`", judged.assessment.id).into(),
            None => "".into(),
        }
    }

    fn matching_artifacts<'v>(&self, artifacts: &'v [Value]) -> impl Iterator<Item = (usize, &'v Value)> {
        artifacts.iter().enumerate().filter(|(_, artifact)| {
            let is_kind = artifact.get("kind").is_some_and(|kind| kind == self.kind);
            is_kind
                && self.assessment.as_ref().is_none_or(|judged| {
                    judged.is_only
                        || artifact.get("assessmentId").is_some_and(|id| *id == *judged.assessment.id)
                })
        })
    }
}

/// The need for the whole list.
pub(super) fn artifact_list_need(expected: &[ExpectedArtifact<'_>], got: Option<&Value>) -> InputRequirement {
    let kinds: Vec<String> = expected.iter().map(|expected| format!("`{}`", expected.kind)).collect();
    InputRequirement {
        pointer: ARTIFACTS.to_owned(),
        message: format!("The step asks for artifacts of kind {}", kinds.join(", ")),
        schema: Some(artifact_list_schema(expected)),
        example: Some(artifact_examples(expected)),
        got: got.map(schema_validation::truncate_value_for_display),
    }
}

pub(super) fn artifact_examples(expected: &[ExpectedArtifact<'_>]) -> Value {
    expected.iter().map(|expected| expected.example.clone()).collect()
}

/// The schema of an output with these artifacts.
pub(super) fn artifacts_schema(expected: &[ExpectedArtifact<'_>]) -> Value {
    json!({
        "type": "object",
        "properties": { "artifacts": artifact_list_schema(expected) },
        "required": ["artifacts"],
    })
}

fn artifact_list_schema(expected: &[ExpectedArtifact<'_>]) -> Value {
    match expected {
        [only] => json!({ "type": "array", "contains": only.schema }),
        several => {
            let all: Vec<Value> =
                several.iter().map(|expected| json!({ "contains": expected.schema })).collect();
            json!({ "type": "array", "allOf": all })
        }
    }
}

/// An artifact's schema, with its kind in it.
fn artifact_schema_with_kind(schema: &Value, kind: &str) -> Value {
    let mut schema = match schema {
        Value::Object(schema) => schema.clone(),
        _ => {
            return json!({ "type": "object", "properties": { "kind": { "const": kind } }, "required": ["kind"] });
        }
    };
    schema.entry("type").or_insert_with(|| json!("object"));
    if let Some(properties) = schema.entry("properties").or_insert_with(|| json!({})).as_object_mut() {
        properties.entry("kind").or_insert_with(|| json!({ "const": kind }));
    }
    if let Some(required) = schema.entry("required").or_insert_with(|| json!([])).as_array_mut()
        && !required.iter().any(|name| name == "kind")
    {
        required.insert(0, json!("kind"));
    }
    Value::Object(schema)
}

fn artifact_example_with_kind(example: &Value, kind: &str) -> Value {
    let mut example = example.clone();
    match example.as_object_mut() {
        Some(object) => {
            object.entry("kind").or_insert_with(|| json!(kind));
            example
        }
        None => json!({ "kind": kind }),
    }
}
