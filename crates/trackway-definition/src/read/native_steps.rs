//! Trackway's own kinds of step: ask, tool, emit, status, reject, workflow, switch, map.

use std::collections::BTreeMap;

use serde_json::Value;

use super::file_reader::{FileReader, Functions};
use super::file_value::{FileValue, ObjectFields};
use super::loops::name_or_default;
use super::step_header::StepHeader;
use crate::model::{
    Announcement, AskStep, Condition, EmitArtifact, EmitContent, MapStep, OnFailure, StepKind, SwitchCase,
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

impl FileReader<'_, '_> {
    pub(super) fn parse_native_step(
        &self,
        kind: &'static str,
        fields: &ObjectFields<'_>,
        common: &StepHeader,
        functions: &Functions,
    ) -> Option<StepKind> {
        let at = fields.get(kind)?;
        match kind {
            "ask" => self.parse_ask(&at),
            "tool" => parse_tool(&at),
            "emit" => self.parse_emit(&at).map(StepKind::Emit),
            "status" => {
                self.required_template(&at).map(|text| StepKind::Announce(Announcement::Status(text)))
            }
            "reject" => {
                self.required_template(&at).map(|text| StepKind::Announce(Announcement::Reject(text)))
            }
            "workflow" => self.parse_nested(&at, common),
            "switch" => Some(self.parse_switch(&at, functions)),
            "map" => self.parse_map(&at, functions),
            _ => None,
        }
    }

    fn parse_ask(&self, at: &FileValue<'_>) -> Option<StepKind> {
        let fields = at.expect_object()?;
        let message = fields.require_key("message").and_then(|at| self.required_template(&at));
        let schema = fields.require_key("schema").and_then(|at| at.expect_schema().cloned());
        let authorize = fields.get("authorize").map_or(Some(false), |at| at.expect_bool());
        let artifact = fields.get("artifact").map(|at| self.parse_emit(&at));
        fields.report_unknown_keys();
        let artifact = match artifact {
            Some(artifact) => Some(artifact?),
            None => None,
        };
        Some(StepKind::Ask(AskStep { message: message?, schema: schema?, authorize: authorize?, artifact }))
    }

    fn parse_emit(&self, at: &FileValue<'_>) -> Option<EmitArtifact> {
        let fields = at.expect_object()?;
        let artifact = fields.require_key("artifact").and_then(|at| self.required_template(&at));
        let (text, data) = (fields.get("text"), fields.get("data"));
        fields.report_unknown_keys();
        let content = match (text, data) {
            (Some(at), None) => at.expect_text().map(|text| EmitContent::Text(self.to_template(&at, text))),
            (None, Some(at)) => at.expect_expression().map(|text| EmitContent::Data(text.to_owned())),
            _ => {
                at.report("an artifact has either `text` or `data`");
                None
            }
        };
        Some(EmitArtifact { artifact: artifact?, content: content? })
    }

    fn parse_switch(&self, at: &FileValue<'_>, functions: &Functions) -> StepKind {
        let list = at.expect_list();
        if list.is_empty() && at.value.is_array() {
            at.report("a switch needs at least one case");
        }
        let last = list.len().saturating_sub(1);
        let case = |(index, at): (usize, &FileValue<'_>)| {
            let fields = at.expect_object()?;
            let (when, otherwise) = (fields.get("when"), fields.get("else"));
            let steps = fields.require_key("steps").map(|at| self.parse_steps(&at, functions));
            fields.report_unknown_keys();
            let when = match (when, otherwise) {
                (Some(at), None) => at.parse_condition(),
                (None, Some(at)) if at.expect_bool()? => {
                    if index != last {
                        at.report("`else` is for the last case: those after it would never run");
                    }
                    Some(Condition::Always)
                }
                _ => {
                    at.report("a case has either `when` or `else: true`");
                    None
                }
            };
            Some(SwitchCase { when: when?, steps: steps? })
        };
        StepKind::Switch(SwitchStep { cases: list.iter().enumerate().filter_map(case).collect() })
    }

    fn parse_map(&self, at: &FileValue<'_>, functions: &Functions) -> Option<StepKind> {
        let fields = at.expect_object()?;
        let list = fields.require_key("items").and_then(|at| at.expect_source());
        let item = name_or_default(&fields, "itemVar", "currentItem");
        let index = name_or_default(&fields, "indexVar", "currentIndex");
        let limit = fields.get("limit").map_or(Some(AT_ONCE), |at| at.expect_integer(1, MOST_AT_ONCE));
        let max = fields.get("maxItems").map_or(Some(ITEMS), |at| at.expect_integer(1, MOST_ITEMS));
        let on_failure =
            fields.get("onFailure").map_or(Some(OnFailure::default()), |at| parse_on_failure(&at));
        let steps = fields.require_key("steps").map(|at| self.parse_steps(&at, functions));
        let output = fields.get("output").and_then(|at| at.expect_expression()).map(str::to_owned);
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

fn parse_tool(at: &FileValue<'_>) -> Option<StepKind> {
    let fields = at.expect_object()?;
    let name = fields.require_key("name").and_then(|at| at.expect_nonempty_text());
    let args = fields.get("args").map(|at| at.expect_arguments()).unwrap_or_default();
    fields.report_unknown_keys();
    Some(StepKind::Tool(ToolStep { name: name?.to_owned(), args }))
}

fn parse_on_failure(at: &FileValue<'_>) -> Option<OnFailure> {
    match at.expect_text()? {
        "fail" => Some(OnFailure::Fail),
        "skip" => Some(OnFailure::Skip),
        "keep" => Some(OnFailure::Keep),
        other => {
            at.report(format!("`{other}` is not known: `fail`, `skip` or `keep`"));
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
                && let Err(flaw) = super::value_checks::check_expression(text)
            {
                at.report_with_suggestion(flaw.reason, flaw.suggestion.as_deref());
            }
            arguments.insert(name.to_owned(), at.value.clone());
        }
        arguments
    }
}
