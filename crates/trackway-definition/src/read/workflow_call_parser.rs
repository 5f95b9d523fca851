//! Other workflows: included as a template with arguments, or nested with their own context.

use serde_json::{Map, Value};

use super::file_reader::{DefinitionFileReader, DraftLookup};
use super::file_value::{FileValue, ObjectFields};
use super::finding_sink::FindingSink;
use super::prompt_steps::parse_confirmation_condition;
use super::routine_arguments;
use super::step_parser::StepHeader;
use super::workflow_parser::{self, EnclosingWorkflows, ParsedWorkflow};
use crate::Finding;
use crate::model::{NestedWorkflow, PromptStep, Step, StepKind};

/// Nested workflows.
/// Limit (Definitions): nested workflows.
const DEEPEST: usize = 16;

/// Templates are the routines with this prefix.
const ROUTINE: &str = "wr.templates.routine.";

impl DefinitionFileReader<'_, '_> {
    /// The steps of a routine instead of the step that calls it.
    pub(super) fn parse_routine_call(&self, fields: &ObjectFields<'_>, header: &StepHeader) -> Vec<Step> {
        let confirm =
            fields.get_and_mark_known("requireConfirmation").and_then(|at| parse_confirmation_condition(&at));
        let Some(call) = fields.get_and_mark_known("templateCall").and_then(|at| at.expect_object()) else {
            return Vec::new();
        };
        let template = call.require_key("templateId");
        let args = call.get_and_mark_known("args");
        let args = args.as_ref().and_then(|at| at.expect_object().and(at.value.as_object()));
        call.report_unknown_keys();
        let Some(template) = template else { return Vec::new() };
        let Some(id) = template.expect_text() else { return Vec::new() };
        let Some(name) = id.strip_prefix(ROUTINE) else {
            template.report_unsupported_construct(format!(
                "there is no template `{id}`; templates are named `{ROUTINE}…`"
            ));
            return vec![empty_placeholder_step(header)];
        };
        let workflow = format!("wr.routine-{name}");
        let none = Map::new();
        let args = args.unwrap_or(&none);
        let absent = |library: &DraftLookup<'_>| library(&workflow).is_none();
        if self.links.lookup.is_some_and(absent) {
            template.report_unsupported_construct(missing_workflow_message(&workflow));
            return vec![empty_placeholder_step(header)];
        }
        let Some(top) = self.parse_inner_workflow(&template, &workflow, &header.id, Some(args)) else {
            return Vec::new();
        };
        let mut steps = top.steps;
        if let Some(confirm) = confirm {
            // A called routine is confirmed when it is done.
            match last_prompt_mut(&mut steps) {
                Some(prompt) => {
                    prompt.confirm.get_or_insert(confirm);
                }
                None => template.report_unsupported_construct(
                    "`requireConfirmation` has no effect: the routine has no prompt to confirm",
                ),
            }
        }
        match top.input {
            // An included routine has the context of the caller, which has to fit.
            Some(input) => {
                let input = Some(input);
                let nested = NestedWorkflow { workflow, context: None, input, steps, output: None };
                vec![header.build_step(StepKind::Nested(nested))]
            }
            None if header.when.is_some() => vec![header.build_step(StepKind::Group(steps))],
            None => steps,
        }
    }

    pub(super) fn parse_nested_workflow(
        &self,
        file_value: &FileValue<'_>,
        header: &StepHeader,
    ) -> Option<StepKind> {
        let fields = file_value.expect_object()?;
        let id = fields.require_key("id");
        let context = fields.get_and_mark_known("context").map(|at| at.expect_arguments());
        let output =
            fields.get_and_mark_known("output").and_then(|at| at.expect_cel_expression()).map(str::to_owned);
        fields.report_unknown_keys();
        let id = id?;
        let workflow = id.expect_nonempty_text()?.to_owned();
        let ParsedWorkflow { input, steps, .. } =
            self.parse_inner_workflow(&id, &workflow, &header.id, None)?;
        Some(StepKind::Nested(NestedWorkflow { workflow, context, input, steps, output }))
    }

    /// Another workflow; the ids of its steps get the id of the calling step as a prefix.
    fn parse_inner_workflow(
        &self,
        file_value: &FileValue<'_>,
        workflow: &str,
        id: &str,
        args: Option<&Map<String, Value>>,
    ) -> Option<ParsedWorkflow> {
        self.links.references.borrow_mut().insert(workflow.to_owned());
        let library = self.links.lookup?;
        if self.enclosing_workflows.iter().any(|open| open == workflow) {
            let way = self.enclosing_workflows.join(" → ");
            file_value.report_finding(format!("the workflow contains itself: {way} → {workflow}"));
            return None;
        }
        if self.enclosing_workflows.len() >= DEEPEST {
            file_value.report_finding(format!("workflows are nested more than {DEEPEST} deep"));
            return None;
        }
        let Some(draft) = library(workflow) else {
            file_value.report_finding(missing_workflow_message(workflow));
            return None;
        };
        let filled =
            args.map(|args| routine_arguments::fill_routine_arguments(draft.draft_root_value(), args));
        if let Some(args) = args {
            report_omitted_arguments(file_value, draft.draft_root_value(), args);
        }
        let root = filled.as_ref().unwrap_or_else(|| draft.draft_root_value());
        let sink = FindingSink::new(draft.is_strict());
        let inside =
            EnclosingWorkflows { workflows: self.enclosing_workflows.clone(), prefix: format!("{id}.") };
        let top = workflow_parser::parse_workflow_file(root, &sink, self.links, Some(inside));
        let (faults, unheeded) = sink.into_findings_and_unsupported();
        for fault in faults {
            let message = format!("in `{workflow}` at `{}`: {}", fault.path, fault.message);
            let fault =
                Finding { path: file_value.path.clone(), line: None, message, suggestion: fault.suggestion };
            file_value.sink.add_finding(fault);
        }
        for note in unheeded.into_iter().filter(|note| note.matters) {
            file_value.sink.report_unsupported_construct(
                &file_value.path,
                format!("in `{workflow}` at `{}`: {}", note.path, note.message),
            );
        }
        if !top.on_exit.is_empty() {
            file_value.report_unsupported_construct(format!(
                "the `onExit` of `{workflow}` does not run inside another workflow"
            ));
        }
        Some(top)
    }
}

fn missing_workflow_message(workflow: &str) -> String {
    format!("there is no workflow `{workflow}`, or it cannot be read")
}

/// A placeholder for an unknown workflow, so that this one can still be inspected; it is not started.
fn empty_placeholder_step(header: &StepHeader) -> Step {
    header.build_step(StepKind::Group(Vec::new()))
}

/// Reports arguments that a routine uses and the call does not pass. A name in double braces may also be one
/// of the context, which is requested when the prompt is shown.
fn report_omitted_arguments(file_value: &FileValue<'_>, routine: &Value, args: &Map<String, Value>) {
    let places = routine_arguments::routine_argument_names(routine).into_iter();
    for name in places.filter(|name| !args.contains_key(*name)) {
        let message = format!(
            "the routine has a place for `{{{name}}}`, and the call has no argument `{name}`: it \
             is shown as it stands"
        );
        if file_value.sink.is_strict {
            file_value
                .report_finding(format!("{message}; where that is meant, say `{name}: \"{{{name}}}\"`"));
        } else {
            file_value.note_ignored_construct(message);
        }
    }
}

/// The last prompt of a list of steps, or of their inner steps.
fn last_prompt_mut(steps: &mut [Step]) -> Option<&mut PromptStep> {
    steps.iter_mut().rev().find_map(|step| match &mut step.kind {
        StepKind::Prompt(prompt) => Some(&mut **prompt),
        StepKind::Group(steps) => last_prompt_mut(steps),
        StepKind::Loop(repeated) => last_prompt_mut(&mut repeated.steps),
        StepKind::Nested(nested) => last_prompt_mut(&mut nested.steps),
        StepKind::Map(map) => last_prompt_mut(&mut map.steps),
        // Only one of the cases runs, so none of them is certainly the last.
        _ => None,
    })
}
