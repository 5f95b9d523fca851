//! Assessments: judgements that a step requires, and those that keep the run at the step.
//!
//! A judgement is an artifact `wr.assessment` with a level for each dimension: either the level itself or an
//! object with `level` and `rationale`. Case and surrounding blanks do not matter in a level.

use serde_json::{Value, json};
use trackway_domain::{BlockReason, InputRequirement, Object};

use crate::choice_placeholder::choice_placeholder;
use crate::context_error::child_pointer;
use crate::model::{Assessment, AssessmentConsequence, AssessmentDimension, PromptStep};
use crate::schema_validation::{put_value_at_pointer, truncate_value_for_display};

pub(crate) const KIND: &str = "wr.assessment";

/// The schema of the artifact. If a step requires only this one, its id is optional.
pub(crate) fn assessment_artifact_schema(assessment: &Assessment, is_only_assessment: bool) -> Value {
    let dimensions: Object = assessment
        .dimensions
        .iter()
        .map(|dimension| (dimension.id.clone(), dimension_level_schema(dimension)))
        .collect();
    let required: Vec<&str> =
        assessment.dimensions.iter().filter(|d| d.required).map(|d| d.id.as_str()).collect();
    let names = if is_only_assessment {
        json!(["kind", "dimensions"])
    } else {
        json!(["kind", "assessmentId", "dimensions"])
    };
    json!({
        "type": "object",
        "description": assessment.purpose,
        "properties": {
            "kind": { "const": KIND },
            "assessmentId": { "const": assessment.id },
            "dimensions": {
                "type": "object",
                "properties": dimensions,
                "required": required,
                "additionalProperties": false,
            },
            "summary": { "type": "string" },
        },
        "required": names,
    })
}

/// An example of a judgement, with every level left open.
pub(crate) fn assessment_artifact_example(assessment: &Assessment) -> Value {
    json!({
        "kind": KIND,
        "assessmentId": assessment.id,
        "dimensions": dimensions_example(assessment),
    })
}

/// What is wrong with a judgement at this pointer of the call's arguments.
pub(crate) fn find_assessment_needs(
    assessment: &Assessment,
    artifact: &Value,
    at: &str,
) -> Vec<InputRequirement> {
    let mut needs = Vec::new();
    if let Some(id) = artifact.get("assessmentId").filter(|id| **id != *assessment.id) {
        needs.push(InputRequirement {
            pointer: child_pointer(at, "assessmentId"),
            message: format!("The step asks for the assessment `{}`", assessment.id),
            schema: Some(json!({ "const": assessment.id })),
            example: Some(json!(assessment.id)),
            got: Some(truncate_value_for_display(id)),
        });
    }
    let at = child_pointer(at, "dimensions");
    let Some(dimensions) = artifact.get("dimensions").and_then(Value::as_object) else {
        needs.push(InputRequirement {
            pointer: at,
            message: format!("`dimensions` of the assessment `{}` is missing", assessment.id),
            schema: assessment_artifact_schema(assessment, true).pointer("/properties/dimensions").cloned(),
            example: Some(dimensions_example(assessment)),
            got: artifact.get("dimensions").map(truncate_value_for_display),
        });
        return needs;
    };
    let each: Vec<InputRequirement> = assessment
        .dimensions
        .iter()
        .filter_map(|dimension| find_dimension_need(dimension, dimensions, &at))
        .collect();
    match unknown_dimension_need(assessment, dimensions, &at, &each) {
        Some(whole) => needs.push(whole),
        None => needs.extend(each),
    }
    needs
}

/// One need for all dimensions if some are unknown: no replacement value for an unknown one would help.
fn unknown_dimension_need(
    assessment: &Assessment,
    sent: &Object,
    at: &str,
    each: &[InputRequirement],
) -> Option<InputRequirement> {
    let is_known = |name: &str| assessment.dimensions.iter().any(|dimension| dimension.id == name);
    let known: Vec<String> = assessment.dimensions.iter().map(|d| format!("`{}`", d.id)).collect();
    let too_many: Vec<String> =
        sent.keys().filter(|name| !is_known(name)).map(|name| format!("`{name}`")).collect();
    if too_many.is_empty() {
        return None;
    }
    let kept = sent.iter().filter(|(name, _)| is_known(name));
    let mut whole = Value::Object(kept.map(|(name, value)| (name.clone(), value.clone())).collect());
    let mut message =
        format!("{} is no dimension here; leave it out. There are {}", too_many.join(", "), known.join(", "));
    for need in each {
        let dimension = need.pointer.strip_prefix(at).and_then(|pointer| {
            let of =
                |dimension: &&AssessmentDimension| pointer.starts_with(&child_pointer("", &dimension.id));
            Some((pointer, assessment.dimensions.iter().find(of)?))
        });
        if let Some((pointer, dimension)) = dimension {
            put_value_at_pointer(&mut whole, pointer, choice_placeholder(&dimension.levels));
        }
        message.push_str("; ");
        message.push_str(&need.message);
    }
    Some(InputRequirement {
        pointer: at.to_owned(),
        message,
        schema: assessment_artifact_schema(assessment, true).pointer("/properties/dimensions").cloned(),
        example: Some(whole),
        got: Some(truncate_value_for_display(&Value::Object(sent.clone()))),
    })
}

/// Whether a judgement keeps the run at the step.
pub(crate) fn check_assessment_consequences(
    prompt: &PromptStep,
    artifacts: &[Value],
) -> Result<(), BlockReason> {
    let only = prompt.assessments.len() == 1;
    let mut needs: Vec<InputRequirement> = Vec::new();
    for (index, artifact) in artifacts.iter().enumerate() {
        if artifact.get("kind").is_none_or(|kind| kind != KIND) {
            continue;
        }
        let id = artifact.get("assessmentId").and_then(Value::as_str);
        let assessment = prompt.assessments.iter().find(|assessment| only || id == Some(&assessment.id));
        let Some(assessment) = assessment else { continue };
        for dimension in &assessment.dimensions {
            let Some(value) = artifact.get("dimensions").and_then(|all| all.get(&dimension.id)) else {
                continue;
            };
            let level =
                assessment_level_text(value).and_then(|level| match_dimension_level(dimension, level));
            let held =
                level.and_then(|level| find_level_consequence(level, &assessment.id, &prompt.consequences));
            // No other level is shown: the step requires the work, and a new judgement after it.
            needs.extend(held.map(|consequence| InputRequirement {
                pointer: dimension_level_pointer(
                    value,
                    &format!("/output/artifacts/{index}/dimensions"),
                    dimension,
                ),
                message: consequence.guidance.clone(),
                ..InputRequirement::default()
            }));
        }
    }
    if needs.is_empty() {
        return Ok(());
    }
    let mut guidance: Vec<&str> = needs.iter().map(|need| need.message.as_str()).collect();
    guidance.dedup();
    let message = guidance.join("\n");
    Err(BlockReason { code: "followup-required".to_owned(), message, needs })
}

/// What is wrong with one dimension. The schema names the levels. Only the agent can judge which one applies,
/// so there is no example.
fn find_dimension_need(dimension: &AssessmentDimension, sent: &Object, at: &str) -> Option<InputRequirement> {
    let levels: Vec<String> = dimension.levels.iter().map(|level| format!("`{level}`")).collect();
    let levels = levels.join(", ");
    let Some(value) = sent.get(&dimension.id) else {
        return dimension.required.then(|| InputRequirement {
            pointer: child_pointer(at, &dimension.id),
            message: format!("The dimension `{}` is missing; its levels are {levels}", dimension.id),
            schema: Some(dimension_level_schema(dimension)),
            example: None,
            got: None,
        });
    };
    if assessment_level_text(value).and_then(|level| match_dimension_level(dimension, level)).is_some() {
        return None;
    }
    let at_level = value.get("level").is_some();
    Some(InputRequirement {
        pointer: dimension_level_pointer(value, at, dimension),
        message: format!("The levels of `{}` are {levels}", dimension.id),
        schema: Some(if at_level {
            json!({ "enum": dimension.levels })
        } else {
            dimension_level_schema(dimension)
        }),
        example: None,
        got: Some(truncate_value_for_display(value.get("level").unwrap_or(value))),
    })
}

fn dimension_level_schema(dimension: &AssessmentDimension) -> Value {
    let levels = json!({ "enum": dimension.levels });
    json!({
        "description": dimension.purpose,
        "anyOf": [
            levels,
            {
                "type": "object",
                "properties": { "level": levels, "rationale": { "type": "string" } },
                "required": ["level"],
            },
        ],
    })
}

fn dimensions_example(assessment: &Assessment) -> Value {
    let levels = assessment
        .dimensions
        .iter()
        .map(|dimension| (dimension.id.clone(), choice_placeholder(&dimension.levels)));
    Value::Object(levels.collect())
}

/// The sent level, in either form.
fn assessment_level_text(value: &Value) -> Option<&str> {
    value.as_str().or_else(|| value.get("level")?.as_str())
}

fn dimension_level_pointer(value: &Value, at: &str, dimension: &AssessmentDimension) -> String {
    let pointer = child_pointer(at, &dimension.id);
    if value.get("level").is_some() { child_pointer(&pointer, "level") } else { pointer }
}

/// The level in the spelling of the dimension.
fn match_dimension_level<'a>(dimension: &'a AssessmentDimension, level: &str) -> Option<&'a str> {
    let level = level.trim();
    let exact = dimension.levels.iter().find(|known| *known == level);
    let near = || dimension.levels.iter().find(|known| known.to_lowercase() == level.to_lowercase());
    exact.or_else(near).map(String::as_str)
}

fn find_level_consequence<'a>(
    level: &str,
    assessment: &str,
    consequences: &'a [AssessmentConsequence],
) -> Option<&'a AssessmentConsequence> {
    consequences.iter().find(|consequence| {
        consequence.level == level && consequence.assessment.as_deref().is_none_or(|only| only == assessment)
    })
}

#[cfg(test)]
mod tests;
