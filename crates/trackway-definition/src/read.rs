//! From a file's text to a definition: each file is read by itself, then linked with the files it refers to.
//!
//! Reading and linking follow the same path through the file. Reading alone leaves out what other files
//! contain, so that each file's own faults are known without them.

mod assessment_parser;
mod condition_parser;
mod delegation_parser;
mod file_reader;
mod file_value;
mod file_value_checks;
mod finding_sink;
mod loop_parser;
mod native_steps;
mod notes_criteria_parser;
mod output_contract_parser;
mod prompt_blocks;
mod prompt_functions;
mod prompt_steps;
mod routine_arguments;
mod step_parser;
mod template_text;
#[cfg(test)]
pub(crate) mod tests;
mod workflow_call_parser;
mod workflow_parser;
mod workrail_texts;

use serde_json::Value;
use trackway_domain::is_json_too_deep;

use self::file_reader::WorkflowLinkState;
use self::finding_sink::FindingSink;
use crate::located_text::{LocatedValue, parse_located};
use crate::{Definition, Finding};

/// The format of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileFormat {
    Json,
    Yaml,
}

/// One file, read by itself. It does not contain what it refers to yet.
#[derive(Debug, Clone, PartialEq)]
pub struct DefinitionDraft {
    pub id: String,
    located: LocatedValue,
    is_strict: bool,
    references: Vec<String>,
}

/// Why a file is not a valid definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadDefinitionError {
    /// The id, if the file contains one.
    pub id: Option<String>,
    pub findings: Vec<Finding>,
}

/// Reads a file by itself.
///
/// A YAML file, or a JSON file with `"trackway": 1`, is strict: every key has to be known. Any other JSON
/// file may contain more than is acted on; the definition then lists it.
pub fn parse_definition_draft(
    text: &str,
    format: FileFormat,
) -> Result<DefinitionDraft, ReadDefinitionError> {
    let located = parse_located(text, format)
        .map_err(|fault| ReadDefinitionError { id: None, findings: vec![fault] })?;
    let strict = format == FileFormat::Yaml || located.value.get("trackway").is_some();
    let mut draft = DefinitionDraft { id: String::new(), located, is_strict: strict, references: Vec::new() };
    let linking = WorkflowLinkState::new(None);
    match draft.build_definition(&linking) {
        Ok(definition) => {
            let references = linking.references.into_inner().into_iter().collect();
            draft.id = definition.id;
            draft.references = references;
            Ok(draft)
        }
        Err(faults) => {
            let id = draft.draft_root_value().get("id").and_then(Value::as_str).map(str::to_owned);
            Err(ReadDefinitionError { id, findings: faults })
        }
    }
}

impl DefinitionDraft {
    /// Ids of the workflows that it refers to.
    pub fn referenced_workflow_ids(&self) -> Vec<&str> {
        self.references.iter().map(String::as_str).collect()
    }

    /// The definition in its normal form, with everything it refers to inside.
    pub fn link_references<'a>(
        &'a self,
        library: &dyn Fn(&str) -> Option<&'a DefinitionDraft>,
    ) -> Result<Definition, Vec<Finding>> {
        self.build_definition(&WorkflowLinkState::new(Some(&|id: &str| library(id))))
    }

    fn draft_root_value(&self) -> &Value {
        &self.located.value
    }

    fn is_strict(&self) -> bool {
        self.is_strict
    }

    fn build_definition(&self, link_state: &WorkflowLinkState<'_>) -> Result<Definition, Vec<Finding>> {
        let sink = FindingSink::new(self.is_strict);
        let top = workflow_parser::parse_workflow_file(self.draft_root_value(), &sink, link_state, None);
        let (mut faults, unheeded) = sink.into_findings_and_unsupported();
        if !faults.is_empty() {
            for fault in &mut faults {
                fault.line = self.located.line_of_pointer(&fault.path);
            }
            return Err(faults);
        }
        let mut references = link_state.documents.take();
        references.dedup();
        let definition = Definition {
            format: Definition::FORMAT,
            id: top.id,
            name: top.name,
            description: top.description,
            version: top.version,
            tags: top.tags,
            input: top.input,
            guidance: top.guidance,
            references,
            steps: top.steps,
            first_answer_timeout: top.first_answer_timeout,
            on_exit: top.on_exit,
            unsupported: unheeded,
        };
        // A pinned definition has to be readable, and JSON parsers use the stack for every level.
        match serde_json::to_value(&definition) {
            Ok(value) if !is_json_too_deep(&value) => Ok(definition),
            _ => Err(vec![Finding::new("", "the workflow is nested too deep with everything in it")]),
        }
    }
}
