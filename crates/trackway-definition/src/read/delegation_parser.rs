//! Work for several helpers at once: a prompt that tells the driver to delegate it.

use super::file_reader::{DefinitionFileReader, Functions};
use super::file_value::{FileValue, ObjectFields, is_identifier};
use super::step_parser::StepHeader;
use super::template_text::escape_as_template;
use crate::model::{Condition, PromptFragment, Step, StepKind};

const INTRODUCTION: &str = "Hand each of the tasks below to a helper of its own, all at the same time where \
    you can; without helpers, do them one after the other yourself. Keep their results apart until all are \
    there, and put them into your notes.";

const SYNTHESIS: &str = "Bring the results of the delegated tasks together: name what they agree on, settle \
    what they contradict each other in, and write one account of it.";

impl DefinitionFileReader<'_, '_> {
    pub(super) fn parse_delegation_steps(
        &self,
        fields: &ObjectFields<'_>,
        header: &StepHeader,
        functions: &Functions,
    ) -> Vec<Step> {
        let list = fields.require_key("parallelDelegations").map(|at| at.expect_list()).unwrap_or_default();
        let mut prompt = self.build_prompt_step(fields, vec![INTRODUCTION.to_owned()], functions);
        prompt.fragments = list.iter().filter_map(|at| self.parse_delegated_task(at)).collect();
        let mut steps = vec![header.build_step(StepKind::Prompt(Box::new(prompt)))];
        steps.extend(
            fields.get_and_mark_known("synthesis").and_then(|at| self.parse_synthesis_step(&at, header)),
        );
        steps
    }

    fn parse_delegated_task(&self, file_value: &FileValue<'_>) -> Option<PromptFragment> {
        let fields = file_value.expect_object()?;
        let workflow = fields.require_key("workflowId").and_then(|at| at.expect_nonempty_text());
        let when = fields.get_and_mark_known("runCondition").and_then(|at| at.parse_condition());
        let mut lines = vec![format!("**Task for the workflow `{}`**\n", escape_as_template(workflow?))];
        if let Some(goal) = fields.get_and_mark_known("goal").and_then(|at| self.expect_template(&at)) {
            lines.push(format!("{goal}\n"));
        }
        let mut inputs = Vec::new();
        for (key, at) in fields.get_and_mark_known("args").map(|at| at.expect_entries()).unwrap_or_default() {
            let value = match at.value.as_str() {
                Some(text) => self.to_template_with_slots(&at, text),
                None => escape_as_template(&at.value.to_string()),
            };
            inputs.push(format!("- `{}`: {value}", escape_as_template(key)));
        }
        for (outer, at) in
            fields.get_and_mark_known("contextMapping").map(|at| at.expect_entries()).unwrap_or_default()
        {
            if let Some(inner) = at.expect_text() {
                inputs.push(format!("- `{}`: {}", escape_as_template(inner), context_value_template(outer)));
            }
        }
        if !inputs.is_empty() {
            lines.push(format!("Start it with this context:\n{}", inputs.join("\n")));
        }
        if let Some(tier) = fields.get_and_mark_known("modelTier").and_then(|at| at.expect_text()) {
            lines.push(escape_as_template(&format!("A model of this class will do: {tier}.")));
        }
        let tools =
            fields.get_and_mark_known("allowedTools").map(|at| at.expect_text_list()).unwrap_or_default();
        if !tools.is_empty() {
            let names: Vec<&str> = tools.iter().map(|(_, name)| *name).collect();
            lines.push(escape_as_template(&format!("It needs only these tools: {}.", names.join(", "))));
        }
        fields.report_unknown_keys();
        Some(PromptFragment { when: when.filter(|when| *when != Condition::Always), text: lines.join("\n") })
    }

    fn parse_synthesis_step(&self, file_value: &FileValue<'_>, header: &StepHeader) -> Option<Step> {
        let fields = file_value.expect_object()?;
        let prompt = fields.get_and_mark_known("prompt").and_then(|at| self.expect_template(&at));
        let output = fields.get_and_mark_known("outputContract").and_then(|at| at.parse_output_contract());
        fields.report_unknown_keys();
        let text = prompt.unwrap_or_else(|| SYNTHESIS.to_owned());
        let mut step =
            self.build_follow_up_prompt_step(file_value, header, "synthesis", "Synthesis", &[text]);
        if let StepKind::Prompt(prompt) = &mut step.kind {
            prompt.output = output;
        }
        Some(step)
    }
}

/// The value of a name of the context; unlike in a prompt, it may be missing.
fn context_value_template(name: &str) -> String {
    if is_identifier(name) {
        format!("{{% if {name} is defined %}}{{{{ {name} }}}}{{% else %}}(not set){{% endif %}}")
    } else {
        escape_as_template(&format!("the value of `{name}` in your context"))
    }
}
