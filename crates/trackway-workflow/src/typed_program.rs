//! A typed workflow as the runtime's program: schemas derived, values converted.

use std::{fmt, sync::Arc, time::Duration};

use schemars::{JsonSchema, Schema, generate::SchemaSettings, transform::RecursiveTransform};
use serde_json::Value;
use trackway_domain::{Failure, Message, Part, ValidationError};
use trackway_runtime::{Program, ProgramFuture, ProgramInfo, ProgramKind, ProgramStop, Stage, ValueType};

use crate::{Ctx, Workflow};

/// A workflow as a program for an engine.
pub fn program<W: Workflow>(workflow: W) -> Arc<dyn Program> {
    Arc::new(TypedProgram::new(workflow))
}

struct TypedProgram<W> {
    workflow: Arc<W>,
    info: ProgramInfo,
}

impl<W: Workflow> TypedProgram<W> {
    fn new(workflow: W) -> Self {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        let info = ProgramInfo {
            name: W::NAME.to_owned(),
            kind: ProgramKind::Workflow,
            version: W::VERSION.to_owned(),
            description: W::DESCRIPTION.to_owned(),
            tags: owned(W::TAGS),
            examples: owned(W::EXAMPLES),
            skills: Vec::new(),
            input_schema: json_schema_of::<W::Input>(),
            output_schema: json_schema_of::<W::Output>(),
            input_modes: owned(W::INPUT_MODES),
            output_modes: owned(W::OUTPUT_MODES),
            extensions: W::EXTENSIONS.to_vec(),
            deadline: W::DEADLINE,
        };
        Self { workflow: Arc::new(workflow), info }
    }
}

impl<W> fmt::Debug for TypedProgram<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Workflow").field(&self.info.name).finish()
    }
}

impl<W: Workflow> Program for TypedProgram<W> {
    fn info(&self) -> &ProgramInfo {
        &self.info
    }

    fn run(&self, stage: Stage, input: Value) -> ProgramFuture {
        let workflow = self.workflow.clone();
        Box::pin(async move {
            let input = match serde_json::from_value(input) {
                Ok(input) => input,
                // The input was parsed into the type before the run existed. The type has changed since, or
                // the run was imported: it waits for code that fits.
                Err(error) => {
                    let message = format!("the input does not have the workflow's type: {error}");
                    stage.park_as_nondeterministic("submitted", message).await
                }
            };
            let output = workflow.run(Ctx::new(stage), input).await.map_err(|stop| stop.0)?;
            serde_json::to_value(output).map_err(|error| {
                let message = format!("the output does not have the workflow's type: {error}");
                ProgramStop::Failed(Failure::new(message))
            })
        })
    }

    fn first_answer_timeout(&self) -> Option<Duration> {
        W::FIRST_ANSWER_TIMEOUT
    }

    fn check_input(&self, input: &Value) -> Vec<ValidationError> {
        ValueType::for_type::<W::Input>().check_value(input)
    }

    fn answer_without_run(&self, message: &Message) -> Option<Vec<Part>> {
        self.workflow.answer_without_run(message)
    }
}

/// The JSON Schema of a type, without references: forms are easier to read that way. It contains the bounds
/// of numbers, because only programmers know the bounds behind names such as `uint32`.
pub(crate) fn json_schema_of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12()
        .with(|settings| settings.inline_subschemas = true)
        .with_transform(RecursiveTransform(add_number_bounds));
    settings.into_generator().into_root_schema_for::<T>().to_value()
}

/// Adds the smallest and the largest number of a type, if the type's schema has none.
fn add_number_bounds(schema: &mut Schema) {
    let format = schema.get("format").and_then(Value::as_str).unwrap_or_default();
    let Some((least, most)) = number_bounds(format) else { return };
    let rules = schema.ensure_object();
    if !["minimum", "exclusiveMinimum"].iter().any(|rule| rules.contains_key(*rule)) {
        rules.insert("minimum".into(), least);
    }
    if !["maximum", "exclusiveMaximum"].iter().any(|rule| rules.contains_key(*rule)) {
        rules.insert("maximum".into(), most);
    }
}

/// The bounds of the type of that name. JSON values have 64-bit integers, which limits wider types.
fn number_bounds(format: &str) -> Option<(Value, Value)> {
    let bounds = match format {
        "uint8" => (0.into(), u8::MAX.into()),
        "uint16" => (0.into(), u16::MAX.into()),
        "uint32" => (0.into(), u32::MAX.into()),
        "uint" => (0.into(), usize::MAX.into()),
        "uint64" | "uint128" => (0.into(), u64::MAX.into()),
        "int8" => (i8::MIN.into(), i8::MAX.into()),
        "int16" => (i16::MIN.into(), i16::MAX.into()),
        "int32" => (i32::MIN.into(), i32::MAX.into()),
        "int" => (isize::MIN.into(), isize::MAX.into()),
        "int64" => (i64::MIN.into(), i64::MAX.into()),
        "int128" => (i64::MIN.into(), u64::MAX.into()),
        "float" => (f32::MIN.into(), f32::MAX.into()),
        _ => return None,
    };
    Some(bounds)
}

#[cfg(test)]
mod tests;
