//! Trackway's own kinds of step: ask, tool, emit, status, reject, workflow, switch, map.

use std::collections::BTreeMap;

use serde_json::Value;

use super::file_reader::{DefinitionFileReader, Functions};
use super::file_value::{FileValue, ObjectFields};
use super::loop_parser::name_or_default;
use super::step_parser::StepHeader;
use crate::model::{
    AskStep, Condition, EmitArtifact, EmitContent, MapStep, OnFailure, RunAnnouncement, StepKind, SwitchCase,
    SwitchStep, ToolStep,
};

/// Items of a map that run at the same time: the default, and the maximum.
/// Limit (Definitions): items of a map that run at once if the file names no number.
const AT_ONCE: u32 = 4;
/// Limit (Definitions): items of a map that run at once.
const MOST_AT_ONCE: u32 = 100;

/// Items of one list.
/// Limit (Definitions): items of one list that a file may ask for.
const MOST_ITEMS: u32 = 10_000;
/// Limit (Definitions): items of one list if the file names no number.
const ITEMS: u32 = 1000;

impl DefinitionFileReader<'_, '_> {
    pub(super) fn parse_native_step(
        &self,
        kind: &'static str,
        fields: &ObjectFields<'_>,
        header: &StepHeader,
        functions: &Functions,
    ) -> Option<StepKind> {
        let at = fields.get_and_mark_known(kind)?;
        match kind {
            "ask" => self.parse_ask_step(&at),
            "tool" => parse_tool_step(&at),
            "emit" => self.parse_emit_artifact(&at).map(StepKind::Emit),
            "status" => {
                self.expect_template(&at).map(|text| StepKind::Announce(RunAnnouncement::Status(text)))
            }
            "reject" => {
                self.expect_template(&at).map(|text| StepKind::Announce(RunAnnouncement::Reject(text)))
            }
            "workflow" => self.parse_nested_workflow(&at, header),
            "switch" => Some(self.parse_switch_step(&at, functions)),
            "map" => self.parse_map_step(&at, functions),
            _ => None,
        }
    }

    fn parse_ask_step(&self, file_value: &FileValue<'_>) -> Option<StepKind> {
        let fields = file_value.expect_object()?;
        let message = fields.require_key("message").and_then(|at| self.expect_template(&at));
        let schema = fields.require_key("schema").and_then(|at| at.expect_json_schema().cloned());
        let authorize = fields.get_and_mark_known("authorize").map_or(Some(false), |at| at.expect_bool());
        let artifact = fields.get_and_mark_known("artifact").map(|at| self.parse_emit_artifact(&at));
        fields.report_unknown_keys();
        let artifact = match artifact {
            Some(artifact) => Some(artifact?),
            None => None,
        };
        Some(StepKind::Ask(AskStep { message: message?, schema: schema?, authorize: authorize?, artifact }))
    }

    fn parse_emit_artifact(&self, file_value: &FileValue<'_>) -> Option<EmitArtifact> {
        let fields = file_value.expect_object()?;
        let artifact = fields.require_key("artifact").and_then(|at| self.expect_template(&at));
        let (text, data) = (fields.get_and_mark_known("text"), fields.get_and_mark_known("data"));
        fields.report_unknown_keys();
        let content = match (text, data) {
            (Some(at), None) => {
                at.expect_text().map(|text| EmitContent::Text(self.to_template_with_slots(&at, text)))
            }
            (None, Some(at)) => at.expect_cel_expression().map(|text| EmitContent::Data(text.to_owned())),
            _ => {
                file_value.report_finding("an artifact has either `text` or `data`");
                None
            }
        };
        Some(EmitArtifact { artifact: artifact?, content: content? })
    }

    fn parse_switch_step(&self, file_value: &FileValue<'_>, functions: &Functions) -> StepKind {
        let list = file_value.expect_list();
        if list.is_empty() && file_value.value.is_array() {
            file_value.report_finding("a switch needs at least one case");
        }
        let last = list.len().saturating_sub(1);
        let case = |(index, at): (usize, &FileValue<'_>)| {
            let fields = at.expect_object()?;
            let (when, otherwise) = (fields.get_and_mark_known("when"), fields.get_and_mark_known("else"));
            let steps = fields.require_key("steps").map(|at| self.parse_steps(&at, functions));
            fields.report_unknown_keys();
            let when = match (when, otherwise) {
                (Some(at), None) => at.parse_condition(),
                (None, Some(at)) if at.expect_bool()? => {
                    if index != last {
                        at.report_finding("`else` is for the last case: those after it would never run");
                    }
                    Some(Condition::Always)
                }
                _ => {
                    at.report_finding("a case has either `when` or `else: true`");
                    None
                }
            };
            Some(SwitchCase { when: when?, steps: steps? })
        };
        StepKind::Switch(SwitchStep { cases: list.iter().enumerate().filter_map(case).collect() })
    }

    fn parse_map_step(&self, file_value: &FileValue<'_>, functions: &Functions) -> Option<StepKind> {
        let fields = file_value.expect_object()?;
        let list = fields.require_key("items").and_then(|at| at.expect_value_expression());
        let item = name_or_default(&fields, "itemVar", "currentItem");
        let index = name_or_default(&fields, "indexVar", "currentIndex");
        let limit =
            fields.get_and_mark_known("limit").map_or(Some(AT_ONCE), |at| at.expect_integer(1, MOST_AT_ONCE));
        let max =
            fields.get_and_mark_known("maxItems").map_or(Some(ITEMS), |at| at.expect_integer(1, MOST_ITEMS));
        let on_failure = fields
            .get_and_mark_known("onFailure")
            .map_or(Some(OnFailure::default()), |at| parse_on_failure(&at));
        let steps = fields.require_key("steps").map(|at| self.parse_steps(&at, functions));
        let output =
            fields.get_and_mark_known("output").and_then(|at| at.expect_cel_expression()).map(str::to_owned);
        fields.report_unknown_keys();
        Some(StepKind::Map(MapStep {
            list: list?,
            item,
            index: Some(index),
            limit: limit?,
            max: max?,
            on_failure: on_failure?,
            steps: steps?,
            output,
        }))
    }
}

fn parse_tool_step(file_value: &FileValue<'_>) -> Option<StepKind> {
    let fields = file_value.expect_object()?;
    let name = fields.require_key("name").and_then(|at| at.expect_nonempty_text());
    let args = fields.get_and_mark_known("args").map(|at| at.expect_arguments()).unwrap_or_default();
    fields.report_unknown_keys();
    Some(StepKind::Tool(ToolStep { name: name?.to_owned(), args }))
}

fn parse_on_failure(file_value: &FileValue<'_>) -> Option<OnFailure> {
    match file_value.expect_text()? {
        "fail" => Some(OnFailure::Fail),
        "skip" => Some(OnFailure::Skip),
        "keep" => Some(OnFailure::Keep),
        other => {
            file_value.report_finding(format!("`{other}` is not known: `fail`, `skip` or `keep`"));
            None
        }
    }
}

impl FileValue<'_> {
    /// Names and values; a text that begins with `=` is an expression, which must parse.
    pub(super) fn expect_arguments(&self) -> BTreeMap<String, Value> {
        let mut arguments = BTreeMap::new();
        for (name, at) in self.expect_entries() {
            let expression = at.value.as_str().and_then(|text| text.strip_prefix('='));
            if let Some(text) = expression.filter(|text| !text.starts_with('='))
                && let Err(flaw) = super::file_value_checks::check_cel_expression(text)
            {
                at.report_with_suggestion(flaw.reason, flaw.suggestion.as_deref());
            }
            arguments.insert(name.to_owned(), at.value.clone());
        }
        arguments
    }
}
