//! One file while it is read: what its steps may refer to, and the state that they share.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::DefinitionDraft;
use super::file_value::{FileValue, ObjectFields};
use super::finding_sink::FindingSink;
use super::template_text::to_checked_template;
use crate::model::{Assessment, DocumentReference};

/// Steps of a definition with everything it refers to. Workflows that include others twice, which do the
/// same, would otherwise grow exponentially.
/// Limit (Definitions): steps of one definition with everything it refers to.
const MOST_STEPS: usize = 5000;

/// Nested steps. Reading and interpreting use the stack for each level.
/// Limit (Definitions): nested steps.
const DEEPEST_STEPS: usize = 16;

/// Finds a workflow by its id.
pub(super) type DraftLookup<'l> = dyn Fn(&str) -> Option<&'l DefinitionDraft> + 'l;

/// The state that a file shares with the files that it includes.
pub(super) struct WorkflowLinkState<'l> {
    /// None while a file is read by itself: what it refers to is left out.
    pub(super) lookup: Option<&'l DraftLookup<'l>>,
    pub(super) references: RefCell<BTreeSet<String>>,
    /// Documents that the files refer to.
    pub(super) documents: RefCell<Vec<DocumentReference>>,
    ids: RefCell<BTreeSet<String>>,
    steps: Cell<usize>,
    /// The number of steps around the current one, over all files.
    depth: Cell<usize>,
}

impl<'l> WorkflowLinkState<'l> {
    pub(super) fn new(library: Option<&'l DraftLookup<'l>>) -> Self {
        Self {
            lookup: library,
            references: RefCell::default(),
            documents: RefCell::default(),
            ids: RefCell::default(),
            steps: Cell::default(),
            depth: Cell::default(),
        }
    }
}

/// Text of functions by name, as visible at one point of the file.
pub(super) type Functions = BTreeMap<String, String>;

/// A file that is being read.
#[derive(Clone)]
pub(super) struct DefinitionFileReader<'f, 'l> {
    pub(super) root: &'f Value,
    pub(super) sink: &'f FindingSink,
    pub(super) links: &'f WorkflowLinkState<'l>,
    /// The ids of the enclosing workflows, this one last.
    pub(super) enclosing_workflows: Vec<String>,
    /// Prefix of the id of every step.
    pub(super) prefix: String,
    /// Rules that every prompt of the file carries, as templates.
    pub(super) rules: Vec<String>,
    pub(super) assessments: BTreeMap<String, Assessment>,
    /// Slots that can be bound to a routine, with what they are bound to.
    pub(super) slots: BTreeMap<String, String>,
    /// Steps in the file's list that run only as the body of a loop.
    pub(super) loop_bodies: BTreeSet<String>,
    /// Bodies that are being read now, so that a body that contains itself is noticed.
    pub(super) open_bodies: Vec<String>,
}

impl<'f> DefinitionFileReader<'f, '_> {
    pub(super) fn file_root_value(&self) -> FileValue<'f> {
        FileValue::new(self.root, "", self.sink)
    }

    /// A text as a template, with the file's slots filled in.
    pub(super) fn to_template_with_slots(&self, file_value: &FileValue<'_>, text: &str) -> String {
        to_checked_template(file_value, &self.fill_binding_slots(file_value, text))
    }

    /// The template of a required text.
    pub(super) fn expect_template(&self, file_value: &FileValue<'_>) -> Option<String> {
        file_value.expect_nonempty_text().map(|text| self.to_template_with_slots(file_value, text))
    }

    fn fill_binding_slots(&self, file_value: &FileValue<'_>, text: &str) -> String {
        const OPENING: &str = "{{wr.bindings.";
        let (mut out, mut rest) = (String::new(), text);
        while let Some(start) = rest.find(OPENING) {
            let Some(length) = rest[start + OPENING.len()..].find("}}") else { break };
            let slot = &rest[start + OPENING.len()..start + OPENING.len() + length];
            let end = start + OPENING.len() + length + 2;
            out.push_str(&rest[..start]);
            match self.slots.get(slot.trim()) {
                Some(bound) => out.push_str(bound),
                None => {
                    let known = self.slots.keys().map(String::as_str);
                    let meant = crate::spelling_suggestion::nearest_known_word(slot, known);
                    let message = format!("there is no extension point `{slot}`");
                    match meant {
                        Some(meant) if !file_value.sink.is_strict => {
                            file_value
                                .report_unsupported_construct(format!("{message}; did you mean `{meant}`?"));
                        }
                        None if !file_value.sink.is_strict => {
                            file_value.report_unsupported_construct(message)
                        }
                        _ => file_value.report_with_suggestion(message, meant),
                    }
                }
            }
            rest = &rest[end..];
        }
        out.push_str(rest);
        out
    }

    /// Claims an id for a step. A duplicate is reported.
    pub(super) fn claim_step_id(&self, fields: &ObjectFields<'_>) -> Option<String> {
        let at = fields.require_key("id")?;
        let own = at.expect_text()?;
        if !is_valid_step_id(own) {
            at.report_finding(format!("`{own}` is no id of a step: letters, digits, `-`, `_` and `.`"));
            return None;
        }
        let id = format!("{}{own}", self.prefix);
        self.register_step_id(&at, &id);
        Some(id)
    }

    pub(super) fn register_step_id(&self, file_value: &FileValue<'_>, id: &str) {
        let count = self.links.steps.get() + 1;
        self.links.steps.set(count);
        if count == MOST_STEPS + 1 {
            file_value.report_finding(format!("the workflow has more than {MOST_STEPS} steps"));
        }
        if !self.links.ids.borrow_mut().insert(id.to_owned()) {
            file_value.report_finding(format!("another step has the id `{id}` already"));
        }
    }

    pub(super) fn is_step_id_registered(&self, id: &str) -> bool {
        self.links.ids.borrow().contains(id)
    }

    /// Reads what is inside a step, unless it is nested too deep.
    pub(super) fn parse_with_depth_limit<T: Default>(
        &self,
        file_value: &FileValue<'_>,
        read: impl FnOnce() -> T,
    ) -> T {
        let depth = &self.links.depth;
        if depth.get() >= DEEPEST_STEPS {
            file_value.report_finding(format!("steps are nested more than {DEEPEST_STEPS} deep"));
            return T::default();
        }
        depth.set(depth.get() + 1);
        let found = read();
        depth.set(depth.get() - 1);
        found
    }

    pub(super) fn has_too_many_steps(&self) -> bool {
        self.links.steps.get() > MOST_STEPS
    }
}

/// A longer text is not an id.
/// Limit (Definitions): characters of an id.
const LONGEST_ID: usize = 128;

fn is_valid_step_id(text: &str) -> bool {
    let letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    !text.is_empty() && text.len() <= LONGEST_ID && text.chars().all(letter)
}

/// As in WorkRail, in lower case; ours may have any number of parts.
pub(super) fn is_valid_workflow_id(text: &str) -> bool {
    let letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
    let part = |part: &str| !part.is_empty() && part.chars().all(letter);
    text.len() <= LONGEST_ID && text.split('.').all(part)
}
