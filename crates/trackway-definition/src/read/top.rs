//! What a file says of the whole workflow.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::cursor::{At, Fields};
use super::file::{File, Functions, Linking, is_workflow_id};
use super::phrases;
use super::sink::Sink;
use crate::model::Step;

/// What only informs people, or the programs that it was written for.
const INFORMS: [&str; 9] = [
    "about",
    "tags",
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
pub(super) struct Top {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) description: String,
    pub(super) version: String,
    pub(super) input: Option<Value>,
    pub(super) first_answer_timeout: Option<u32>,
    pub(super) guidance: Vec<String>,
    pub(super) steps: Vec<Step>,
    pub(super) on_exit: Vec<Step>,
}

/// A file that stands inside another one.
#[derive(Debug, Default)]
pub(super) struct Inside {
    /// The ids of the workflows around it, the outermost first.
    pub(super) within: Vec<String>,
    pub(super) prefix: String,
}

/// Reads a whole file. What is wrong is in the sink.
pub(super) fn read(
    root: &Value,
    sink: &Sink,
    linking: &Linking<'_>,
    inside: Option<Inside>,
) -> Top {
    let nested = inside.is_some();
    let Inside { mut within, prefix } = inside.unwrap_or_default();
    let Some(fields) = At::new(root, "", sink).object() else { return Top::default() };
    let mut top = Top {
        id: id(&fields).unwrap_or_default(),
        name: needed(&fields, "name"),
        version: needed(&fields, "version"),
        input: fields.get("input").and_then(|at| at.schema().cloned()),
        first_answer_timeout: fields
            .get("firstAnswerTimeout")
            .and_then(|at| at.whole(1, FIRST_ANSWER_SECONDS_MAX)),
        ..Top::default()
    };
    // A workflow that says no more of itself is known by its name.
    top.description = match fields.get("description") {
        Some(at) => at.filled().unwrap_or_default().to_owned(),
        None => top.name.clone(),
    };
    if let Some(at) = fields.get("trackway")
        && at.value != &Value::from(1)
    {
        at.fault("this program reads version 1 of the format");
    }
    fields.knows(&["$schema"]);
    within.push(top.id.clone());
    let mut file = File {
        root,
        sink,
        linking,
        within,
        prefix,
        rules: Vec::new(),
        assessments: super::assess::declared(&fields),
        slots: slots(&fields),
        bodies: BTreeSet::new(),
        open: Vec::new(),
    };
    let functions = super::functions::declared(&fields, &Functions::new(), &file);
    top.guidance = guidance(&fields);
    if nested {
        // Its rules are not those of the whole run, so that its own prompts carry them.
        let at = file.at();
        file.rules = top.guidance.iter().map(|rule| file.template(&at, rule)).collect();
    }
    if let Some(at) = fields.need("steps") {
        file.bodies = super::loops::bodies(at.value);
        if at.value.as_array().is_some_and(Vec::is_empty) {
            at.fault("a workflow needs at least one step");
        }
        top.steps = file.steps(&at, &functions);
        file.unreached();
    }
    if let Some(at) = fields.get("onExit") {
        top.on_exit = file.steps(&at, &functions);
    }
    fields.informs(&INFORMS);
    fields.finish();
    top
}

fn id(fields: &Fields<'_>) -> Option<String> {
    let at = fields.need("id")?;
    let text = at.text()?;
    if !is_workflow_id(text) {
        at.fault(format!(
            "`{text}` is no id of a workflow: lower-case letters, digits, `-` and `_`, in parts joined by dots"
        ));
        return None;
    }
    Some(text.to_owned())
}

fn needed(fields: &Fields<'_>, key: &'static str) -> String {
    fields.need(key).and_then(|at| at.words()).unwrap_or_default().into_owned()
}

/// Everything that is said once for the whole workflow.
fn guidance(fields: &Fields<'_>) -> Vec<String> {
    let mut guidance = Vec::new();
    let texts = |key| fields.get(key).map(|at| at.texts()).unwrap_or_default();
    guidance.extend(texts("metaGuidance").into_iter().map(|(_, text)| text.to_owned()));
    for (_, text) in texts("preconditions") {
        guidance.push(format!("Before you begin, make sure of this: {text}"));
    }
    for (_, text) in texts("clarificationPrompts") {
        guidance.push(format!("Unless it is known already, ask the user: {text}"));
    }
    for (at, text) in texts("features") {
        match phrases::feature(text) {
            Some(phrase) => guidance.push(phrase.to_owned()),
            None => at.aside(format!("the feature `{text}` is not known; nothing acts on it")),
        }
    }
    if let Some(at) = fields.get("references") {
        guidance.extend(at.list().iter().filter_map(reference));
    }
    guidance
}

fn reference(at: &At<'_>) -> Option<String> {
    let fields = at.object()?;
    fields.informs(&["resolveFrom"]);
    fields.knows(&["id"]);
    let title = fields.need("title").and_then(|at| at.text());
    let source = fields.need("source").and_then(|at| at.text());
    let purpose = fields.get("purpose").and_then(|at| at.text()).unwrap_or_default();
    let binding = fields.get("authoritative").and_then(|at| at.flag()).unwrap_or(false);
    fields.finish();
    let weight = if binding { "Follow it strictly." } else { "It is for orientation." };
    Some(format!("Reference \"{}\" (`{}`): {purpose} {weight}", title?, source?))
}

fn slots(fields: &Fields<'_>) -> BTreeMap<String, String> {
    let Some(at) = fields.get("extensionPoints") else { return BTreeMap::new() };
    let slot = |at: &At<'_>| {
        let fields = at.object()?;
        fields.informs(&["purpose", "acceptedKinds"]);
        let slot = fields.need("slotId").and_then(|at| at.name());
        let default = fields.need("default").and_then(|at| at.filled());
        fields.finish();
        Some((slot?.to_owned(), default?.to_owned()))
    };
    at.list().iter().filter_map(slot).collect()
}
