//! Prompts in blocks: goal, limits, procedure, results, checks.

use serde_json::Value;

use super::file_reader::DefinitionFileReader;
use super::file_value::FileValue;
use super::prompt_steps::render_bullet_list;
use super::template_text::escape_as_template;
use super::workrail_texts;

impl DefinitionFileReader<'_, '_> {
    /// The blocks as one text, always in the same order.
    pub(super) fn parse_prompt_blocks(&self, file_value: &FileValue<'_>) -> Option<String> {
        let fields = file_value.expect_object()?;
        let mut parts = Vec::new();
        if let Some(goal) = fields.get_and_mark_known("goal").and_then(|at| self.parse_prompt_block_text(&at))
        {
            parts.push(format!("**Goal**\n\n{goal}"));
        }
        let values = |key| -> Vec<String> {
            let list = fields.get_and_mark_known(key).map(|at| at.expect_list()).unwrap_or_default();
            list.iter().filter_map(|at| self.parse_prompt_block_text(at)).collect()
        };
        let section = |title: &str, text: String| format!("**{title}**\n\n{text}");
        let constraints = values("constraints");
        if !constraints.is_empty() {
            parts.push(section("Keep to", render_bullet_list(&constraints)));
        }
        let procedure = values("procedure");
        if !procedure.is_empty() {
            let lines = procedure.iter().enumerate().map(|(n, line)| format!("{}. {line}", n + 1));
            parts.push(section("How to go about it", lines.collect::<Vec<_>>().join("\n")));
        }
        let results =
            fields.get_and_mark_known("outputRequired").map(|at| at.expect_entries()).unwrap_or_default();
        if !results.is_empty() {
            let line = |(key, at): &(&str, FileValue<'_>)| {
                let says = match at.value {
                    Value::String(text) => self.to_template_with_slots(at, text),
                    other => escape_as_template(&other.to_string()),
                };
                format!("{}: {says}", escape_as_template(key))
            };
            parts.push(section(
                "What to hand in",
                render_bullet_list(&results.iter().map(line).collect::<Vec<_>>()),
            ));
        }
        let verify = values("verify");
        if !verify.is_empty() {
            parts.push(section("Before you go on, check", render_bullet_list(&verify)));
        }
        fields.report_unknown_keys();
        if parts.is_empty() {
            file_value.report_finding("the blocks are empty: there is nothing to do in them");
            return None;
        }
        Some(parts.join("\n\n"))
    }

    /// Text, or a list of parts, some of them by name.
    fn parse_prompt_block_text(&self, file_value: &FileValue<'_>) -> Option<String> {
        if let Some(text) = file_value.value.as_str() {
            return Some(self.to_template_with_slots(file_value, text));
        }
        if !file_value.value.is_array() {
            file_value.report_expected_kind("text, or a list of parts");
            return None;
        }
        Some(file_value.expect_list().iter().filter_map(|at| self.parse_prompt_text_part(at)).collect())
    }

    fn parse_prompt_text_part(&self, file_value: &FileValue<'_>) -> Option<String> {
        let fields = file_value.expect_object()?;
        let kind = fields.require_key("kind")?;
        let part = match kind.expect_text()? {
            "text" => fields
                .require_key("text")
                .and_then(|at| at.expect_text().map(|text| self.to_template_with_slots(&at, text))),
            "ref" => fields.require_key("refId").and_then(|at| {
                let id = at.expect_nonempty_text()?;
                Some(workrail_texts::workrail_snippet_text(id).map_or_else(
                    || {
                        at.note_ignored_construct(format!(
                            "the snippet `{id}` is not known; only its name is shown"
                        ));
                        escape_as_template(&format!("(see `{id}`)"))
                    },
                    str::to_owned,
                ))
            }),
            other => {
                kind.report_finding(format!("`{other}` is no known kind of part: `text` or `ref`"));
                None
            }
        };
        fields.report_unknown_keys();
        part
    }
}
