//! The published JSON Schema of the file format.
//!
//! It describes what a strict file may contain. The reader accepts what the schema accepts, except for faults
//! that a schema cannot express (duplicate ids, expressions that do not parse, references to nothing).

#[cfg(test)]
mod tests;

use serde_json::Value;

/// JSON Schema (2020-12) of a definition's file.
pub fn definition_file_schema() -> Value {
    serde_json::from_str(include_str!("../schema/definition.schema.json"))
        .expect("the schema is JSON, as its tests show")
}
