//! Workflow definitions in YAML or JSON.
//!
//! A file is read into a [`Definition`] in its normal form, which is hashed and pinned. The interpreter walks
//! it for two drivers: the *caller* (an outside agent that holds tokens) and the *engine*. There is no IO
//! here, no clock and no async: the caller passes files as text, and time and ids.

mod assessment;
mod cel_expression;
mod choice_placeholder;
mod compile_error;
mod condition;
mod context_error;
mod context_facts;
mod context_reads;
mod contract_registry;
mod document_changes;
pub mod engine_walk;
mod file_schema;
mod finding;
mod guided;
mod located_text;
pub mod model;
mod nesting_check;
mod normal_form;
mod notes_criteria;
mod output_check;
mod read;
mod regex_pattern;
pub mod schema_cost;
mod schema_validation;
mod spelling_suggestion;
mod step_prompt;
mod template;
#[cfg(test)]
mod test_support;
mod value_shape;
mod walk;

pub use file_schema::definition_file_schema;
pub use finding::Finding;
pub use guided::{advance_guided_run, begin_guided_run, repin_to_definition};
pub use located_text::{FILE_BYTES_MAX, LocatedValue, parse_located};
pub use model::Definition;
pub use read::{DefinitionDraft, FileFormat, ReadDefinitionError, parse_definition_draft};
pub use schema_validation::{ExampleFillValues, example_value_for_schema, follow_schema_references};
pub use spelling_suggestion::nearest_known_word;
