//! Output contracts: one that a step defines, or one of the registry by its name.

use serde_json::json;
use trackway_domain::DocumentKind;

use super::file_value::{FileValue, describe_kind};
use crate::contract_registry;
use crate::model::{DocumentRule, OutputContract, OutputForm};
use crate::schema::example_error;
use crate::suggestion::nearest;

impl FileValue<'_> {
    pub(super) fn parse_contract(&self) -> Option<OutputContract> {
        let fields = self.expect_object()?;
        let reference = fields.get("contractRef");
        let (schema, example) = (fields.get("schema"), fields.get("example"));
        let required = fields.get("required").and_then(|at| at.expect_bool()).unwrap_or(true);
        let documents = fields.get("documents").map(|at| at.expect_list()).unwrap_or_default();
        let documents = documents.iter().filter_map(parse_document_rule).collect();
        fields.report_unknown_keys();
        let form = match (reference, schema) {
            (Some(at), None) => parse_contract_ref(&at),
            (None, Some(schema)) => match example {
                Some(example) => parse_whole_output(&schema, &example),
                None => {
                    self.report("`example` is missing: an agent is shown what fits the schema");
                    None
                }
            },
            _ => {
                self.report("a contract has either `contractRef`, or `schema` and `example`");
                None
            }
        };
        Some(OutputContract { form: form?, required, documents })
    }
}

fn parse_whole_output(schema: &FileValue<'_>, example: &FileValue<'_>) -> Option<OutputForm> {
    let valid = schema.expect_schema()?;
    if let Some(reason) = example_error(valid, example.value) {
        example.report(reason);
    } else if !example.value.is_object() {
        // A call can hold nothing else.
        example.report(format!(
            "an output is an object, found {}; give what it holds a name, such as `items`",
            describe_kind(example.value)
        ));
    }
    Some(OutputForm::WholeOutput { schema: valid.clone(), example: example.value.clone() })
}

fn parse_contract_ref(at: &FileValue<'_>) -> Option<OutputForm> {
    let reference = at.expect_nonempty_text()?;
    if let Some(form) = contract_registry::find_contract(reference) {
        return Some(form);
    }
    if at.sink.is_strict {
        let meant = nearest(reference, contract_registry::names());
        at.report_with_suggestion(format!("there is no contract `{reference}`"), meant);
        return None;
    }
    // Only the kind of its artifact is known.
    let kind = reference.replacen("wr.contracts.", "wr.", 1);
    at.note_ignored(format!(
        "the contract `{reference}` is not known; any artifact of kind `{kind}` will do"
    ));
    let schema = json!({
        "type": "object",
        "required": ["kind"],
        "properties": { "kind": { "const": kind } },
    });
    Some(OutputForm::Artifact { example: json!({ "kind": kind }), schema, kind })
}

fn parse_document_rule(at: &FileValue<'_>) -> Option<DocumentRule> {
    let fields = at.expect_object()?;
    let name = fields.require_key("name").and_then(|at| at.expect_nonempty_text());
    let kind_at = fields.require_key("kind");
    let from = fields.require_key("from").and_then(|at| parse_pointer(&at));
    let key = fields.get("key");
    fields.report_unknown_keys();
    let kind_at = kind_at?;
    let kind = match kind_at.expect_text()? {
        "header" => DocumentKind::Header,
        "log" => DocumentKind::Log,
        "table" => DocumentKind::Table,
        other => {
            kind_at.report(format!("`{other}` is no kind of document: `header`, `log` or `table`"));
            return None;
        }
    };
    let key = match (key, kind) {
        // Without a key, rows are distinguished by their whole content.
        (None, DocumentKind::Table) => Some(String::new()),
        (Some(at), DocumentKind::Table) => Some(parse_row_key(&at)?),
        (Some(at), _) => {
            at.report("only a table has a `key`");
            return None;
        }
        (None, _) => None,
    };
    Some(DocumentRule { name: name?.to_owned(), kind, from: from?, key })
}

/// A pointer into a row, or only the name of one of its fields.
fn parse_row_key(at: &FileValue<'_>) -> Option<String> {
    let text = at.expect_text()?;
    if text.is_empty() || text.starts_with('/') {
        return Some(text.to_owned());
    }
    Some(format!("/{}", text.replace('~', "~0").replace('/', "~1")))
}

fn parse_pointer(at: &FileValue<'_>) -> Option<String> {
    let text = at.expect_text()?;
    if !text.is_empty() && !text.starts_with('/') {
        let meant = format!("/{}", text.replace('.', "/"));
        at.report_with_suggestion(format!("`{text}` is no JSON pointer"), Some(&meant));
        return None;
    }
    Some(text.to_owned())
}
