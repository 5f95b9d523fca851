//! Loops, whose body is inline or elsewhere in the file under an id.

use std::collections::BTreeSet;

use serde_json::Value;

use super::file_reader::{DefinitionFileReader, Functions};
use super::file_value::{FileValue, ObjectFields, is_identifier_path};
use super::prompt_steps::parse_confirmation_condition;
use super::step_parser::StepHeader;
use crate::model::{Condition, LoopKind, LoopRoundCount, LoopStep, Step, StepKind, ValueExpression};
use crate::spelling_suggestion::nearest_known_word;

/// As in WorkRail.
/// Limit (Definitions): rounds of a loop that a file may ask for.
const MOST_ROUNDS: u32 = 1000;
/// The default of a file that names none.
/// Limit (Definitions): rounds of a loop if the file names no number.
const ROUNDS: u32 = 100;

const LOOP_CONTROL: &str = "wr.contracts.loop_control";

/// Ids that loops anywhere in the steps name as their body.
pub(super) fn loop_body_ids(steps: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    collect_loop_body_ids(steps, &mut found);
    found
}

fn collect_loop_body_ids(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect_loop_body_ids(item, found)),
        Value::Object(map) => {
            if map.contains_key("loop")
                && let Some(Value::String(id)) = map.get("body")
            {
                found.insert(id.clone());
            }
            map.values().for_each(|value| collect_loop_body_ids(value, found));
        }
        _ => {}
    }
}

impl DefinitionFileReader<'_, '_> {
    pub(super) fn parse_loop(
        &self,
        fields: &ObjectFields<'_>,
        header: &StepHeader,
        functions: &Functions,
    ) -> Vec<Step> {
        let settings = fields.require_key("loop").and_then(|at| at.expect_object());
        let body = fields.require_key("body");
        let mut steps =
            body.as_ref().map(|at| self.parse_loop_body(at, header, functions)).unwrap_or_default();
        if let Some(confirm) =
            fields.get_and_mark_known("requireConfirmation").and_then(|at| parse_confirmation_condition(&at))
        {
            add_confirmation_to_first_prompt(&mut steps, &confirm, fields);
        }
        let Some(settings) = settings else { return Vec::new() };
        let decides = body.is_some_and(|at| self.has_loop_decision(&at));
        let over = parse_loop_kind(&settings, header, decides);
        let max = settings
            .get_and_mark_known("maxIterations")
            .map_or(Some(ROUNDS), |at| at.expect_integer(1, MOST_ROUNDS));
        let round = name_or_default(&settings, "iterationVar", "currentIteration");
        settings.report_unknown_keys();
        let (Some(over), Some(max)) = (over, max) else { return Vec::new() };
        vec![header.build_step(StepKind::Loop(LoopStep { over, max, round: Some(round), steps }))]
    }

    fn parse_loop_body(
        &self,
        file_value: &FileValue<'_>,
        header: &StepHeader,
        functions: &Functions,
    ) -> Vec<Step> {
        let Some(id) = file_value.value.as_str() else {
            if file_value.value.as_array().is_some_and(Vec::is_empty) {
                file_value.report_finding("a loop needs at least one step");
            }
            return self.parse_steps(file_value, functions);
        };
        let Some(target) = self.find_step_in_file(id) else {
            let all = self.root.get("steps").and_then(Value::as_array).into_iter().flatten();
            let known = all.filter_map(|step| step.get("id")?.as_str());
            file_value.report_with_suggestion(
                format!("there is no step `{id}` for the loop's body"),
                nearest_known_word(id, known),
            );
            return Vec::new();
        };
        if self.open_bodies.iter().any(|open| open == id) {
            file_value.report_finding(format!("the step `{id}` is the body of a loop inside itself"));
            return Vec::new();
        }
        let mut file = self.clone();
        file.open_bodies.push(id.to_owned());
        if self.is_step_id_registered(&format!("{}{id}", self.prefix)) {
            // Another loop has the same body.
            file.prefix = format!("{}.", header.id);
        }
        file.parse_step_with_limits(&target, functions)
    }

    /// Reports bodies that no loop reached: those of loops that contain each other.
    pub(super) fn report_unreached_loop_bodies(&self) {
        for id in &self.loop_bodies {
            if self.sink.has_no_findings()
                && !self.is_step_id_registered(&format!("{}{id}", self.prefix))
                && let Some(at) = self.find_step_in_file(id)
            {
                at.report_finding(
                    "the step is the body of a loop that is inside itself, so that it never runs",
                );
            }
        }
    }

    /// A step of the file's own list.
    fn find_step_in_file(&self, id: &str) -> Option<FileValue<'_>> {
        let steps = self.root.get("steps")?.as_array()?;
        let index = steps.iter().position(|step| step.get("id").and_then(Value::as_str) == Some(id))?;
        Some(FileValue::new(&steps[index], format!("/steps/{index}"), self.sink))
    }

    /// Whether a step of the body sends the loop's decision.
    fn has_loop_decision(&self, body: &FileValue<'_>) -> bool {
        let contract = |step: &Value| {
            step.pointer("/outputContract/contractRef").and_then(Value::as_str) == Some(LOOP_CONTROL)
        };
        match body.value {
            Value::String(id) => self.find_step_in_file(id).is_some_and(|at| contract(at.value)),
            Value::Array(steps) => steps.iter().any(contract),
            _ => false,
        }
    }
}

fn parse_loop_kind(fields: &ObjectFields<'_>, header: &StepHeader, decides: bool) -> Option<LoopKind> {
    let kind = fields.require_key("type")?;
    let kind_text = kind.expect_text()?;
    let condition = fields.get_and_mark_known("condition");
    let source = fields.get_and_mark_known("conditionSource");
    let (count, items) = (fields.get_and_mark_known("count"), fields.get_and_mark_known("items"));
    let item = name_or_default(fields, "itemVar", "currentItem");
    let index = name_or_default(fields, "indexVar", "currentIndex");
    let missing =
        |key: &str| fields.value.report_finding(format!("a loop of type `{kind_text}` needs `{key}`"));
    match kind_text {
        "while" | "until" => {
            let held = |condition: Condition| match kind_text {
                "while" => LoopKind::While(condition),
                _ => LoopKind::Until(condition),
            };
            if let Some(source) = source {
                return parse_loop_condition(&source).map(|sourced| match sourced {
                    LoopCondition::Decision(id) => LoopKind::Decision { id },
                    LoopCondition::Condition(condition) => held(condition),
                });
            }
            // As in WorkRail, a step that sends decisions takes precedence over a condition.
            if decides {
                return Some(LoopKind::Decision { id: Some(header.id.clone()) });
            }
            if condition.is_none() {
                missing("condition");
            }
            condition?.parse_condition().map(held)
        }
        "for" => {
            if count.is_none() {
                missing("count");
            }
            let count = count?;
            let amount = match count.value {
                Value::String(_) => LoopRoundCount::From(count.expect_value_expression()?),
                _ => LoopRoundCount::Number(count.expect_integer(0, MOST_ROUNDS)?),
            };
            Some(LoopKind::Count(amount))
        }
        "forEach" => {
            if items.is_none() {
                missing("items");
            }
            Some(LoopKind::Each { list: items?.expect_value_expression()?, item, index: Some(index) })
        }
        other => {
            kind.report_unsupported_construct(format!(
                "`{other}` is no known type of loop: while, until, for or forEach"
            ));
            // Kept so that the workflow can still be inspected; it is not started.
            Some(LoopKind::Count(LoopRoundCount::Number(0)))
        }
    }
}

enum LoopCondition {
    Decision(Option<String>),
    Condition(Condition),
}

fn parse_loop_condition(file_value: &FileValue<'_>) -> Option<LoopCondition> {
    let fields = file_value.expect_object()?;
    let kind = fields.require_key("kind")?;
    let contract = fields.get_and_mark_known("contractRef");
    let id = fields.get_and_mark_known("loopId").and_then(|at| at.expect_text()).map(str::to_owned);
    let condition = fields.get_and_mark_known("condition");
    fields.report_unknown_keys();
    match kind.expect_text()? {
        "artifact_contract" => {
            if let Some(at) = contract
                && let Some(contract) = at.expect_text()
                && contract != LOOP_CONTROL
            {
                at.report_unsupported_construct(format!(
                    "a loop cannot be ended by `{contract}`, only by `{LOOP_CONTROL}`"
                ));
            }
            Some(LoopCondition::Decision(id))
        }
        "context_variable" => {
            if condition.is_none() {
                file_value.report_finding("`condition` is missing");
            }
            condition?.parse_condition().map(LoopCondition::Condition)
        }
        other => {
            kind.report_unsupported_construct(format!("`{other}` is no known source of a condition"));
            Some(LoopCondition::Decision(id))
        }
    }
}

impl FileValue<'_> {
    /// A name in the context, or a CEL expression; an expression that looks like a name begins with `=`.
    pub(super) fn expect_value_expression(&self) -> Option<ValueExpression> {
        let text = self.expect_nonempty_text()?;
        if is_identifier_path(text) {
            return Some(ValueExpression::Name(text.to_owned()));
        }
        let text = text.strip_prefix('=').unwrap_or(text);
        if let Err(flaw) = super::file_value_checks::check_cel_expression(text) {
            self.report_with_suggestion(
                format!("this is no name: {}", flaw.reason),
                flaw.suggestion.as_deref(),
            );
            return None;
        }
        Some(ValueExpression::Cel(text.to_owned()))
    }
}

pub(super) fn name_or_default(fields: &ObjectFields<'_>, key: &'static str, otherwise: &str) -> String {
    fields.get_and_mark_known(key).and_then(|at| at.expect_identifier()).unwrap_or(otherwise).to_owned()
}

/// A loop is not a visible step: its first prompt is confirmed instead.
fn add_confirmation_to_first_prompt(steps: &mut [Step], confirm: &Condition, fields: &ObjectFields<'_>) {
    match steps.first_mut().map(|step| &mut step.kind) {
        Some(StepKind::Prompt(prompt)) => {
            prompt.confirm.get_or_insert_with(|| confirm.clone());
        }
        _ => fields.value.report_unsupported_construct("the loop's confirmation has no prompt to stand at"),
    }
}
