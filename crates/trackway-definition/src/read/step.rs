//! A step: what every kind of step has, and which kind it is.

use std::collections::BTreeMap;

use super::cursor::{At, Fields};
use super::file::{File, Functions};
use crate::model::{Condition, Step, StepKind};

/// Keys that make a step what it is. Our own come first.
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

/// What only informs people, or the programs that it was written for.
const INFORMS: [&str; 4] = ["notesOptional", "hasValidation", "askForFiles", "modelTier"];

/// What every step has.
pub(super) struct Common {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) when: Option<Condition>,
    save: Option<String>,
    set: BTreeMap<String, String>,
}

impl Common {
    pub(super) fn step(&self, kind: StepKind) -> Step {
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
    pub(super) fn follow(&self, suffix: &str, title: &str, kind: StepKind) -> Step {
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

impl File<'_, '_> {
    /// Steps in a row. One that is written down may stand for several, or for none here where it is the
    /// body of a loop.
    pub(super) fn steps(&self, at: &At<'_>, functions: &Functions) -> Vec<Step> {
        let top = at.path == "/steps";
        let in_row = |at: &&At<'_>| {
            let id = at.value.get("id").and_then(|id| id.as_str());
            !(top && id.is_some_and(|id| self.bodies.contains(id)))
        };
        let list = at.list();
        list.iter().filter(in_row).flat_map(|at| self.step(at, functions)).collect()
    }

    pub(super) fn step(&self, at: &At<'_>, functions: &Functions) -> Vec<Step> {
        if self.full() {
            return Vec::new();
        }
        self.inside(at, || self.one(at, functions))
    }

    fn one(&self, at: &At<'_>, functions: &Functions) -> Vec<Step> {
        let Some(fields) = at.object() else { return Vec::new() };
        let kind = kind(&fields);
        let Some(common) = self.common(&fields) else { return Vec::new() };
        let functions = super::functions::declared(&fields, functions, self);
        let steps = match kind {
            "loop" => self.loop_step(&fields, &common, &functions),
            "parallelDelegations" => self.parallel(&fields, &common, &functions),
            "templateCall" => self.template_call(&fields, &common),
            "prompt" => self.prompt_step(&fields, &common, &functions),
            other => {
                let kind = self.own_kind(other, &fields, &common, &functions);
                kind.map(|kind| common.step(kind)).into_iter().collect()
            }
        };
        fields.informs(&INFORMS);
        fields.finish();
        steps
    }

    fn common(&self, fields: &Fields<'_>) -> Option<Common> {
        let id = self.id(fields);
        let title = fields.get("title");
        let title = title.and_then(|at| at.words().map(|text| self.template(&at, &text)));
        let when = fields.get("runCondition").and_then(|at| at.condition());
        let save = fields.get("save").and_then(|at| at.name()).map(str::to_owned);
        let mut set = BTreeMap::new();
        for (name, at) in fields.get("set").map(|at| at.entries()).unwrap_or_default() {
            if !super::cursor::is_name(name) {
                at.fault(format!("`{name}` is no name for a value of the context"));
            } else if let Some(text) = at.cel() {
                set.insert(name.to_owned(), text.to_owned());
            }
        }
        let id = id?;
        Some(Common {
            title: title.unwrap_or_else(|| id.clone()),
            id,
            when: when.filter(|when| *when != Condition::Always),
            save,
            set,
        })
    }
}

/// Which kind of step it is. Two kinds at once are a fault.
fn kind(fields: &Fields<'_>) -> &'static str {
    let mut found: Vec<&'static str> = KINDS.into_iter().filter(|key| fields.has(key)).collect();
    let kind = fields.get("type");
    match kind.as_ref().map(|at| (at, at.text())) {
        Some((_, Some("loop"))) if !found.contains(&"loop") => found.insert(0, "loop"),
        Some((_, Some("parallel"))) if !found.contains(&"parallelDelegations") => {
            found.insert(0, "parallelDelegations");
        }
        Some((at, Some(other))) if !["loop", "parallel", "standard", "step"].contains(&other) => {
            at.beyond(format!("`{other}` is no known type of step"));
        }
        _ => {}
    }
    let first = match found.first() {
        Some(&"promptBlocks") | None => "prompt",
        Some(first) => first,
    };
    // WorkRail leaves out the prompt of a step that stands for others; ours has one meaning only.
    let shadowed =
        !fields.at.sink.strict && ["templateCall", "loop", "parallelDelegations"].contains(&first);
    let rivals: Vec<&str> =
        found.iter().copied().filter(|key| !(shadowed && key.starts_with("prompt"))).collect();
    if rivals.len() > 1 {
        let list = rivals.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ");
        fields.at.fault(format!("a step is of one kind; this one has {list}"));
        fields.knows(&KINDS);
    }
    first
}
