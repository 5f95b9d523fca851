//! The arguments of a workflow tool: its parameters or an artifact (I4–I6). Pure.
//!
//! The model is shown the peer's whole schema, in which every parameter is optional, and `input_artifact`.
//! What it sends is checked against the original schema.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use trackway_domain::ValidationError;
use trackway_engine::SchemaChecker;
use trackway_runtime::ArgumentsSchema;

use super::given_arguments::{self, argument_type_error};

/// The parameter that names an artifact.
pub(super) const INPUT_ARTIFACT: &str = "input_artifact";

/// What the model reads about it.
const INPUT_ARTIFACT_DESCRIPTION: &str = "Filename of an existing artifact (JSON, YAML, CSV or text) that \
                                          is the whole input. If it is given, leave out all other \
                                          parameters.";

/// References in a row that lead to the schema of an input.
/// Limit (Mesh): references from the root of a peer's schema that are followed.
const REFERENCES_MAX: usize = 8;

/// Rules about an object that make one of its properties depend on others, or require some.
const PRESENCE_RULES: [&str; 8] = [
    "required",
    "minProperties",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
    "if",
    "then",
    "else",
];

/// The arguments of one workflow, in both forms.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct WorkflowArguments {
    /// The peer's own schema, of an object.
    strict: Value,
    /// The input is the property `input` of the arguments.
    is_wrapped: bool,
    /// The peer has no parameter of that name.
    has_artifact_mode: bool,
}

/// What a call gives the workflow.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum WorkflowInput {
    Artifact {
        filename: String,
        /// Parameters that were given beside it.
        ignored: Vec<String>,
    },
    /// They satisfy the workflow's schema.
    Parameters(Value),
}

impl WorkflowArguments {
    pub(super) fn new(input_schema: &Value) -> Self {
        let ArgumentsSchema { schema: strict, is_wrapped } =
            ArgumentsSchema::from_input_schema(&inline_root_reference(input_schema));
        let has_own = strict.pointer(&format!("/properties/{INPUT_ARTIFACT}")).is_some();
        Self { strict, is_wrapped, has_artifact_mode: !has_own }
    }

    /// The schema for the model: the peer's, plus `input_artifact`, and nothing is required.
    pub(super) fn schema_for_model(&self) -> Value {
        let mut schema = self.strict.clone();
        make_parameters_optional(&mut schema);
        if let (true, Value::Object(schema)) = (self.has_artifact_mode, &mut schema) {
            let property = json!({ "type": "string", "description": INPUT_ARTIFACT_DESCRIPTION });
            let properties = schema.entry("properties").or_insert_with(|| json!({}));
            if let Value::Object(properties) = properties {
                properties.insert(INPUT_ARTIFACT.to_owned(), property);
            }
        }
        schema
    }

    /// What a call gives, or everything that is wrong with its arguments.
    pub(super) fn parse(
        &self,
        schemas: &dyn SchemaChecker,
        arguments: Value,
    ) -> Result<WorkflowInput, Vec<ValidationError>> {
        let mut arguments = given_arguments::object_of_arguments(arguments)?;
        if self.has_artifact_mode {
            match arguments.remove(INPUT_ARTIFACT) {
                None | Some(Value::Null) => {}
                Some(Value::String(name)) if name.trim().is_empty() => {}
                Some(Value::String(name)) => {
                    let ignored = given_arguments::names_of_given(arguments);
                    return Ok(WorkflowInput::Artifact { filename: name.trim().to_owned(), ignored });
                }
                Some(other) => {
                    return Err(vec![argument_type_error(INPUT_ARTIFACT, "string", &other)]);
                }
            }
        }
        let arguments = given_arguments::check_without_nulls(schemas, &self.strict, arguments)?;
        Ok(WorkflowInput::Parameters(ArgumentsSchema::input_from_arguments(arguments, self.is_wrapped)))
    }
}

/// The schema that a reference at the root leads to, with the definitions of the root.
pub(super) fn inline_root_reference(schema: &Value) -> Arc<Value> {
    let mut root = schema.clone();
    for _ in 0..REFERENCES_MAX {
        let Value::Object(object) = &root else { break };
        let Some(pointer) = object.get("$ref").and_then(Value::as_str).and_then(|it| it.strip_prefix('#'))
        else {
            break;
        };
        let Some(Value::Object(target)) = schema.pointer(pointer) else { break };
        let mut merged: Map<String, Value> = object.clone();
        merged.remove("$ref");
        for (key, value) in target {
            merged.entry(key.clone()).or_insert_with(|| value.clone());
        }
        root = Value::Object(merged);
    }
    Arc::new(root)
}

/// Removes the rules by which an object needs a property. Rules about the properties themselves stay, and so
/// does what nested objects require.
fn make_parameters_optional(schema: &mut Value) {
    let Value::Object(schema) = schema else { return };
    for rule in PRESENCE_RULES {
        schema.remove(rule);
    }
    if let Some(Value::Array(branches)) = schema.get_mut("allOf") {
        branches.iter_mut().for_each(make_branch_optional);
        branches.retain(|branch| !is_trivial(branch));
        if branches.is_empty() {
            schema.remove("allOf");
        }
    }
    // Without what they require, several branches of a choice may fit at once.
    let choice = schema.remove("oneOf").or_else(|| schema.remove("anyOf"));
    schema.remove("anyOf");
    if let Some(Value::Array(mut branches)) = choice {
        branches.iter_mut().for_each(make_branch_optional);
        if !branches.iter().any(is_trivial) {
            schema.insert("anyOf".to_owned(), Value::Array(branches));
        }
    }
    if schema.get("not").is_some_and(|not| not.get("required").is_some()) {
        schema.remove("not");
    }
}

/// The same for one branch of a combination.
fn make_branch_optional(branch: &mut Value) {
    make_parameters_optional(branch);
    // The root names more properties than a branch does.
    if let Value::Object(branch) = branch {
        branch.remove("additionalProperties");
        branch.remove("unevaluatedProperties");
    }
}

/// Whether a schema accepts every object.
fn is_trivial(schema: &Value) -> bool {
    match schema {
        Value::Bool(accepts) => *accepts,
        Value::Object(rules) => rules.iter().all(|(key, rule)| match key.as_str() {
            "title" | "description" => true,
            "type" => rule == "object",
            _ => false,
        }),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
