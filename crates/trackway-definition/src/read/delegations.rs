//! Work for several helpers at once: a prompt that tells the driver to delegate it.

use super::file_reader::{FileReader, Functions};
use super::file_value::{FileValue, ObjectFields, is_name};
use super::step_header::StepHeader;
use super::template_text::literal_template;
use crate::model::{Condition, PromptFragment, Step, StepKind};

const INTRODUCTION: &str = "Hand each of the tasks below to a helper of its own, all at the same time where \
    you can; without helpers, do them one after the other yourself. Keep their results apart until all are \
    there, and put them into your notes.";

const SYNTHESIS: &str = "Bring the results of the delegated tasks together: name what they agree on, settle \
    what they contradict each other in, and write one account of it.";

impl FileReader<'_, '_> {
    pub(super) fn parse_delegations(
        &self,
        fields: &ObjectFields<'_>,
        common: &StepHeader,
        functions: &Functions,
    ) -> Vec<Step> {
        let list = fields.require_key("parallelDelegations").map(|at| at.expect_list()).unwrap_or_default();
        let mut prompt = self.finish_prompt(fields, vec![INTRODUCTION.to_owned()], functions);
        prompt.fragments = list.iter().filter_map(|at| self.parse_delegation(at)).collect();
        let mut steps = vec![common.build_step(StepKind::Prompt(Box::new(prompt)))];
        steps.extend(fields.get("synthesis").and_then(|at| self.parse_synthesis(&at, common)));
        steps
    }

    fn parse_delegation(&self, at: &FileValue<'_>) -> Option<PromptFragment> {
        let fields = at.expect_object()?;
        let workflow = fields.require_key("workflowId").and_then(|at| at.expect_nonempty_text());
        let when = fields.get("runCondition").and_then(|at| at.parse_condition());
        let mut lines = vec![format!("**Task for the workflow `{}`**\n", literal_template(workflow?))];
        if let Some(goal) = fields.get("goal").and_then(|at| self.required_template(&at)) {
            lines.push(format!("{goal}\n"));
        }
        let mut inputs = Vec::new();
        for (key, at) in fields.get("args").map(|at| at.expect_entries()).unwrap_or_default() {
            let value = match at.value.as_str() {
                Some(text) => self.to_template(&at, text),
                None => literal_template(&at.value.to_string()),
            };
            inputs.push(format!("- `{}`: {value}", literal_template(key)));
        }
        for (outer, at) in fields.get("contextMapping").map(|at| at.expect_entries()).unwrap_or_default() {
            if let Some(inner) = at.expect_text() {
                inputs.push(format!("- `{}`: {}", literal_template(inner), context_value_template(outer)));
            }
        }
        if !inputs.is_empty() {
            lines.push(format!("Start it with this context:\n{}", inputs.join("\n")));
        }
        if let Some(tier) = fields.get("modelTier").and_then(|at| at.expect_text()) {
            lines.push(literal_template(&format!("A model of this class will do: {tier}.")));
        }
        let tools = fields.get("allowedTools").map(|at| at.expect_text_list()).unwrap_or_default();
        if !tools.is_empty() {
            let names: Vec<&str> = tools.iter().map(|(_, name)| *name).collect();
            lines.push(literal_template(&format!("It needs only these tools: {}.", names.join(", "))));
        }
        fields.report_unknown_keys();
        Some(PromptFragment { when: when.filter(|when| *when != Condition::Always), text: lines.join("\n") })
    }

    fn parse_synthesis(&self, at: &FileValue<'_>, common: &StepHeader) -> Option<Step> {
        let fields = at.expect_object()?;
        let prompt = fields.get("prompt").and_then(|at| self.required_template(&at));
        let output = fields.get("outputContract").and_then(|at| at.parse_contract());
        fields.report_unknown_keys();
        let text = prompt.unwrap_or_else(|| SYNTHESIS.to_owned());
        let mut step = self.follow_up_step(at, common, "synthesis", "Synthesis", &[text]);
        if let StepKind::Prompt(prompt) = &mut step.kind {
            prompt.output = output;
        }
        Some(step)
    }
}

/// The value of a name of the context; unlike in a prompt, it may be missing.
fn context_value_template(name: &str) -> String {
    if is_name(name) {
        format!("{{% if {name} is defined %}}{{{{ {name} }}}}{{% else %}}(not set){{% endif %}}")
    } else {
        literal_template(&format!("the value of `{name}` in your context"))
    }
}
