//! A typed workflow as the runtime's program: schemas derived, values converted.

use std::{fmt, sync::Arc, time::Duration};

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::Value;
use trackway_domain::{Failure, Message, Part};
use trackway_runtime::{Kind, Program, ProgramFuture, ProgramInfo, Stage, Stop};

use crate::{Ctx, Workflow};

pub(crate) struct Typed<W> {
    workflow: Arc<W>,
    info: ProgramInfo,
}

impl<W: Workflow> Typed<W> {
    pub(crate) fn new(workflow: W) -> Self {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        let info = ProgramInfo {
            name: W::NAME.to_owned(),
            kind: Kind::Workflow,
            version: W::VERSION.to_owned(),
            description: W::DESCRIPTION.to_owned(),
            tags: owned(W::TAGS),
            examples: owned(W::EXAMPLES),
            skills: Vec::new(),
            input_schema: schema_of::<W::Input>(),
            output_schema: schema_of::<W::Output>(),
            input_modes: owned(W::INPUT_MODES),
            output_modes: owned(W::OUTPUT_MODES),
            extensions: W::EXTENSIONS.to_vec(),
            deadline: W::DEADLINE,
        };
        Self { workflow: Arc::new(workflow), info }
    }
}

impl<W> fmt::Debug for Typed<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Workflow").field(&self.info.name).finish()
    }
}

impl<W: Workflow> Program for Typed<W> {
    fn info(&self) -> &ProgramInfo {
        &self.info
    }

    fn run(&self, stage: Stage, input: Value) -> ProgramFuture {
        let workflow = self.workflow.clone();
        Box::pin(async move {
            let failed = |what: &str, error: serde_json::Error| {
                Stop::Failed(Failure::new(format!(
                    "the {what} does not have the workflow's type: {error}"
                )))
            };
            let input = serde_json::from_value(input).map_err(|error| failed("input", error))?;
            let output = workflow.run(Ctx::new(stage), input).await.map_err(|stop| stop.0)?;
            serde_json::to_value(output).map_err(|error| failed("output", error))
        })
    }

    fn first_answer_timeout(&self) -> Option<Duration> {
        W::FIRST_ANSWER_TIMEOUT
    }

    fn answer(&self, message: &Message) -> Option<Vec<Part>> {
        self.workflow.answer(message)
    }
}

/// The JSON Schema of a type, in one piece: forms are easier to read without references.
pub(crate) fn schema_of<T: JsonSchema>() -> Value {
    let settings =
        SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    settings.into_generator().into_root_schema_for::<T>().to_value()
}
