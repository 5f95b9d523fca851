//! Prompt steps: work for whoever drives the run.

use serde_json::Value;

use super::cursor::{At, Fields};
use super::file::{File, Functions};
use super::step::Common;
use super::{assess, functions};
use crate::model::{Condition, Fragment, Prompt, Step, StepKind};

impl File<'_, '_> {
    /// The step, and those that check it.
    pub(super) fn prompt_step(
        &self,
        fields: &Fields<'_>,
        common: &Common,
        known: &Functions,
    ) -> Vec<Step> {
        let mut parts: Vec<String> = Vec::new();
        parts.extend(fields.get("agentRole").and_then(|at| self.filled(&at)));
        let prompt = fields.get("prompt").and_then(|at| self.filled(&at));
        let blocks = fields.get("promptBlocks").and_then(|at| self.blocks(&at));
        if prompt.is_none()
            && blocks.is_none()
            && !fields.has("prompt")
            && !fields.has("promptBlocks")
        {
            if fields.at.sink.strict {
                fields.at.fault(
                    "the step says nothing to do: it needs `prompt`, `ask`, `tool`, `emit`, `status`, `reject`, `workflow`, \
                     `switch`, `map` or `loop`",
                );
            }
            parts.push(common.title.clone());
        }
        parts.extend(prompt);
        parts.extend(blocks);
        let mut prompt = self.closing(fields, parts, known);
        prompt.fragments = self.fragments(fields);
        prompt.agent = fields.get("agent").and_then(|at| at.filled()).map(str::to_owned);
        prompt.output = fields.get("outputContract").and_then(|at| at.contract());
        prompt.criteria = fields.get("validationCriteria").and_then(|at| at.criteria());
        prompt.assessments = self.assessments(fields);
        prompt.consequences = assess::consequences(fields, &prompt.assessments);
        let mut steps = vec![common.step(StepKind::Prompt(Box::new(prompt)))];
        steps.extend(fields.get("verification").and_then(|at| self.verification(&at, common)));
        steps.extend(fields.get("audit").and_then(|at| self.audit(&at, common)));
        steps
    }

    /// What ends every prompt: guidance, functions, the rules of a file in place; and its confirmation.
    pub(super) fn closing(
        &self,
        fields: &Fields<'_>,
        mut parts: Vec<String>,
        known: &Functions,
    ) -> Prompt {
        let guidance = fields.get("guidance").map(|at| at.texts()).unwrap_or_default();
        let mut rules: Vec<String> =
            guidance.iter().map(|(at, text)| self.template(at, text)).collect();
        rules.extend(self.rules.iter().cloned());
        if !rules.is_empty() {
            parts.push(format!("**Guidance**\n\n{}", bullets(&rules)));
        }
        parts.extend(functions::used(fields, known));
        let confirm = fields.get("requireConfirmation").and_then(|at| confirmation(&at));
        Prompt { text: parts.join("\n\n"), confirm, ..Prompt::default() }
    }

    fn fragments(&self, fields: &Fields<'_>) -> Vec<Fragment> {
        let list = fields.get("promptFragments").map(|at| at.list()).unwrap_or_default();
        let fragment = |at: &At<'_>| {
            let fields = at.object()?;
            fields.knows(&["id"]);
            let when = fields.get("when").and_then(|at| at.condition());
            let text = fields.need("text").and_then(|at| self.filled(&at));
            fields.finish();
            Some(Fragment { when: when.filter(|when| *when != Condition::Always), text: text? })
        };
        list.iter().filter_map(fragment).collect()
    }

    fn verification(&self, at: &At<'_>, common: &Common) -> Option<Step> {
        let fields = at.object()?;
        let command = fields.get("command").and_then(|at| self.filled(&at));
        let prompt = fields.get("prompt").and_then(|at| self.filled(&at));
        fields.finish();
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
        Some(self.extra(at, common, "verification", "Verification", &parts))
    }

    fn audit(&self, at: &At<'_>, common: &Common) -> Option<Step> {
        let fields = at.object()?;
        let prompt = fields.get("prompt").and_then(|at| self.filled(&at));
        let rubric = fields.get("rubric").map(|at| at.texts()).unwrap_or_default();
        let rubric: Vec<String> = rubric.iter().map(|(at, text)| self.template(at, text)).collect();
        fields.finish();
        let mut parts = vec![prompt.unwrap_or_else(|| {
            "Go through the result of the step before with fresh eyes: is it whole, right and good? Say \
             whether it holds, or what has to be mended."
                .to_owned()
        })];
        if !rubric.is_empty() {
            parts.push(format!("**Measure it by**\n\n{}", bullets(&rubric)));
        }
        Some(self.extra(at, common, "audit", "Audit", &parts))
    }

    /// A prompt step that follows another one.
    pub(super) fn extra(
        &self,
        at: &At<'_>,
        common: &Common,
        suffix: &str,
        title: &str,
        parts: &[String],
    ) -> Step {
        let prompt = Prompt { text: parts.join("\n\n"), ..Prompt::default() };
        let step = common.follow(suffix, title, StepKind::Prompt(Box::new(prompt)));
        self.take(at, &step.id);
        step
    }
}

/// When the user is asked first.
pub(super) fn confirmation(at: &At<'_>) -> Option<Condition> {
    match at.value {
        Value::Bool(confirm) => confirm.then_some(Condition::Always),
        Value::Object(map) if map.contains_key("kind") => {
            let fields = at.object()?;
            let kind = fields.get("kind")?;
            match kind.text()? {
                "human_approval" => {}
                "coordinator_eval" => kind.aside("nobody judges instead of the user, who is asked"),
                other => kind.beyond(format!("`{other}` is no known kind of confirmation")),
            }
            let condition = fields.get("condition").map(|at| at.condition());
            fields.finish();
            condition.unwrap_or(Some(Condition::Always))
        }
        _ => at.condition(),
    }
}

pub(super) fn bullets(items: &[String]) -> String {
    items.iter().map(|item| format!("- {item}")).collect::<Vec<_>>().join("\n")
}
