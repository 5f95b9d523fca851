//! The fields of the whole workflow.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::file_reader::{DefinitionFileReader, Functions, WorkflowLinkState, is_valid_workflow_id};
use super::file_value::{FileValue, ObjectFields};
use super::finding_sink::FindingSink;
use super::workrail_texts;
use crate::model::{DocumentReference, Step};

/// Keys that are only information for people, or for other programs.
const INFORMS: [&str; 8] = [
    "about",
    "examples",
    "metricsProfile",
    "recommendedPreferences",
    "modelTier",
    "validatedAgainstSpecVersion",
    "author",
    "license",
];

/// Longest wait for a first answer.
///
/// Limit (Definitions): seconds of `firstAnswerTimeout`.
const FIRST_ANSWER_SECONDS_MAX: u32 = 60 * 60;

/// The header of a file and its steps.
#[derive(Debug, Default)]
pub(super) struct ParsedWorkflow {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) description: String,
    pub(super) version: String,
    pub(super) tags: Vec<String>,
    pub(super) input: Option<Value>,
    pub(super) first_answer_timeout: Option<u32>,
    pub(super) guidance: Vec<String>,
    pub(super) steps: Vec<Step>,
    pub(super) on_exit: Vec<Step>,
}

/// A file that is included in another one.
#[derive(Debug, Default)]
pub(super) struct EnclosingWorkflows {
    /// The ids of the enclosing workflows, the outermost first.
    pub(super) workflows: Vec<String>,
    pub(super) prefix: String,
}

/// Reads a whole file. Findings go to the sink.
pub(super) fn parse_workflow_file(
    root: &Value,
    sink: &FindingSink,
    link_state: &WorkflowLinkState<'_>,
    enclosing: Option<EnclosingWorkflows>,
) -> ParsedWorkflow {
    let nested = enclosing.is_some();
    let EnclosingWorkflows { workflows: mut within, prefix } = enclosing.unwrap_or_default();
    let Some(fields) = FileValue::new(root, "", sink).expect_object() else {
        return ParsedWorkflow::default();
    };
    let mut top = ParsedWorkflow {
        id: parse_workflow_id(&fields).unwrap_or_default(),
        name: required_text(&fields, "name"),
        version: required_text(&fields, "version"),
        input: fields.get_and_mark_known("input").and_then(|at| at.expect_json_schema().cloned()),
        first_answer_timeout: fields
            .get_and_mark_known("firstAnswerTimeout")
            .and_then(|at| at.expect_integer(1, FIRST_ANSWER_SECONDS_MAX)),
        ..ParsedWorkflow::default()
    };
    // A workflow without a description uses its name.
    top.description = match fields.get_and_mark_known("description") {
        Some(at) => at.expect_nonempty_text().unwrap_or_default().to_owned(),
        None => top.name.clone(),
    };
    if let Some(at) = fields.get_and_mark_known("trackway")
        && at.value != &Value::from(1)
    {
        at.report_finding("this program reads version 1 of the format");
    }
    fields.mark_keys_known(&["$schema"]);
    within.push(top.id.clone());
    let mut file = DefinitionFileReader {
        root,
        sink,
        links: link_state,
        enclosing_workflows: within,
        prefix,
        rules: Vec::new(),
        assessments: super::assessment_parser::parse_assessments(&fields),
        slots: parse_extension_points(&fields),
        loop_bodies: BTreeSet::new(),
        open_bodies: Vec::new(),
    };
    let functions = super::prompt_functions::parse_prompt_functions(&fields, &Functions::new(), &file);
    top.guidance = parse_workflow_guidance(&fields);
    // The references of an included workflow belong to the run as well.
    if let Some(at) = fields.get_and_mark_known("references") {
        link_state
            .documents
            .borrow_mut()
            .extend(at.expect_list().iter().filter_map(parse_document_reference));
    }
    let tags = fields.get_and_mark_known("tags").map(|at| at.expect_text_list()).unwrap_or_default();
    top.tags = tags.into_iter().map(|(_, tag)| tag.to_owned()).collect();
    if nested {
        // Its rules do not apply to the whole run, so its own prompts contain them.
        let at = file.file_root_value();
        file.rules = top.guidance.iter().map(|rule| file.to_template_with_slots(&at, rule)).collect();
    }
    if let Some(at) = fields.require_key("steps") {
        file.loop_bodies = super::loop_parser::loop_body_ids(at.value);
        if at.value.as_array().is_some_and(Vec::is_empty) {
            at.report_finding("a workflow needs at least one step");
        }
        top.steps = file.parse_steps(&at, &functions);
        file.report_unreached_loop_bodies();
    }
    if let Some(at) = fields.get_and_mark_known("onExit") {
        top.on_exit = file.parse_steps(&at, &functions);
    }
    fields.note_informational_keys(&INFORMS);
    fields.report_unknown_keys();
    top
}

fn parse_workflow_id(fields: &ObjectFields<'_>) -> Option<String> {
    let at = fields.require_key("id")?;
    let text = at.expect_text()?;
    if !is_valid_workflow_id(text) {
        at.report_finding(format!(
            "`{text}` is no id of a workflow: lower-case letters, digits, `-` and `_`, in parts joined by dots"
        ));
        return None;
    }
    Some(text.to_owned())
}

fn required_text(fields: &ObjectFields<'_>, key: &'static str) -> String {
    fields.require_key(key).and_then(|at| at.expect_text_or_integer()).unwrap_or_default().into_owned()
}

/// Everything that is shown once for the whole workflow.
fn parse_workflow_guidance(fields: &ObjectFields<'_>) -> Vec<String> {
    let mut guidance = Vec::new();
    let texts = |key| fields.get_and_mark_known(key).map(|at| at.expect_text_list()).unwrap_or_default();
    guidance.extend(texts("metaGuidance").into_iter().map(|(_, text)| text.to_owned()));
    for (_, text) in texts("preconditions") {
        guidance.push(format!("Before you begin, make sure of this: {text}"));
    }
    for (_, text) in texts("clarificationPrompts") {
        guidance.push(format!("Unless it is known already, ask the user: {text}"));
    }
    for (at, text) in texts("features") {
        match workrail_texts::workrail_feature_text(text) {
            Some(phrase) => guidance.push(phrase.to_owned()),
            None => {
                at.note_ignored_construct(format!("the feature `{text}` is not known; nothing acts on it"))
            }
        }
    }
    guidance
}

fn parse_document_reference(file_value: &FileValue<'_>) -> Option<DocumentReference> {
    let fields = file_value.expect_object()?;
    fields.mark_keys_known(&["id"]);
    let packaged =
        fields.get_and_mark_known("resolveFrom").and_then(|at| at.expect_text()) == Some("package");
    let title = fields.require_key("title").and_then(|at| at.expect_text());
    let source = fields.require_key("source").and_then(|at| at.expect_text());
    let purpose =
        fields.get_and_mark_known("purpose").and_then(|at| at.expect_text()).unwrap_or_default().to_owned();
    let authoritative =
        fields.get_and_mark_known("authoritative").and_then(|at| at.expect_bool()).unwrap_or(false);
    fields.report_unknown_keys();
    let (title, source) = (title?.to_owned(), source?.to_owned());
    Some(DocumentReference { title, source, purpose, authoritative, packaged })
}

fn parse_extension_points(fields: &ObjectFields<'_>) -> BTreeMap<String, String> {
    let Some(at) = fields.get_and_mark_known("extensionPoints") else { return BTreeMap::new() };
    let slot = |at: &FileValue<'_>| {
        let fields = at.expect_object()?;
        fields.note_informational_keys(&["purpose", "acceptedKinds"]);
        let slot = fields.require_key("slotId").and_then(|at| at.expect_identifier());
        let default = fields.require_key("default").and_then(|at| at.expect_nonempty_text());
        fields.report_unknown_keys();
        Some((slot?.to_owned(), default?.to_owned()))
    };
    at.expect_list().iter().filter_map(slot).collect()
}
