//! Work that is handed to several helpers at once: a prompt that tells whoever drives to delegate it.

use super::cursor::{At, Fields, is_name};
use super::file::{File, Functions};
use super::step::Common;
use super::template::literal;
use crate::model::{Condition, Fragment, Step, StepKind};

const INTRODUCTION: &str = "Hand each of the tasks below to a helper of its own, all at the same time where \
    you can; without helpers, do them one after the other yourself. Keep their results apart until all are \
    there, and put them into your notes.";

const SYNTHESIS: &str = "Bring the results of the delegated tasks together: name what they agree on, settle \
    what they contradict each other in, and write one account of it.";

impl File<'_, '_> {
    pub(super) fn parallel(
        &self,
        fields: &Fields<'_>,
        common: &Common,
        known: &Functions,
    ) -> Vec<Step> {
        let list = fields.need("parallelDelegations").map(|at| at.list()).unwrap_or_default();
        let mut prompt = self.closing(fields, vec![INTRODUCTION.to_owned()], known);
        prompt.fragments = list.iter().filter_map(|at| self.delegation(at)).collect();
        let mut steps = vec![common.step(StepKind::Prompt(Box::new(prompt)))];
        steps.extend(fields.get("synthesis").and_then(|at| self.synthesis(&at, common)));
        steps
    }

    fn delegation(&self, at: &At<'_>) -> Option<Fragment> {
        let fields = at.object()?;
        let workflow = fields.need("workflowId").and_then(|at| at.filled());
        let when = fields.get("runCondition").and_then(|at| at.condition());
        let mut lines = vec![format!("**Task for the workflow `{}`**\n", literal(workflow?))];
        if let Some(goal) = fields.get("goal").and_then(|at| self.filled(&at)) {
            lines.push(format!("{goal}\n"));
        }
        let mut inputs = Vec::new();
        for (key, at) in fields.get("args").map(|at| at.entries()).unwrap_or_default() {
            let value = match at.value.as_str() {
                Some(text) => self.template(&at, text),
                None => literal(&at.value.to_string()),
            };
            inputs.push(format!("- `{}`: {value}", literal(key)));
        }
        for (outer, at) in fields.get("contextMapping").map(|at| at.entries()).unwrap_or_default() {
            if let Some(inner) = at.text() {
                inputs.push(format!("- `{}`: {}", literal(inner), shown(outer)));
            }
        }
        if !inputs.is_empty() {
            lines.push(format!("Start it with this context:\n{}", inputs.join("\n")));
        }
        if let Some(tier) = fields.get("modelTier").and_then(|at| at.text()) {
            lines.push(literal(&format!("A model of this class will do: {tier}.")));
        }
        let tools = fields.get("allowedTools").map(|at| at.texts()).unwrap_or_default();
        if !tools.is_empty() {
            let names: Vec<&str> = tools.iter().map(|(_, name)| *name).collect();
            lines.push(literal(&format!("It needs only these tools: {}.", names.join(", "))));
        }
        fields.finish();
        Some(Fragment {
            when: when.filter(|when| *when != Condition::Always),
            text: lines.join("\n"),
        })
    }

    fn synthesis(&self, at: &At<'_>, common: &Common) -> Option<Step> {
        let fields = at.object()?;
        let prompt = fields.get("prompt").and_then(|at| self.filled(&at));
        let output = fields.get("outputContract").and_then(|at| at.contract());
        fields.finish();
        let text = prompt.unwrap_or_else(|| SYNTHESIS.to_owned());
        let mut step = self.extra(at, common, "synthesis", "Synthesis", &[text]);
        if let StepKind::Prompt(prompt) = &mut step.kind {
            prompt.output = output;
        }
        Some(step)
    }
}

/// The value of a name of the context; unlike in a prompt, it may be missing.
fn shown(name: &str) -> String {
    if is_name(name) {
        format!("{{% if {name} is defined %}}{{{{ {name} }}}}{{% else %}}(not set){{% endif %}}")
    } else {
        literal(&format!("the value of `{name}` in your context"))
    }
}
