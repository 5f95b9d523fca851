//! Facts that conditions ahead of a step decide by and that nobody has set yet.
//!
//! Prompts ask for what they lack when they are reached. A rule does not: for it, a name that is not set
//! is just not equal to anything, and the step is left out. So the caller is told in time.

use std::collections::BTreeSet;

use serde_json::Value;
use trackway_domain::WantedFact;

use super::{reading::rule_reads, shared};
use crate::{
    expression,
    lack::{find, root},
    model::{Condition, LoopOver, Source, Step, StepKind},
    walk::{Walker, own_names},
};

/// Limit (MCP): facts that one step names as wanted by conditions ahead.
const FACTS_MAX: usize = 12;

/// Limit (MCP): values, and steps, that are named with one such fact.
const NAMED_MAX: usize = 8;

/// Limit (Definitions): steps ahead that are searched for wanted facts at each step of a run.
const STEPS_MAX: usize = 500;

/// What conditions ahead want, in the order in which they come.
pub(crate) fn ahead(walker: &Walker<'_>) -> Vec<WantedFact> {
    let mut search = Search { found: Vec::new(), own: Vec::new(), left: STEPS_MAX };
    let mut made = BTreeSet::new();
    set_by(&walker.definition().steps, &mut made);
    for (list, owner, at, context) in walker.around_here() {
        // A workflow with a context of its own sets names there.
        set_by(list, &mut made);
        let known = |name: &str| find(context, name).is_some() || made.contains(root(name));
        search.steps(list.get(at + 1..).unwrap_or_default(), &known);
        // The rounds to come begin with the first step again.
        if let Some(StepKind::Loop(repeated)) = owner.map(|step| &step.kind) {
            if let (Some(step), LoopOver::While(when) | LoopOver::Until(when)) =
                (owner, &repeated.over)
            {
                search.condition(step, when, &known);
            }
            search.steps(list.get(..=at).unwrap_or_default(), &known);
        }
        if owner.is_none() {
            search.own.extend(["ended", "reason"]);
            search.steps(walker.exit_ahead(), &known);
        }
    }
    search.found
}

/// The names that steps set in the context that they share.
fn set_by<'d>(steps: &'d [Step], names: &mut BTreeSet<&'d str>) {
    for step in steps {
        names.extend(step.save.as_deref());
        names.extend(step.set.keys().map(String::as_str));
        shared(step).into_iter().for_each(|steps| set_by(steps, names));
    }
}

struct Search<'d> {
    found: Vec<WantedFact>,
    /// Names that the loops and maps around the step at hand set themselves.
    own: Vec<&'d str>,
    left: usize,
}

impl<'d> Search<'d> {
    fn steps(&mut self, steps: &'d [Step], known: &dyn Fn(&str) -> bool) {
        for step in steps {
            if self.left == 0 || self.found.len() >= FACTS_MAX {
                return;
            }
            self.left -= 1;
            step.when.iter().for_each(|when| self.condition(step, when, known));
            self.inside(step, known);
        }
    }

    fn inside(&mut self, step: &'d Step, known: &dyn Fn(&str) -> bool) {
        match &step.kind {
            StepKind::Prompt(prompt) => {
                let fragments = prompt.fragments.iter().filter_map(|part| part.when.as_ref());
                let all = fragments.chain(&prompt.confirm);
                all.for_each(|when| self.condition(step, when, known));
            }
            StepKind::Switch(switch) => {
                switch.cases.iter().for_each(|case| self.condition(step, &case.when, known));
            }
            StepKind::Loop(repeated) => match &repeated.over {
                LoopOver::While(when) => self.condition(step, when, known),
                LoopOver::Each { list: Source::Name(path), .. } => {
                    self.add(step, path, &[], known);
                }
                // What an `until` names is set inside of it.
                _ => {}
            },
            StepKind::Map(map) => {
                if let Source::Name(path) = &map.list {
                    self.add(step, path, &[], known);
                }
            }
            _ => {}
        }
        let before = self.own.len();
        self.own.extend(own_names(step));
        shared(step).into_iter().for_each(|steps| self.steps(steps, known));
        self.own.truncate(before);
    }

    fn condition(&mut self, step: &Step, condition: &Condition, known: &dyn Fn(&str) -> bool) {
        match condition {
            Condition::Always => {}
            Condition::Cel(source) => {
                for (path, _) in expression::reads(source).paths() {
                    self.add(step, &path, &[], known);
                }
            }
            Condition::Rule(rule) => {
                rule_reads(rule, &mut |name, values| self.add(step, name, values, known));
            }
        }
    }

    fn add(&mut self, step: &Step, name: &str, values: &[Value], known: &dyn Fn(&str) -> bool) {
        if self.own.contains(&root(name)) || known(name) {
            return;
        }
        let place = match self.found.iter().position(|fact| fact.name == name) {
            Some(place) => place,
            None if self.found.len() >= FACTS_MAX => return,
            None => {
                let (name, values, steps) = (name.to_owned(), Vec::new(), Vec::new());
                self.found.push(WantedFact { name, values, steps });
                self.found.len() - 1
            }
        };
        let fact = &mut self.found[place];
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
