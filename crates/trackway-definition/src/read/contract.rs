//! Output contracts: one that a step writes down, or one of the registry by its name.

use serde_json::json;
use trackway_domain::DocumentKind;

use super::cursor::{At, kind};
use crate::contracts;
use crate::model::{Contract, DocumentRule, Form};
use crate::schema::example_fault;
use crate::suggest::nearest;

impl At<'_> {
    pub(super) fn contract(&self) -> Option<Contract> {
        let fields = self.object()?;
        let reference = fields.get("contractRef");
        let (schema, example) = (fields.get("schema"), fields.get("example"));
        let required = fields.get("required").and_then(|at| at.flag()).unwrap_or(true);
        let documents = fields.get("documents").map(|at| at.list()).unwrap_or_default();
        let documents = documents.iter().filter_map(document).collect();
        fields.finish();
        let form = match (reference, schema) {
            (Some(at), None) => registered(&at),
            (None, Some(schema)) => match example {
                Some(example) => whole(&schema, &example),
                None => {
                    self.fault("`example` is missing: an agent is shown what fits the schema");
                    None
                }
            },
            _ => {
                self.fault("a contract has either `contractRef`, or `schema` and `example`");
                None
            }
        };
        Some(Contract { form: form?, required, documents })
    }
}

fn whole(schema: &At<'_>, example: &At<'_>) -> Option<Form> {
    let valid = schema.schema()?;
    if let Some(reason) = example_fault(valid, example.value) {
        example.fault(reason);
    } else if !example.value.is_object() {
        // A call has no place for anything else.
        example.fault(format!(
            "an output is an object, found {}; give what it holds a name, such as `items`",
            kind(example.value)
        ));
    }
    Some(Form::Whole { schema: valid.clone(), example: example.value.clone() })
}

fn registered(at: &At<'_>) -> Option<Form> {
    let reference = at.filled()?;
    if let Some(form) = contracts::find(reference) {
        return Some(form);
    }
    if at.sink.strict {
        let meant = nearest(reference, contracts::names());
        at.suggest(format!("there is no contract `{reference}`"), meant);
        return None;
    }
    // Nothing is known of it but the kind of artifact that it asks for.
    let kind = reference.replacen("wr.contracts.", "wr.", 1);
    at.aside(format!(
        "the contract `{reference}` is not known; any artifact of kind `{kind}` will do"
    ));
    let schema = json!({
        "type": "object",
        "required": ["kind"],
        "properties": { "kind": { "const": kind } },
    });
    Some(Form::Artifact { example: json!({ "kind": kind }), schema, kind })
}

fn document(at: &At<'_>) -> Option<DocumentRule> {
    let fields = at.object()?;
    let name = fields.need("name").and_then(|at| at.filled());
    let kind_at = fields.need("kind");
    let from = fields.need("from").and_then(|at| pointer(&at));
    let key = fields.get("key");
    fields.finish();
    let kind_at = kind_at?;
    let kind = match kind_at.text()? {
        "header" => DocumentKind::Header,
        "log" => DocumentKind::Log,
        "table" => DocumentKind::Table,
        other => {
            kind_at.fault(format!("`{other}` is no kind of document: `header`, `log` or `table`"));
            return None;
        }
    };
    let key = match (key, kind) {
        // Without a key, rows are told apart by all that is in them.
        (None, DocumentKind::Table) => Some(String::new()),
        (Some(at), DocumentKind::Table) => Some(row_key(&at)?),
        (Some(at), _) => {
            at.fault("only a table has a `key`");
            return None;
        }
        (None, _) => None,
    };
    Some(DocumentRule { name: name?.to_owned(), kind, from: from?, key })
}

/// A pointer into a row, or simply the name of one of its fields.
fn row_key(at: &At<'_>) -> Option<String> {
    let text = at.text()?;
    if text.is_empty() || text.starts_with('/') {
        return Some(text.to_owned());
    }
    Some(format!("/{}", text.replace('~', "~0").replace('/', "~1")))
}

fn pointer(at: &At<'_>) -> Option<String> {
    let text = at.text()?;
    if !text.is_empty() && !text.starts_with('/') {
        let meant = format!("/{}", text.replace('.', "/"));
        at.suggest(format!("`{text}` is no JSON pointer"), Some(&meant));
        return None;
    }
    Some(text.to_owned())
}
