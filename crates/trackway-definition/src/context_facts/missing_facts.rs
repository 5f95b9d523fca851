//! Facts that later conditions depend on and that are not set yet.
//!
//! Prompts request what they lack when they are reached. A rule does not: for a rule, an unset name equals
//! nothing, and the step is skipped. So the caller is informed in time.

use std::collections::BTreeSet;

use serde_json::Value;
use trackway_domain::MissingFact;

use super::{item_reads::visit_rule_reads, steps_sharing_context};
use crate::{
    cel_expression,
    context_error::{find_context_value, top_level_name},
    model::{Condition, LoopKind, Step, StepKind, ValueExpression},
    walk::{Walker, loop_variable_names},
};

/// Limit (MCP): facts for later conditions that one step names.
const FACTS_MAX: usize = 12;

/// Limit (MCP): values, and steps, that are named with one such fact.
const NAMED_MAX: usize = 8;

/// Limit (Definitions): later steps that are searched for missing facts at each step of a run.
const STEPS_MAX: usize = 500;

/// The facts that later conditions need, in the order of the steps.
pub(crate) fn missing_facts_ahead(walker: &Walker<'_>) -> Vec<MissingFact> {
    let mut search = MissingFactSearch { found: Vec::new(), loop_names: Vec::new(), steps_left: STEPS_MAX };
    let mut made = BTreeSet::new();
    collect_names_set_by_steps(&walker.definition().steps, &mut made);
    for (list, owner, at, context) in walker.enclosing_step_lists() {
        // A workflow with its own context sets names there.
        collect_names_set_by_steps(list, &mut made);
        let is_known =
            |name: &str| find_context_value(context, name).is_some() || made.contains(top_level_name(name));
        search.search_steps(list.get(at + 1..).unwrap_or_default(), &is_known);
        // The next rounds begin with the first step again.
        if let Some(StepKind::Loop(repeated)) = owner.map(|step| &step.kind) {
            if let (Some(step), LoopKind::While(when) | LoopKind::Until(when)) = (owner, &repeated.over) {
                search.search_condition(step, when, &is_known);
            }
            search.search_steps(list.get(..=at).unwrap_or_default(), &is_known);
        }
        if owner.is_none() {
            search.loop_names.extend(["ended", "reason"]);
            search.search_steps(walker.remaining_exit_steps(), &is_known);
        }
    }
    search.found
}

/// The names that steps set in the context that they share.
fn collect_names_set_by_steps<'d>(steps: &'d [Step], names: &mut BTreeSet<&'d str>) {
    for step in steps {
        names.extend(step.save.as_deref());
        names.extend(step.set.keys().map(String::as_str));
        steps_sharing_context(step).into_iter().for_each(|steps| collect_names_set_by_steps(steps, names));
    }
}

struct MissingFactSearch<'d> {
    found: Vec<MissingFact>,
    /// Names that the loops and maps around the current step set.
    loop_names: Vec<&'d str>,
    steps_left: usize,
}

impl<'d> MissingFactSearch<'d> {
    fn search_steps(&mut self, steps: &'d [Step], is_known: &dyn Fn(&str) -> bool) {
        for step in steps {
            if self.steps_left == 0 || self.found.len() >= FACTS_MAX {
                return;
            }
            self.steps_left -= 1;
            step.when.iter().for_each(|when| self.search_condition(step, when, is_known));
            self.search_inside_step(step, is_known);
        }
    }

    fn search_inside_step(&mut self, step: &'d Step, is_known: &dyn Fn(&str) -> bool) {
        match &step.kind {
            StepKind::Prompt(prompt) => {
                let fragments = prompt.fragments.iter().filter_map(|part| part.when.as_ref());
                let all = fragments.chain(&prompt.confirm);
                all.for_each(|when| self.search_condition(step, when, is_known));
            }
            StepKind::Switch(switch) => {
                switch.cases.iter().for_each(|case| self.search_condition(step, &case.when, is_known));
            }
            StepKind::Loop(repeated) => match &repeated.over {
                LoopKind::While(when) => self.search_condition(step, when, is_known),
                LoopKind::Each { list: ValueExpression::Name(path), .. } => {
                    self.add_missing_fact(step, path, &[], is_known);
                }
                // What an `until` names is set inside it.
                _ => {}
            },
            StepKind::Map(map) => {
                if let ValueExpression::Name(path) = &map.list {
                    self.add_missing_fact(step, path, &[], is_known);
                }
            }
            _ => {}
        }
        let before = self.loop_names.len();
        self.loop_names.extend(loop_variable_names(step));
        steps_sharing_context(step).into_iter().for_each(|steps| self.search_steps(steps, is_known));
        self.loop_names.truncate(before);
    }

    fn search_condition(&mut self, step: &Step, condition: &Condition, is_known: &dyn Fn(&str) -> bool) {
        match condition {
            Condition::Always => {}
            Condition::Cel(source) => {
                for (path, _) in cel_expression::expression_reads(source).read_paths() {
                    self.add_missing_fact(step, &path, &[], is_known);
                }
            }
            Condition::Rule(rule) => {
                visit_rule_reads(rule, &mut |name, values| {
                    self.add_missing_fact(step, name, values, is_known)
                });
            }
        }
    }

    fn add_missing_fact(
        &mut self,
        step: &Step,
        name: &str,
        values: &[Value],
        is_known: &dyn Fn(&str) -> bool,
    ) {
        if self.loop_names.contains(&top_level_name(name)) || is_known(name) {
            return;
        }
        let index = match self.found.iter().position(|fact| fact.name == name) {
            Some(index) => index,
            None if self.found.len() >= FACTS_MAX => return,
            None => {
                let (name, values, steps) = (name.to_owned(), Vec::new(), Vec::new());
                self.found.push(MissingFact { name, values, steps });
                self.found.len() - 1
            }
        };
        let fact = &mut self.found[index];
        for value in values {
            if fact.values.len() < NAMED_MAX && !fact.values.contains(value) {
                fact.values.push(value.clone());
            }
        }
        if fact.steps.len() < NAMED_MAX && !fact.steps.contains(&step.id) {
            fact.steps.push(step.id.clone());
        }
    }
}
