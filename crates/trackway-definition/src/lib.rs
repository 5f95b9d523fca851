//! Workflow definitions in YAML or JSON.
//!
//! A file is read into a [`Definition`] in its normal form, which is hashed and pinned. The interpreter walks
//! it for two drivers: the *caller* (an outside agent that holds tokens) and the *engine*. There is no IO
//! here, no clock and no async: the caller passes files as text, and time and ids.

mod assessment;
mod compile_error;
mod condition;
mod context_error;
mod context_facts;
mod context_reads;
mod contract_registry;
mod documents;
pub mod drive;
mod expression;
mod file_schema;
mod finding;
mod guided;
mod located_text;
pub mod model;
mod nesting_check;
mod normal_form;
mod notes_criteria;
mod open_choice;
mod output_check;
mod pattern;
mod read;
mod schema;
pub mod schema_cost;
mod step_prompt;
mod suggestion;
mod template;
#[cfg(test)]
mod test_support;
mod value_shape;
mod walk;

pub use file_schema::definition_file_schema;
pub use finding::Finding;
pub use guided::{advance, open_run, repin};
pub use located_text::{FILE_BYTES_MAX, LocatedValue, parse_located};
pub use model::Definition;
pub use read::{DefinitionDraft, FileFormat, ReadDefinitionError, parse_draft};
pub use schema::{ExampleFiller, example_value, follow_references};
pub use suggestion::nearest;
