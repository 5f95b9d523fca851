//! Other workflows: put in place as a template with arguments, or nested with a context of their own.

use serde_json::{Map, Value};

use super::cursor::{At, Fields};
use super::file::File;
use super::prompt::confirmation;
use super::sink::Sink;
use super::step::Common;
use super::top::{self, Inside};
use crate::Fault;
use crate::model::{Nested, Prompt, Step, StepKind};

/// Workflows inside workflows inside workflows.
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
                .fault(format!("there is no template `{id}`; templates are named `{ROUTINE}…`"));
            return Vec::new();
        };
        let workflow = format!("wr.routine-{name}");
        let Some(mut steps) = self.inner(&template, &workflow, &common.id, args) else {
            return Vec::new();
        };
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
        if common.when.is_some() { vec![common.step(StepKind::Group(steps))] } else { steps }
    }

    pub(super) fn nested(&self, at: &At<'_>, common: &Common) -> Option<StepKind> {
        let fields = at.object()?;
        let id = fields.need("id");
        let context = fields.get("context").map(|at| at.arguments());
        let output = fields.get("output").and_then(|at| at.cel()).map(str::to_owned);
        fields.finish();
        let id = id?;
        let workflow = id.filled()?.to_owned();
        let steps = self.inner(&id, &workflow, &common.id, None)?;
        Some(StepKind::Nested(Nested { workflow, context, steps, output }))
    }

    /// The steps of another workflow, with their ids put under that of the step they stand in for.
    fn inner(
        &self,
        at: &At<'_>,
        workflow: &str,
        id: &str,
        args: Option<&Map<String, Value>>,
    ) -> Option<Vec<Step>> {
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
            at.fault(format!("there is no workflow `{workflow}`, or it cannot be read"));
            return None;
        };
        let filled = args.map(|args| filled(draft.value(), args));
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
        if top.input.is_some() {
            at.aside(format!(
                "the `input` of `{workflow}` is not checked where it stands inside another workflow"
            ));
        }
        if !top.on_exit.is_empty() {
            at.beyond(format!("the `onExit` of `{workflow}` does not run inside another workflow"));
        }
        Some(top.steps)
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

/// The same value with arguments in place of their names in braces. Only steps have any.
fn filled(root: &Value, args: &Map<String, Value>) -> Value {
    let mut root = root.clone();
    if let Some(steps) = root.get_mut("steps") {
        fill(steps, args);
    }
    root
}

fn fill(value: &mut Value, args: &Map<String, Value>) {
    match value {
        Value::String(text) if text.contains('{') => *text = fill_text(text, args),
        Value::Array(items) => items.iter_mut().for_each(|item| fill(item, args)),
        Value::Object(map) => map.values_mut().for_each(|value| fill(value, args)),
        _ => {}
    }
}

/// `{name}` and `{{name}}` of an argument become its value; everything else in braces stays.
fn fill_text(text: &str, args: &Map<String, Value>) -> String {
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(start) = rest.find('{') {
        out.push_str(&rest[..start]);
        rest = &rest[start..];
        let double = rest.starts_with("{{");
        let (open, close) = if double { ("{{", "}}") } else { ("{", "}") };
        let inner = &rest[open.len()..];
        let end = inner.find(close);
        let found = end.and_then(|end| args.get(inner[..end].trim()).map(|value| (end, value)));
        match found {
            Some((end, value)) => {
                match value {
                    Value::String(text) => out.push_str(text),
                    other => out.push_str(&other.to_string()),
                }
                rest = &inner[end + close.len()..];
            }
            None => {
                out.push_str(open);
                rest = inner;
            }
        }
    }
    out.push_str(rest);
    out
}
