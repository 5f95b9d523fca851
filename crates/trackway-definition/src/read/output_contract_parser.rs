//! Output contracts: one that a step defines, or one of the registry by its name.

use serde_json::json;
use trackway_domain::DocumentKind;

use super::file_value::{FileValue, describe_file_value_kind};
use crate::contract_registry;
use crate::model::{OutputContract, OutputContractForm, OutputDocumentRule};
use crate::schema_validation::find_example_error;
use crate::spelling_suggestion::nearest_known_word;

impl FileValue<'_> {
    pub(super) fn parse_output_contract(&self) -> Option<OutputContract> {
        let fields = self.expect_object()?;
        let reference = fields.get_and_mark_known("contractRef");
        let (schema, example) = (fields.get_and_mark_known("schema"), fields.get_and_mark_known("example"));
        let required = fields.get_and_mark_known("required").and_then(|at| at.expect_bool()).unwrap_or(true);
        let documents = fields.get_and_mark_known("documents").map(|at| at.expect_list()).unwrap_or_default();
        let documents = documents.iter().filter_map(parse_document_rule).collect();
        fields.report_unknown_keys();
        let form = match (reference, schema) {
            (Some(at), None) => parse_contract_ref(&at),
            (None, Some(schema)) => match example {
                Some(example) => parse_whole_output_form(&schema, &example),
                None => {
                    self.report_finding("`example` is missing: an agent is shown what fits the schema");
                    None
                }
            },
            _ => {
                self.report_finding("a contract has either `contractRef`, or `schema` and `example`");
                None
            }
        };
        Some(OutputContract { form: form?, required, documents })
    }
}

fn parse_whole_output_form(schema: &FileValue<'_>, example: &FileValue<'_>) -> Option<OutputContractForm> {
    let valid = schema.expect_json_schema()?;
    if let Some(reason) = find_example_error(valid, example.value) {
        example.report_finding(reason);
    } else if !example.value.is_object() {
        // A call can hold nothing else.
        example.report_finding(format!(
            "an output is an object, found {}; give what it holds a name, such as `items`",
            describe_file_value_kind(example.value)
        ));
    }
    Some(OutputContractForm::WholeOutput { schema: valid.clone(), example: example.value.clone() })
}

fn parse_contract_ref(file_value: &FileValue<'_>) -> Option<OutputContractForm> {
    let reference = file_value.expect_nonempty_text()?;
    if let Some(form) = contract_registry::find_output_contract(reference) {
        return Some(form);
    }
    if file_value.sink.is_strict {
        let meant = nearest_known_word(reference, contract_registry::contract_names());
        file_value.report_with_suggestion(format!("there is no contract `{reference}`"), meant);
        return None;
    }
    // Only the kind of its artifact is known.
    let kind = reference.replacen("wr.contracts.", "wr.", 1);
    file_value.note_ignored_construct(format!(
        "the contract `{reference}` is not known; any artifact of kind `{kind}` will do"
    ));
    let schema = json!({
        "type": "object",
        "required": ["kind"],
        "properties": { "kind": { "const": kind } },
    });
    Some(OutputContractForm::Artifact { example: json!({ "kind": kind }), schema, kind })
}

fn parse_document_rule(file_value: &FileValue<'_>) -> Option<OutputDocumentRule> {
    let fields = file_value.expect_object()?;
    let name = fields.require_key("name").and_then(|at| at.expect_nonempty_text());
    let kind_at = fields.require_key("kind");
    let from = fields.require_key("from").and_then(|at| parse_json_pointer(&at));
    let key = fields.get_and_mark_known("key");
    fields.report_unknown_keys();
    let kind_at = kind_at?;
    let kind = match kind_at.expect_text()? {
        "header" => DocumentKind::Header,
        "log" => DocumentKind::Log,
        "table" => DocumentKind::Table,
        other => {
            kind_at.report_finding(format!("`{other}` is no kind of document: `header`, `log` or `table`"));
            return None;
        }
    };
    let key = match (key, kind) {
        // Without a key, rows are distinguished by their whole content.
        (None, DocumentKind::Table) => Some(String::new()),
        (Some(at), DocumentKind::Table) => Some(parse_document_row_key(&at)?),
        (Some(at), _) => {
            at.report_finding("only a table has a `key`");
            return None;
        }
        (None, _) => None,
    };
    Some(OutputDocumentRule { name: name?.to_owned(), kind, from: from?, key })
}

/// A pointer into a row, or only the name of one of its fields.
fn parse_document_row_key(file_value: &FileValue<'_>) -> Option<String> {
    let text = file_value.expect_text()?;
    if text.is_empty() || text.starts_with('/') {
        return Some(text.to_owned());
    }
    Some(format!("/{}", text.replace('~', "~0").replace('/', "~1")))
}

fn parse_json_pointer(file_value: &FileValue<'_>) -> Option<String> {
    let text = file_value.expect_text()?;
    if !text.is_empty() && !text.starts_with('/') {
        let meant = format!("/{}", text.replace('.', "/"));
        file_value.report_with_suggestion(format!("`{text}` is no JSON pointer"), Some(&meant));
        return None;
    }
    Some(text.to_owned())
}
