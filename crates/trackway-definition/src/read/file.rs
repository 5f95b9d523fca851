//! One file while it is read: what its steps may refer to, and what reading them together shares.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::Draft;
use super::cursor::{At, Fields};
use super::sink::Sink;
use super::template::template;
use crate::model::{Assessment, Reference};

/// Steps of a definition with everything it refers to. A workflow that puts others in place twice, which
/// do the same, would otherwise grow without end.
/// Limit (Definitions): steps of one definition with all that it refers to.
const MOST_STEPS: usize = 5000;

/// Steps inside steps. Reading and interpreting go down the stack with each.
/// Limit (Definitions): steps inside each other.
const DEEPEST_STEPS: usize = 16;

/// How a workflow is found by its id.
pub(super) type Library<'l> = dyn Fn(&str) -> Option<&'l Draft> + 'l;

/// What is shared by a file and those that it puts in place.
pub(super) struct Linking<'l> {
    /// None while a file is read by itself: what it refers to is left out.
    pub(super) library: Option<&'l Library<'l>>,
    pub(super) references: RefCell<BTreeSet<String>>,
    /// Documents that the files refer to.
    pub(super) documents: RefCell<Vec<Reference>>,
    ids: RefCell<BTreeSet<String>>,
    steps: Cell<usize>,
    /// Steps that stand around the one that is read now, in all files.
    depth: Cell<usize>,
}

impl<'l> Linking<'l> {
    pub(super) fn new(library: Option<&'l Library<'l>>) -> Self {
        Self {
            library,
            references: RefCell::default(),
            documents: RefCell::default(),
            ids: RefCell::default(),
            steps: Cell::default(),
            depth: Cell::default(),
        }
    }
}

/// Text of functions by name, as visible at some place.
pub(super) type Functions = BTreeMap<String, String>;

/// A file that is being read.
#[derive(Clone)]
pub(super) struct File<'f, 'l> {
    pub(super) root: &'f Value,
    pub(super) sink: &'f Sink,
    pub(super) linking: &'f Linking<'l>,
    /// The ids of the workflows that this one stands in, itself last.
    pub(super) within: Vec<String>,
    /// Goes before the id of every step.
    pub(super) prefix: String,
    /// Rules that every prompt of the file carries, as templates.
    pub(super) rules: Vec<String>,
    pub(super) assessments: BTreeMap<String, Assessment>,
    /// Slots that can be bound to a routine, with what they are bound to.
    pub(super) slots: BTreeMap<String, String>,
    /// Steps that stand in the file's list and run only as the body of a loop.
    pub(super) bodies: BTreeSet<String>,
    /// Bodies that are being read now, so that one that leads to itself is noticed.
    pub(super) open: Vec<String>,
}

impl<'f> File<'f, '_> {
    pub(super) fn at(&self) -> At<'f> {
        At::new(self.root, "", self.sink)
    }

    /// A text as a template, with the file's slots filled in.
    pub(super) fn template(&self, at: &At<'_>, text: &str) -> String {
        template(at, &self.bind(at, text))
    }

    /// The template of a text that has to be there.
    pub(super) fn filled(&self, at: &At<'_>) -> Option<String> {
        at.filled().map(|text| self.template(at, text))
    }

    fn bind(&self, at: &At<'_>, text: &str) -> String {
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
                    let meant = crate::suggest::nearest(slot, known);
                    let message = format!("there is no extension point `{slot}`");
                    match meant {
                        Some(meant) if !at.sink.strict => {
                            at.beyond(format!("{message}; did you mean `{meant}`?"));
                        }
                        None if !at.sink.strict => at.beyond(message),
                        _ => at.suggest(message, meant),
                    }
                }
            }
            rest = &rest[end..];
        }
        out.push_str(rest);
        out
    }

    /// Takes an id for a step. It is said where it is taken already.
    pub(super) fn id(&self, fields: &Fields<'_>) -> Option<String> {
        let at = fields.need("id")?;
        let own = at.text()?;
        if !is_step_id(own) {
            at.fault(format!("`{own}` is no id of a step: letters, digits, `-`, `_` and `.`"));
            return None;
        }
        let id = format!("{}{own}", self.prefix);
        self.take(&at, &id);
        Some(id)
    }

    pub(super) fn take(&self, at: &At<'_>, id: &str) {
        let count = self.linking.steps.get() + 1;
        self.linking.steps.set(count);
        if count == MOST_STEPS + 1 {
            at.fault(format!("the workflow has more than {MOST_STEPS} steps"));
        }
        if !self.linking.ids.borrow_mut().insert(id.to_owned()) {
            at.fault(format!("another step has the id `{id}` already"));
        }
    }

    pub(super) fn taken(&self, id: &str) -> bool {
        self.linking.ids.borrow().contains(id)
    }

    /// Reads what stands inside a step, unless it is too deep.
    pub(super) fn inside<T: Default>(&self, at: &At<'_>, read: impl FnOnce() -> T) -> T {
        let depth = &self.linking.depth;
        if depth.get() >= DEEPEST_STEPS {
            at.fault(format!("steps are nested more than {DEEPEST_STEPS} deep"));
            return T::default();
        }
        depth.set(depth.get() + 1);
        let found = read();
        depth.set(depth.get() - 1);
        found
    }

    pub(super) fn full(&self) -> bool {
        self.linking.steps.get() > MOST_STEPS
    }
}

/// Longer ids are texts.
/// Limit (Definitions): characters of an id.
const LONGEST_ID: usize = 128;

fn is_step_id(text: &str) -> bool {
    let letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    !text.is_empty() && text.len() <= LONGEST_ID && text.chars().all(letter)
}

/// As WorkRail has them, in lower case; ours may have any number of parts.
pub(super) fn is_workflow_id(text: &str) -> bool {
    let letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
    let part = |part: &str| !part.is_empty() && part.chars().all(letter);
    text.len() <= LONGEST_ID && text.split('.').all(part)
}
