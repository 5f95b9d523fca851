//! Other workflows: put in place as a template with arguments, or nested with a context of their own.

use serde_json::{Map, Value};

use super::arguments;
use super::cursor::{At, Fields};
use super::file::{File, Library};
use super::prompt::confirmation;
use super::sink::Sink;
use super::step::Common;
use super::top::{self, Inside, Top};
use crate::Fault;
use crate::model::{Nested, Prompt, Step, StepKind};

/// Workflows inside workflows inside workflows.
/// Limit (Definitions): workflows inside each other.
const DEEPEST: usize = 16;

/// Templates are the routines of this name.
const ROUTINE: &str = "wr.templates.routine.";

impl File<'_, '_> {
    /// The steps of a routine in place of the step that calls it.
    pub(super) fn template_call(&self, fields: &Fields<'_>, common: &Common) -> Vec<Step> {
        let confirm = fields.get("requireConfirmation").and_then(|at| confirmation(&at));
        let Some(call) = fields.get("templateCall").and_then(|at| at.object()) else {
            return Vec::new();
        };
        let template = call.need("templateId");
        let args = call.get("args");
        let args = args.as_ref().and_then(|at| at.object().and(at.value.as_object()));
        call.finish();
        let Some(template) = template else { return Vec::new() };
        let Some(id) = template.text() else { return Vec::new() };
        let Some(name) = id.strip_prefix(ROUTINE) else {
            template
                .beyond(format!("there is no template `{id}`; templates are named `{ROUTINE}…`"));
            return vec![unknown(common)];
        };
        let workflow = format!("wr.routine-{name}");
        let none = Map::new();
        let args = args.unwrap_or(&none);
        let absent = |library: &Library<'_>| library(&workflow).is_none();
        if self.linking.library.is_some_and(absent) {
            template.beyond(missing(&workflow));
            return vec![unknown(common)];
        }
        let Some(top) = self.inner(&template, &workflow, &common.id, Some(args)) else {
            return Vec::new();
        };
        let mut steps = top.steps;
        if let Some(confirm) = confirm {
            // What is called is confirmed when it is done.
            match last_prompt(&mut steps) {
                Some(prompt) => {
                    prompt.confirm.get_or_insert(confirm);
                }
                None => template.beyond(
                    "`requireConfirmation` has no effect: the routine has no prompt to confirm",
                ),
            }
        }
        match top.input {
            // What is put in place has the context of its place, which has to do for it.
            Some(input) => {
                let input = Some(input);
                let nested = Nested { workflow, context: None, input, steps, output: None };
                vec![common.step(StepKind::Nested(nested))]
            }
            None if common.when.is_some() => vec![common.step(StepKind::Group(steps))],
            None => steps,
        }
    }

    pub(super) fn nested(&self, at: &At<'_>, common: &Common) -> Option<StepKind> {
        let fields = at.object()?;
        let id = fields.need("id");
        let context = fields.get("context").map(|at| at.arguments());
        let output = fields.get("output").and_then(|at| at.cel()).map(str::to_owned);
        fields.finish();
        let id = id?;
        let workflow = id.filled()?.to_owned();
        let Top { input, steps, .. } = self.inner(&id, &workflow, &common.id, None)?;
        Some(StepKind::Nested(Nested { workflow, context, input, steps, output }))
    }

    /// Another workflow, with the ids of its steps put under that of the step they stand in for.
    fn inner(
        &self,
        at: &At<'_>,
        workflow: &str,
        id: &str,
        args: Option<&Map<String, Value>>,
    ) -> Option<Top> {
        self.linking.references.borrow_mut().insert(workflow.to_owned());
        let library = self.linking.library?;
        if self.within.iter().any(|open| open == workflow) {
            let way = self.within.join(" → ");
            at.fault(format!("the workflow contains itself: {way} → {workflow}"));
            return None;
        }
        if self.within.len() >= DEEPEST {
            at.fault(format!("workflows are nested more than {DEEPEST} deep"));
            return None;
        }
        let Some(draft) = library(workflow) else {
            at.fault(missing(workflow));
            return None;
        };
        let filled = args.map(|args| arguments::filled(draft.value(), args));
        if let Some(args) = args {
            omitted(at, draft.value(), args);
        }
        let root = filled.as_ref().unwrap_or_else(|| draft.value());
        let sink = Sink::new(draft.strict());
        let inside = Inside { within: self.within.clone(), prefix: format!("{id}.") };
        let top = top::read(root, &sink, self.linking, Some(inside));
        let (faults, unheeded) = sink.into_parts();
        for fault in faults {
            let message = format!("in `{workflow}` at `{}`: {}", fault.path, fault.message);
            let fault =
                Fault { path: at.path.clone(), line: None, message, suggestion: fault.suggestion };
            at.sink.fault(fault);
        }
        for note in unheeded.into_iter().filter(|note| note.matters) {
            at.sink
                .beyond(&at.path, format!("in `{workflow}` at `{}`: {}", note.path, note.message));
        }
        if !top.on_exit.is_empty() {
            at.beyond(format!("the `onExit` of `{workflow}` does not run inside another workflow"));
        }
        Some(top)
    }
}

fn missing(workflow: &str) -> String {
    format!("there is no workflow `{workflow}`, or it cannot be read")
}

/// Stands for what is not known, so that the workflow can still be looked at; it is not started.
fn unknown(common: &Common) -> Step {
    common.step(StepKind::Group(Vec::new()))
}

/// Says which arguments a routine has a place for and the call does not give. A name in double braces
/// may as well be one of the context, which is asked for when the prompt is shown.
fn omitted(at: &At<'_>, routine: &Value, args: &Map<String, Value>) {
    let places = arguments::places(routine).into_iter();
    for name in places.filter(|name| !args.contains_key(*name)) {
        let message = format!(
            "the routine has a place for `{{{name}}}`, and the call has no argument `{name}`: it \
             is shown as it stands"
        );
        if at.sink.strict {
            at.fault(format!("{message}; where that is meant, say `{name}: \"{{{name}}}\"`"));
        } else {
            at.aside(message);
        }
    }
}

/// The last prompt of a list of steps, or of what stands inside of them.
fn last_prompt(steps: &mut [Step]) -> Option<&mut Prompt> {
    steps.iter_mut().rev().find_map(|step| match &mut step.kind {
        StepKind::Prompt(prompt) => Some(&mut **prompt),
        StepKind::Group(steps) => last_prompt(steps),
        StepKind::Loop(repeated) => last_prompt(&mut repeated.steps),
        StepKind::Nested(nested) => last_prompt(&mut nested.steps),
        StepKind::Map(map) => last_prompt(&mut map.steps),
        // Only one of the cases runs, so that none of them is the last for sure.
        _ => None,
    })
}
