//! `trackway schema`: the JSON Schema of workflow files.

use crate::{exit::Exit, failure::Failure, output};

pub(super) fn schema() -> Result<Exit, Failure> {
    output::line(&format!("{:#}", trackway_definition::file_schema()))?;
    Ok(Exit::Done)
}
