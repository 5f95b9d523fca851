//! Prompt steps: work for the driver of the run.

use serde_json::Value;

use super::file_reader::{DefinitionFileReader, Functions};
use super::file_value::{FileValue, ObjectFields};
use super::step_parser::StepHeader;
use super::{assessment_parser, prompt_functions};
use crate::model::{Condition, PromptFragment, PromptStep, Step, StepKind};

impl DefinitionFileReader<'_, '_> {
    /// The step, and the steps that check it.
    pub(super) fn parse_prompt_step(
        &self,
        fields: &ObjectFields<'_>,
        header: &StepHeader,
        functions: &Functions,
    ) -> Vec<Step> {
        let mut parts: Vec<String> = Vec::new();
        parts.extend(fields.get_and_mark_known("agentRole").and_then(|at| self.expect_template(&at)));
        let prompt = fields.get_and_mark_known("prompt").and_then(|at| self.expect_template(&at));
        let blocks = fields.get_and_mark_known("promptBlocks").and_then(|at| self.parse_prompt_blocks(&at));
        if prompt.is_none()
            && blocks.is_none()
            && !fields.has_key("prompt")
            && !fields.has_key("promptBlocks")
        {
            if fields.value.sink.is_strict {
                fields.value.report_finding(
                    "the step says nothing to do: it needs `prompt`, `ask`, `tool`, `emit`, `status`, `reject`, `workflow`, \
                     `switch`, `map` or `loop`",
                );
            }
            parts.push(header.title.clone());
        }
        parts.extend(prompt);
        parts.extend(blocks);
        let mut prompt = self.build_prompt_step(fields, parts, functions);
        prompt.fragments = self.parse_prompt_fragments(fields);
        prompt.agent =
            fields.get_and_mark_known("agent").and_then(|at| at.expect_nonempty_text()).map(str::to_owned);
        prompt.output = fields.get_and_mark_known("outputContract").and_then(|at| at.parse_output_contract());
        prompt.criteria =
            fields.get_and_mark_known("validationCriteria").and_then(|at| at.parse_notes_criteria());
        prompt.assessments = self.referenced_assessments(fields);
        prompt.consequences = assessment_parser::parse_consequences(fields, &prompt.assessments);
        let mut steps = vec![header.build_step(StepKind::Prompt(Box::new(prompt)))];
        steps.extend(
            fields
                .get_and_mark_known("verification")
                .and_then(|at| self.parse_verification_step(&at, header)),
        );
        steps.extend(fields.get_and_mark_known("audit").and_then(|at| self.parse_audit_step(&at, header)));
        steps
    }

    /// The end of every prompt: guidance, functions, the rules of an included file; and its confirmation.
    pub(super) fn build_prompt_step(
        &self,
        fields: &ObjectFields<'_>,
        mut parts: Vec<String>,
        functions: &Functions,
    ) -> PromptStep {
        let guidance =
            fields.get_and_mark_known("guidance").map(|at| at.expect_text_list()).unwrap_or_default();
        let mut rules: Vec<String> =
            guidance.iter().map(|(at, text)| self.to_template_with_slots(at, text)).collect();
        rules.extend(self.rules.iter().cloned());
        if !rules.is_empty() {
            parts.push(format!("**Guidance**\n\n{}", render_bullet_list(&rules)));
        }
        parts.extend(prompt_functions::render_used_functions(fields, functions));
        let confirm =
            fields.get_and_mark_known("requireConfirmation").and_then(|at| parse_confirmation_condition(&at));
        PromptStep { text: parts.join("\n\n"), confirm, ..PromptStep::default() }
    }

    fn parse_prompt_fragments(&self, fields: &ObjectFields<'_>) -> Vec<PromptFragment> {
        let list =
            fields.get_and_mark_known("promptFragments").map(|at| at.expect_list()).unwrap_or_default();
        let fragment = |at: &FileValue<'_>| {
            let fields = at.expect_object()?;
            fields.mark_keys_known(&["id"]);
            let when = fields.get_and_mark_known("when").and_then(|at| at.parse_condition());
            let text = fields.require_key("text").and_then(|at| self.expect_template(&at));
            fields.report_unknown_keys();
            Some(PromptFragment { when: when.filter(|when| *when != Condition::Always), text: text? })
        };
        list.iter().filter_map(fragment).collect()
    }

    fn parse_verification_step(&self, file_value: &FileValue<'_>, header: &StepHeader) -> Option<Step> {
        let fields = file_value.expect_object()?;
        let command = fields.get_and_mark_known("command").and_then(|at| self.expect_template(&at));
        let prompt = fields.get_and_mark_known("prompt").and_then(|at| self.expect_template(&at));
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
        Some(self.build_follow_up_prompt_step(file_value, header, "verification", "Verification", &parts))
    }

    fn parse_audit_step(&self, file_value: &FileValue<'_>, header: &StepHeader) -> Option<Step> {
        let fields = file_value.expect_object()?;
        let prompt = fields.get_and_mark_known("prompt").and_then(|at| self.expect_template(&at));
        let rubric = fields.get_and_mark_known("rubric").map(|at| at.expect_text_list()).unwrap_or_default();
        let rubric: Vec<String> =
            rubric.iter().map(|(at, text)| self.to_template_with_slots(at, text)).collect();
        fields.report_unknown_keys();
        let mut parts = vec![prompt.unwrap_or_else(|| {
            "Go through the result of the step before with fresh eyes: is it whole, right and good? Say \
             whether it holds, or what has to be mended."
                .to_owned()
        })];
        if !rubric.is_empty() {
            parts.push(format!("**Measure it by**\n\n{}", render_bullet_list(&rubric)));
        }
        Some(self.build_follow_up_prompt_step(file_value, header, "audit", "Audit", &parts))
    }

    /// A prompt step that follows another one.
    pub(super) fn build_follow_up_prompt_step(
        &self,
        file_value: &FileValue<'_>,
        header: &StepHeader,
        suffix: &str,
        title: &str,
        parts: &[String],
    ) -> Step {
        let prompt = PromptStep { text: parts.join("\n\n"), ..PromptStep::default() };
        let step = header.build_follow_up_step(suffix, title, StepKind::Prompt(Box::new(prompt)));
        self.register_step_id(file_value, &step.id);
        step
    }
}

/// When the user is asked for confirmation.
pub(super) fn parse_confirmation_condition(file_value: &FileValue<'_>) -> Option<Condition> {
    match file_value.value {
        Value::Bool(confirm) => confirm.then_some(Condition::Always),
        Value::Object(map) if map.contains_key("kind") => {
            let fields = file_value.expect_object()?;
            let kind = fields.get_and_mark_known("kind")?;
            match kind.expect_text()? {
                "human_approval" => {}
                "coordinator_eval" => {
                    kind.note_ignored_construct("nobody judges instead of the user, who is asked")
                }
                other => {
                    kind.report_unsupported_construct(format!("`{other}` is no known kind of confirmation"))
                }
            }
            let condition = fields.get_and_mark_known("condition").map(|at| at.parse_condition());
            fields.report_unknown_keys();
            condition.unwrap_or(Some(Condition::Always))
        }
        _ => file_value.parse_condition(),
    }
}

pub(super) fn render_bullet_list(items: &[String]) -> String {
    items.iter().map(|item| format!("- {item}")).collect::<Vec<_>>().join("\n")
}
