//! A step: the fields that every kind of step has, and its kind.

use std::collections::BTreeMap;

use super::file_reader::{DefinitionFileReader, Functions};
use super::file_value::{FileValue, ObjectFields};
use crate::model::{Condition, Step, StepKind};

/// Keys that define the kind of a step. Our own come first.
const KINDS: [&str; 13] = [
    "ask",
    "tool",
    "emit",
    "status",
    "reject",
    "workflow",
    "switch",
    "map",
    "templateCall",
    "loop",
    "parallelDelegations",
    "prompt",
    "promptBlocks",
];

/// Keys that are only information for people, or for other programs.
const INFORMS: [&str; 4] = ["notesOptional", "hasValidation", "askForFiles", "modelTier"];

/// The fields that every step has.
pub(super) struct StepHeader {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) when: Option<Condition>,
    save: Option<String>,
    set: BTreeMap<String, String>,
}

impl StepHeader {
    pub(super) fn build_step(&self, kind: StepKind) -> Step {
        Step {
            id: self.id.clone(),
            title: self.title.clone(),
            when: self.when.clone(),
            kind,
            save: self.save.clone(),
            set: self.set.clone(),
        }
    }

    /// A step that follows this one under the same condition.
    pub(super) fn build_follow_up_step(&self, suffix: &str, title: &str, kind: StepKind) -> Step {
        Step {
            id: format!("{}-{suffix}", self.id),
            title: format!("{title}: {}", self.title),
            when: self.when.clone(),
            kind,
            save: None,
            set: BTreeMap::new(),
        }
    }
}

impl DefinitionFileReader<'_, '_> {
    /// Steps in a row. One step in the file may become several, or none if it is the body of a loop.
    pub(super) fn parse_steps(&self, file_value: &FileValue<'_>, functions: &Functions) -> Vec<Step> {
        let top = file_value.path == "/steps";
        let in_row = |at: &&FileValue<'_>| {
            let id = at.value.get("id").and_then(|id| id.as_str());
            !(top && id.is_some_and(|id| self.loop_bodies.contains(id)))
        };
        let list = file_value.expect_list();
        list.iter().filter(in_row).flat_map(|at| self.parse_step_with_limits(at, functions)).collect()
    }

    pub(super) fn parse_step_with_limits(
        &self,
        file_value: &FileValue<'_>,
        functions: &Functions,
    ) -> Vec<Step> {
        if self.has_too_many_steps() {
            return Vec::new();
        }
        self.parse_with_depth_limit(file_value, || self.parse_single_step(file_value, functions))
    }

    fn parse_single_step(&self, file_value: &FileValue<'_>, functions: &Functions) -> Vec<Step> {
        let Some(fields) = file_value.expect_object() else { return Vec::new() };
        let kind = detect_step_kind(&fields);
        let Some(common) = self.parse_step_header(&fields) else { return Vec::new() };
        let functions = super::prompt_functions::parse_prompt_functions(&fields, functions, self);
        let steps = match kind {
            "loop" => self.parse_loop(&fields, &common, &functions),
            "parallelDelegations" => self.parse_delegation_steps(&fields, &common, &functions),
            "templateCall" => self.parse_routine_call(&fields, &common),
            "prompt" => self.parse_prompt_step(&fields, &common, &functions),
            other => {
                let kind = self.parse_native_step(other, &fields, &common, &functions);
                kind.map(|kind| common.build_step(kind)).into_iter().collect()
            }
        };
        fields.note_informational_keys(&INFORMS);
        fields.report_unknown_keys();
        steps
    }

    fn parse_step_header(&self, fields: &ObjectFields<'_>) -> Option<StepHeader> {
        let id = self.claim_step_id(fields);
        let title = fields.get_and_mark_known("title");
        let title = title
            .and_then(|at| at.expect_text_or_integer().map(|text| self.to_template_with_slots(&at, &text)));
        let when = fields.get_and_mark_known("runCondition").and_then(|at| at.parse_condition());
        let save = fields.get_and_mark_known("save").and_then(|at| at.expect_identifier()).map(str::to_owned);
        let mut set = BTreeMap::new();
        for (name, at) in fields.get_and_mark_known("set").map(|at| at.expect_entries()).unwrap_or_default() {
            if !super::file_value::is_identifier(name) {
                at.report_finding(format!("`{name}` is no name for a value of the context"));
            } else if let Some(text) = at.expect_cel_expression() {
                set.insert(name.to_owned(), text.to_owned());
            }
        }
        let id = id?;
        Some(StepHeader {
            title: title.unwrap_or_else(|| id.clone()),
            id,
            when: when.filter(|when| *when != Condition::Always),
            save,
            set,
        })
    }
}

/// The kind of a step. Two kinds at once are a fault.
fn detect_step_kind(fields: &ObjectFields<'_>) -> &'static str {
    let mut found: Vec<&'static str> = KINDS.into_iter().filter(|key| fields.has_key(key)).collect();
    let kind = fields.get_and_mark_known("type");
    match kind.as_ref().map(|at| (at, at.expect_text())) {
        Some((_, Some("loop"))) if !found.contains(&"loop") => found.insert(0, "loop"),
        Some((_, Some("parallel"))) if !found.contains(&"parallelDelegations") => {
            found.insert(0, "parallelDelegations");
        }
        Some((at, Some(other))) if !["loop", "parallel", "standard", "step"].contains(&other) => {
            at.report_unsupported_construct(format!("`{other}` is no known type of step"));
        }
        _ => {}
    }
    let first = match found.first() {
        Some(&"promptBlocks") | None => "prompt",
        Some(first) => first,
    };
    // WorkRail ignores the prompt of a step that expands to others; our steps have one kind only.
    let shadowed =
        !fields.value.sink.is_strict && ["templateCall", "loop", "parallelDelegations"].contains(&first);
    let rivals: Vec<&str> =
        found.iter().copied().filter(|key| !(shadowed && key.starts_with("prompt"))).collect();
    if rivals.len() > 1 {
        let list = rivals.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ");
        fields.value.report_finding(format!("a step is of one kind; this one has {list}"));
        fields.mark_keys_known(&KINDS);
    }
    first
}
