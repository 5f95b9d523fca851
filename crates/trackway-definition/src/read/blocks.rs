//! Prompts in blocks: goal, limits, procedure, results, checks.

use serde_json::Value;

use super::cursor::At;
use super::file::File;
use super::phrases;
use super::prompt::bullets;
use super::template::literal;

impl File<'_, '_> {
    /// The blocks as one text, always in the same order.
    pub(super) fn blocks(&self, at: &At<'_>) -> Option<String> {
        let fields = at.object()?;
        let mut parts = Vec::new();
        if let Some(goal) = fields.get("goal").and_then(|at| self.value(&at)) {
            parts.push(format!("**Goal**\n\n{goal}"));
        }
        let values = |key| -> Vec<String> {
            let list = fields.get(key).map(|at| at.list()).unwrap_or_default();
            list.iter().filter_map(|at| self.value(at)).collect()
        };
        let section = |title: &str, text: String| format!("**{title}**\n\n{text}");
        let constraints = values("constraints");
        if !constraints.is_empty() {
            parts.push(section("Keep to", bullets(&constraints)));
        }
        let procedure = values("procedure");
        if !procedure.is_empty() {
            let lines = procedure.iter().enumerate().map(|(n, line)| format!("{}. {line}", n + 1));
            parts.push(section("How to go about it", lines.collect::<Vec<_>>().join("\n")));
        }
        let results = fields.get("outputRequired").map(|at| at.entries()).unwrap_or_default();
        if !results.is_empty() {
            let line = |(key, at): &(&str, At<'_>)| {
                let says = match at.value {
                    Value::String(text) => self.template(at, text),
                    other => literal(&other.to_string()),
                };
                format!("{}: {says}", literal(key))
            };
            parts.push(section(
                "What to hand in",
                bullets(&results.iter().map(line).collect::<Vec<_>>()),
            ));
        }
        let verify = values("verify");
        if !verify.is_empty() {
            parts.push(section("Before you go on, check", bullets(&verify)));
        }
        fields.finish();
        if parts.is_empty() {
            at.fault("the blocks are empty: there is nothing to do in them");
            return None;
        }
        Some(parts.join("\n\n"))
    }

    /// Text, or parts of which some are named.
    fn value(&self, at: &At<'_>) -> Option<String> {
        if let Some(text) = at.value.as_str() {
            return Some(self.template(at, text));
        }
        if !at.value.is_array() {
            at.expected("text, or a list of parts");
            return None;
        }
        Some(at.list().iter().filter_map(|at| self.part(at)).collect())
    }

    fn part(&self, at: &At<'_>) -> Option<String> {
        let fields = at.object()?;
        let kind = fields.need("kind")?;
        let part = match kind.text()? {
            "text" => {
                fields.need("text").and_then(|at| at.text().map(|text| self.template(&at, text)))
            }
            "ref" => fields.need("refId").and_then(|at| {
                let id = at.filled()?;
                Some(phrases::snippet(id).map_or_else(
                    || {
                        at.aside(format!(
                            "the snippet `{id}` is not known; only its name is shown"
                        ));
                        literal(&format!("(see `{id}`)"))
                    },
                    str::to_owned,
                ))
            }),
            other => {
                kind.fault(format!("`{other}` is no known kind of part: `text` or `ref`"));
                None
            }
        };
        fields.finish();
        part
    }
}
