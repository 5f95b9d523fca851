//! Loops, whose body is written inline or stands elsewhere in the file under an id.

use std::collections::BTreeSet;

use serde_json::Value;

use super::cursor::{At, Fields, is_path};
use super::file::{File, Functions};
use super::prompt::confirmation;
use super::step::Common;
use crate::model::{Amount, Condition, Loop, LoopOver, Source, Step, StepKind};
use crate::suggest::nearest;

/// As in WorkRail.
/// Limit (Definitions): rounds of a loop that a file may ask for.
const MOST_ROUNDS: u32 = 1000;
/// Where the file does not say.
/// Limit (Definitions): rounds of a loop where the file names no number.
const ROUNDS: u32 = 100;

const LOOP_CONTROL: &str = "wr.contracts.loop_control";

/// Ids that loops anywhere in the steps name as their body.
pub(super) fn bodies(steps: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    collect(steps, &mut found);
    found
}

fn collect(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        Value::Object(map) => {
            if map.contains_key("loop")
                && let Some(Value::String(id)) = map.get("body")
            {
                found.insert(id.clone());
            }
            map.values().for_each(|value| collect(value, found));
        }
        _ => {}
    }
}

impl File<'_, '_> {
    pub(super) fn loop_step(
        &self,
        fields: &Fields<'_>,
        common: &Common,
        functions: &Functions,
    ) -> Vec<Step> {
        let settings = fields.need("loop").and_then(|at| at.object());
        let body = fields.need("body");
        let mut steps =
            body.as_ref().map(|at| self.body(at, common, functions)).unwrap_or_default();
        if let Some(confirm) = fields.get("requireConfirmation").and_then(|at| confirmation(&at)) {
            confirm_first(&mut steps, &confirm, fields);
        }
        let Some(settings) = settings else { return Vec::new() };
        let decides = body.is_some_and(|at| self.decides(&at));
        let over = over(&settings, common, decides);
        let max = settings.get("maxIterations").map_or(Some(ROUNDS), |at| at.whole(1, MOST_ROUNDS));
        let round = name_or(&settings, "iterationVar", "currentIteration");
        settings.finish();
        let (Some(over), Some(max)) = (over, max) else { return Vec::new() };
        vec![common.step(StepKind::Loop(Loop { over, max, round: Some(round), steps }))]
    }

    fn body(&self, at: &At<'_>, common: &Common, functions: &Functions) -> Vec<Step> {
        let Some(id) = at.value.as_str() else {
            if at.value.as_array().is_some_and(Vec::is_empty) {
                at.fault("a loop needs at least one step");
            }
            return self.steps(at, functions);
        };
        let Some(target) = self.find(id) else {
            let all = self.root.get("steps").and_then(Value::as_array).into_iter().flatten();
            let known = all.filter_map(|step| step.get("id")?.as_str());
            at.suggest(format!("there is no step `{id}` for the loop's body"), nearest(id, known));
            return Vec::new();
        };
        if self.open.iter().any(|open| open == id) {
            at.fault(format!("the step `{id}` is the body of a loop inside itself"));
            return Vec::new();
        }
        let mut file = self.clone();
        file.open.push(id.to_owned());
        if self.taken(&format!("{}{id}", self.prefix)) {
            // Another loop has the same body.
            file.prefix = format!("{}.", common.id);
        }
        file.step(&target, functions)
    }

    /// Says which bodies no loop came to: those of loops that are inside each other.
    pub(super) fn unreached(&self) {
        for id in &self.bodies {
            if self.sink.clean()
                && !self.taken(&format!("{}{id}", self.prefix))
                && let Some(at) = self.find(id)
            {
                at.fault(
                    "the step is the body of a loop that is inside itself, so that it never runs",
                );
            }
        }
    }

    /// A step of the file's own list.
    fn find(&self, id: &str) -> Option<At<'_>> {
        let steps = self.root.get("steps")?.as_array()?;
        let index =
            steps.iter().position(|step| step.get("id").and_then(Value::as_str) == Some(id))?;
        Some(At::new(&steps[index], format!("/steps/{index}"), self.sink))
    }

    /// Whether a step of the body hands in the decision to go on.
    fn decides(&self, body: &At<'_>) -> bool {
        let contract = |step: &Value| {
            step.pointer("/outputContract/contractRef").and_then(Value::as_str)
                == Some(LOOP_CONTROL)
        };
        match body.value {
            Value::String(id) => self.find(id).is_some_and(|at| contract(at.value)),
            Value::Array(steps) => steps.iter().any(contract),
            _ => false,
        }
    }
}

fn over(fields: &Fields<'_>, common: &Common, decides: bool) -> Option<LoopOver> {
    let kind = fields.need("type")?;
    let kind_text = kind.text()?;
    let condition = fields.get("condition");
    let source = fields.get("conditionSource");
    let (count, items) = (fields.get("count"), fields.get("items"));
    let item = name_or(fields, "itemVar", "currentItem");
    let index = name_or(fields, "indexVar", "currentIndex");
    let missing =
        |key: &str| fields.at.fault(format!("a loop of type `{kind_text}` needs `{key}`"));
    match kind_text {
        "while" | "until" => {
            let held = |condition: Condition| match kind_text {
                "while" => LoopOver::While(condition),
                _ => LoopOver::Until(condition),
            };
            if let Some(source) = source {
                return sourced(&source).map(|sourced| match sourced {
                    Sourced::Decision(id) => LoopOver::Decision { id },
                    Sourced::Condition(condition) => held(condition),
                });
            }
            // As in WorkRail, a step that hands in decisions goes before a condition.
            if decides {
                return Some(LoopOver::Decision { id: Some(common.id.clone()) });
            }
            if condition.is_none() {
                missing("condition");
            }
            condition?.condition().map(held)
        }
        "for" => {
            if count.is_none() {
                missing("count");
            }
            let count = count?;
            let amount = match count.value {
                Value::String(_) => Amount::From(count.source()?),
                _ => Amount::Number(count.whole(0, MOST_ROUNDS)?),
            };
            Some(LoopOver::Count(amount))
        }
        "forEach" => {
            if items.is_none() {
                missing("items");
            }
            Some(LoopOver::Each { list: items?.source()?, item, index: Some(index) })
        }
        other => {
            kind.beyond(format!(
                "`{other}` is no known type of loop: while, until, for or forEach"
            ));
            // Kept so that the workflow can still be looked at; it is not started.
            Some(LoopOver::Count(Amount::Number(0)))
        }
    }
}

enum Sourced {
    Decision(Option<String>),
    Condition(Condition),
}

fn sourced(at: &At<'_>) -> Option<Sourced> {
    let fields = at.object()?;
    let kind = fields.need("kind")?;
    let contract = fields.get("contractRef");
    let id = fields.get("loopId").and_then(|at| at.text()).map(str::to_owned);
    let condition = fields.get("condition");
    fields.finish();
    match kind.text()? {
        "artifact_contract" => {
            if let Some(at) = contract
                && let Some(contract) = at.text()
                && contract != LOOP_CONTROL
            {
                at.beyond(format!(
                    "a loop cannot be ended by `{contract}`, only by `{LOOP_CONTROL}`"
                ));
            }
            Some(Sourced::Decision(id))
        }
        "context_variable" => {
            if condition.is_none() {
                at.fault("`condition` is missing");
            }
            condition?.condition().map(Sourced::Condition)
        }
        other => {
            kind.beyond(format!("`{other}` is no known source of a condition"));
            Some(Sourced::Decision(id))
        }
    }
}

impl At<'_> {
    /// A name in the context, or a CEL expression; one that looks like a name begins with `=`.
    pub(super) fn source(&self) -> Option<Source> {
        let text = self.filled()?;
        if is_path(text) {
            return Some(Source::Name(text.to_owned()));
        }
        let text = text.strip_prefix('=').unwrap_or(text);
        if let Err(flaw) = super::check::expression(text) {
            self.suggest(format!("this is no name: {}", flaw.reason), flaw.meant.as_deref());
            return None;
        }
        Some(Source::Cel(text.to_owned()))
    }
}

pub(super) fn name_or(fields: &Fields<'_>, key: &'static str, otherwise: &str) -> String {
    fields.get(key).and_then(|at| at.name()).unwrap_or(otherwise).to_owned()
}

/// A loop is no step that anybody sees: its first prompt is what is confirmed.
fn confirm_first(steps: &mut [Step], confirm: &Condition, fields: &Fields<'_>) {
    match steps.first_mut().map(|step| &mut step.kind) {
        Some(StepKind::Prompt(prompt)) => {
            prompt.confirm.get_or_insert_with(|| confirm.clone());
        }
        _ => fields.at.beyond("the loop's confirmation has no prompt to stand at"),
    }
}
