//! Prompt steps: work for the driver of the run.

use serde_json::Value;

use super::file_reader::{FileReader, Functions};
use super::file_value::{FileValue, ObjectFields};
use super::step_header::StepHeader;
use super::{assessments, prompt_functions};
use crate::model::{Condition, PromptFragment, PromptStep, Step, StepKind};

impl FileReader<'_, '_> {
    /// The step, and the steps that check it.
    pub(super) fn parse_prompt_step(
        &self,
        fields: &ObjectFields<'_>,
        common: &StepHeader,
        functions: &Functions,
    ) -> Vec<Step> {
        let mut parts: Vec<String> = Vec::new();
        parts.extend(fields.get("agentRole").and_then(|at| self.required_template(&at)));
        let prompt = fields.get("prompt").and_then(|at| self.required_template(&at));
        let blocks = fields.get("promptBlocks").and_then(|at| self.parse_prompt_blocks(&at));
        if prompt.is_none() && blocks.is_none() && !fields.has("prompt") && !fields.has("promptBlocks") {
            if fields.value.sink.is_strict {
                fields.value.report(
                    "the step says nothing to do: it needs `prompt`, `ask`, `tool`, `emit`, `status`, `reject`, `workflow`, \
                     `switch`, `map` or `loop`",
                );
            }
            parts.push(common.title.clone());
        }
        parts.extend(prompt);
        parts.extend(blocks);
        let mut prompt = self.finish_prompt(fields, parts, functions);
        prompt.fragments = self.parse_fragments(fields);
        prompt.agent = fields.get("agent").and_then(|at| at.expect_nonempty_text()).map(str::to_owned);
        prompt.output = fields.get("outputContract").and_then(|at| at.parse_contract());
        prompt.criteria = fields.get("validationCriteria").and_then(|at| at.parse_criteria());
        prompt.assessments = self.referenced_assessments(fields);
        prompt.consequences = assessments::parse_consequences(fields, &prompt.assessments);
        let mut steps = vec![common.build_step(StepKind::Prompt(Box::new(prompt)))];
        steps.extend(fields.get("verification").and_then(|at| self.parse_verification(&at, common)));
        steps.extend(fields.get("audit").and_then(|at| self.parse_audit(&at, common)));
        steps
    }

    /// The end of every prompt: guidance, functions, the rules of an included file; and its confirmation.
    pub(super) fn finish_prompt(
        &self,
        fields: &ObjectFields<'_>,
        mut parts: Vec<String>,
        functions: &Functions,
    ) -> PromptStep {
        let guidance = fields.get("guidance").map(|at| at.expect_text_list()).unwrap_or_default();
        let mut rules: Vec<String> = guidance.iter().map(|(at, text)| self.to_template(at, text)).collect();
        rules.extend(self.rules.iter().cloned());
        if !rules.is_empty() {
            parts.push(format!("**Guidance**\n\n{}", bullet_list(&rules)));
        }
        parts.extend(prompt_functions::render_used_functions(fields, functions));
        let confirm = fields.get("requireConfirmation").and_then(|at| parse_confirmation(&at));
        PromptStep { text: parts.join("\n\n"), confirm, ..PromptStep::default() }
    }

    fn parse_fragments(&self, fields: &ObjectFields<'_>) -> Vec<PromptFragment> {
        let list = fields.get("promptFragments").map(|at| at.expect_list()).unwrap_or_default();
        let fragment = |at: &FileValue<'_>| {
            let fields = at.expect_object()?;
            fields.mark_known(&["id"]);
            let when = fields.get("when").and_then(|at| at.parse_condition());
            let text = fields.require_key("text").and_then(|at| self.required_template(&at));
            fields.report_unknown_keys();
            Some(PromptFragment { when: when.filter(|when| *when != Condition::Always), text: text? })
        };
        list.iter().filter_map(fragment).collect()
    }

    fn parse_verification(&self, at: &FileValue<'_>, common: &StepHeader) -> Option<Step> {
        let fields = at.expect_object()?;
        let command = fields.get("command").and_then(|at| self.required_template(&at));
        let prompt = fields.get("prompt").and_then(|at| self.required_template(&at));
        fields.report_unknown_keys();
        let mut parts = Vec::new();
        parts.extend(prompt);
        match command {
            Some(command) => parts.push(format!(
                "Run this command, and report what it says; go on only when it succeeds.\n\n```sh\n{command}\n```"
            )),
            None if parts.is_empty() => parts.push(
                "Run the tests and checks that fit the work of the step before, and report what they say."
                    .to_owned(),
            ),
            None => {}
        }
        Some(self.follow_up_step(at, common, "verification", "Verification", &parts))
    }

    fn parse_audit(&self, at: &FileValue<'_>, common: &StepHeader) -> Option<Step> {
        let fields = at.expect_object()?;
        let prompt = fields.get("prompt").and_then(|at| self.required_template(&at));
        let rubric = fields.get("rubric").map(|at| at.expect_text_list()).unwrap_or_default();
        let rubric: Vec<String> = rubric.iter().map(|(at, text)| self.to_template(at, text)).collect();
        fields.report_unknown_keys();
        let mut parts = vec![prompt.unwrap_or_else(|| {
            "Go through the result of the step before with fresh eyes: is it whole, right and good? Say \
             whether it holds, or what has to be mended."
                .to_owned()
        })];
        if !rubric.is_empty() {
            parts.push(format!("**Measure it by**\n\n{}", bullet_list(&rubric)));
        }
        Some(self.follow_up_step(at, common, "audit", "Audit", &parts))
    }

    /// A prompt step that follows another one.
    pub(super) fn follow_up_step(
        &self,
        at: &FileValue<'_>,
        common: &StepHeader,
        suffix: &str,
        title: &str,
        parts: &[String],
    ) -> Step {
        let prompt = PromptStep { text: parts.join("\n\n"), ..PromptStep::default() };
        let step = common.build_follow_up(suffix, title, StepKind::Prompt(Box::new(prompt)));
        self.register_step(at, &step.id);
        step
    }
}

/// When the user is asked for confirmation.
pub(super) fn parse_confirmation(at: &FileValue<'_>) -> Option<Condition> {
    match at.value {
        Value::Bool(confirm) => confirm.then_some(Condition::Always),
        Value::Object(map) if map.contains_key("kind") => {
            let fields = at.expect_object()?;
            let kind = fields.get("kind")?;
            match kind.expect_text()? {
                "human_approval" => {}
                "coordinator_eval" => kind.note_ignored("nobody judges instead of the user, who is asked"),
                other => kind.report_unsupported(format!("`{other}` is no known kind of confirmation")),
            }
            let condition = fields.get("condition").map(|at| at.parse_condition());
            fields.report_unknown_keys();
            condition.unwrap_or(Some(Condition::Always))
        }
        _ => at.parse_condition(),
    }
}

pub(super) fn bullet_list(items: &[String]) -> String {
    items.iter().map(|item| format!("- {item}")).collect::<Vec<_>>().join("\n")
}
