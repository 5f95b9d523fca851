//! The kinds of step that are our own: ask, tool, emit, status, reject, workflow, switch, map.

use std::collections::BTreeMap;

use serde_json::Value;

use super::cursor::{At, Fields};
use super::file::{File, Functions};
use super::loops::name_or;
use super::step::Common;
use crate::model::{
    Ask, Case, Condition, Emit, EmitContent, Map, OnFailure, Say, StepKind, Switch, Tool,
};

/// Items worked on at the same time: where the file does not say, and at most.
const AT_ONCE: u32 = 4;
const MOST_AT_ONCE: u32 = 100;

/// Items of one list.
const MOST_ITEMS: u32 = 10_000;
const ITEMS: u32 = 1000;

impl File<'_, '_> {
    pub(super) fn own_kind(
        &self,
        kind: &'static str,
        fields: &Fields<'_>,
        common: &Common,
        functions: &Functions,
    ) -> Option<StepKind> {
        let at = fields.get(kind)?;
        match kind {
            "ask" => self.ask(&at),
            "tool" => tool(&at),
            "emit" => self.emit(&at).map(StepKind::Emit),
            "status" => self.filled(&at).map(|text| StepKind::Say(Say::Status(text))),
            "reject" => self.filled(&at).map(|text| StepKind::Say(Say::Reject(text))),
            "workflow" => self.nested(&at, common),
            "switch" => Some(self.switch(&at, functions)),
            "map" => self.map(&at, functions),
            _ => None,
        }
    }

    fn ask(&self, at: &At<'_>) -> Option<StepKind> {
        let fields = at.object()?;
        let message = fields.need("message").and_then(|at| self.filled(&at));
        let schema = fields.need("schema").and_then(|at| at.schema().cloned());
        let authorize = fields.get("authorize").map_or(Some(false), |at| at.flag());
        let artifact = fields.get("artifact").map(|at| self.emit(&at));
        fields.finish();
        let artifact = match artifact {
            Some(artifact) => Some(artifact?),
            None => None,
        };
        Some(StepKind::Ask(Ask {
            message: message?,
            schema: schema?,
            authorize: authorize?,
            artifact,
        }))
    }

    fn emit(&self, at: &At<'_>) -> Option<Emit> {
        let fields = at.object()?;
        let artifact = fields.need("artifact").and_then(|at| self.filled(&at));
        let (text, data) = (fields.get("text"), fields.get("data"));
        fields.finish();
        let content = match (text, data) {
            (Some(at), None) => at.text().map(|text| EmitContent::Text(self.template(&at, text))),
            (None, Some(at)) => at.cel().map(|text| EmitContent::Data(text.to_owned())),
            _ => {
                at.fault("an artifact has either `text` or `data`");
                None
            }
        };
        Some(Emit { artifact: artifact?, content: content? })
    }

    fn switch(&self, at: &At<'_>, functions: &Functions) -> StepKind {
        let list = at.list();
        if list.is_empty() && at.value.is_array() {
            at.fault("a switch needs at least one case");
        }
        let last = list.len().saturating_sub(1);
        let case = |(index, at): (usize, &At<'_>)| {
            let fields = at.object()?;
            let (when, otherwise) = (fields.get("when"), fields.get("else"));
            let steps = fields.need("steps").map(|at| self.steps(&at, functions));
            fields.finish();
            let when = match (when, otherwise) {
                (Some(at), None) => at.condition(),
                (None, Some(at)) if at.flag()? => {
                    if index != last {
                        at.fault("`else` is for the last case: those after it would never run");
                    }
                    Some(Condition::Always)
                }
                _ => {
                    at.fault("a case has either `when` or `else: true`");
                    None
                }
            };
            Some(Case { when: when?, steps: steps? })
        };
        StepKind::Switch(Switch { cases: list.iter().enumerate().filter_map(case).collect() })
    }

    fn map(&self, at: &At<'_>, functions: &Functions) -> Option<StepKind> {
        let fields = at.object()?;
        let list = fields.need("items").and_then(|at| at.source());
        let item = name_or(&fields, "itemVar", "currentItem");
        let index = name_or(&fields, "indexVar", "currentIndex");
        let limit = fields.get("limit").map_or(Some(AT_ONCE), |at| at.whole(1, MOST_AT_ONCE));
        let max = fields.get("maxItems").map_or(Some(ITEMS), |at| at.whole(1, MOST_ITEMS));
        let on_failure =
            fields.get("onFailure").map_or(Some(OnFailure::default()), |at| on_failure(&at));
        let steps = fields.need("steps").map(|at| self.steps(&at, functions));
        let output = fields.get("output").and_then(|at| at.cel()).map(str::to_owned);
        fields.finish();
        Some(StepKind::Map(Map {
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

fn tool(at: &At<'_>) -> Option<StepKind> {
    let fields = at.object()?;
    let name = fields.need("name").and_then(|at| at.filled());
    let args = fields.get("args").map(|at| at.arguments()).unwrap_or_default();
    fields.finish();
    Some(StepKind::Tool(Tool { name: name?.to_owned(), args }))
}

fn on_failure(at: &At<'_>) -> Option<OnFailure> {
    match at.text()? {
        "fail" => Some(OnFailure::Fail),
        "skip" => Some(OnFailure::Skip),
        "keep" => Some(OnFailure::Keep),
        other => {
            at.fault(format!("`{other}` is not known: `fail`, `skip` or `keep`"));
            None
        }
    }
}

impl At<'_> {
    /// Names and values; a text that begins with `=` is an expression, which has to parse.
    pub(super) fn arguments(&self) -> BTreeMap<String, Value> {
        let mut arguments = BTreeMap::new();
        for (name, at) in self.entries() {
            let expression = at.value.as_str().and_then(|text| text.strip_prefix('='));
            if let Some(text) = expression.filter(|text| !text.starts_with('='))
                && let Err(flaw) = super::check::expression(text)
            {
                at.suggest(flaw.reason, flaw.meant.as_deref());
            }
            arguments.insert(name.to_owned(), at.value.clone());
        }
        arguments
    }
}
