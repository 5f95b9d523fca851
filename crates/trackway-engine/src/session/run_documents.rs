//! Documents: built from the declared outputs of a run.
//!
//! Headers, logs and tables are built along one path, the path to the newest node: otherwise rows of
//! an abandoned branch would mix with rows of the branch that replaced it. In a run without branches
//! that path is the whole run. Notes and checkpoints are independent and are kept from every branch.

use std::collections::HashMap;

use serde_json::{Map, Value};
use trackway_domain::{DocumentChange, DocumentKind, NodeId, RunId, Timestamp};

use super::{RunTree, note_documents};

/// Field of a header that holds a value without fields.
const PLAIN_FIELD: &str = "value";

#[derive(Debug, Clone, PartialEq)]
pub struct RunDocument {
    pub name: String,
    pub kind: DocumentKind,
    pub run: RunId,
    pub value: Value,
    /// The step that it belongs to. This and the fields below are only set for notes and checkpoints.
    pub step: Option<String>,
    pub node: Option<NodeId>,
    pub at: Option<Timestamp>,
}

impl RunTree {
    /// Headers, logs and tables at the newest node, then all notes and checkpoints.
    pub fn run_documents(&self) -> Vec<RunDocument> {
        let mut documents = match self.nodes.last() {
            Some(tip) => self.documents_at_node(tip.id),
            None => Vec::new(),
        };
        documents.extend(note_documents::note_documents_of_run(self));
        documents
    }

    /// Headers, logs and tables at that node, in the order in which they first appear.
    pub fn documents_at_node(&self, node: NodeId) -> Vec<RunDocument> {
        let path = self.answers_on_path_to(node);
        let changes = self.opening_changes.iter().chain(path.iter().flat_map(|edge| &edge.documents));
        let documents = documents_from_changes(changes).into_iter().map(|(name, kind, value)| RunDocument {
            name,
            kind,
            run: self.id(),
            value,
            step: None,
            node: None,
            at: None,
        });
        documents.collect()
    }
}

/// Whether several outputs form one document of this kind.
pub(super) const fn is_reducible(kind: DocumentKind) -> bool {
    match kind {
        DocumentKind::Header | DocumentKind::Log | DocumentKind::Table => true,
        DocumentKind::Notes | DocumentKind::Checkpoint => false,
    }
}

/// The documents that these changes build, each with its name and kind.
pub fn documents_from_changes<'a>(
    changes: impl Iterator<Item = &'a DocumentChange>,
) -> Vec<(String, DocumentKind, Value)> {
    // A workflow declares a handful of documents: searching a list is faster than building a map.
    let mut growing: Vec<(&str, DocumentKind, DocumentBuilder)> = Vec::new();
    for change in changes.filter(|change| is_reducible(change.kind)) {
        let known = |(name, kind, _): &(&str, DocumentKind, DocumentBuilder)| {
            *name == change.name && *kind == change.kind
        };
        let place = growing.iter().position(known).unwrap_or_else(|| {
            growing.push((&change.name, change.kind, DocumentBuilder::default()));
            growing.len() - 1
        });
        growing[place].2.apply_document_change(change);
    }
    let whole = |(name, kind, growing): (&str, _, DocumentBuilder)| {
        (name.to_owned(), kind, growing.into_document_value(kind))
    };
    growing.into_iter().map(whole).collect()
}

/// A document while it is being built.
#[derive(Debug, Default)]
struct DocumentBuilder {
    fields: Map<String, Value>,
    rows: Vec<Value>,
    /// The index of the row of each key.
    keys: HashMap<String, usize>,
}

impl DocumentBuilder {
    fn apply_document_change(&mut self, change: &DocumentChange) {
        match change.kind {
            DocumentKind::Header => match &change.value {
                Value::Object(fields) => {
                    for (field, value) in fields {
                        self.fields.insert(field.clone(), value.clone());
                    }
                }
                plain => {
                    self.fields.insert(PLAIN_FIELD.to_owned(), plain.clone());
                }
            },
            DocumentKind::Log => self.rows.extend(list_items_or_single(&change.value).iter().cloned()),
            DocumentKind::Table => {
                for row in list_items_or_single(&change.value) {
                    self.upsert_table_row(row, change.key.as_deref());
                }
            }
            DocumentKind::Notes | DocumentKind::Checkpoint => {}
        }
    }

    /// The first row of a key keeps its position; a later one replaces its content.
    fn upsert_table_row(&mut self, row: &Value, key: Option<&str>) {
        let Some(key) = table_row_key(row, key) else {
            self.rows.push(row.clone());
            return;
        };
        match self.keys.get(&key) {
            Some(place) => self.rows[*place] = row.clone(),
            None => {
                self.keys.insert(key, self.rows.len());
                self.rows.push(row.clone());
            }
        }
    }

    fn into_document_value(self, kind: DocumentKind) -> Value {
        match kind {
            DocumentKind::Header => Value::Object(self.fields),
            DocumentKind::Log | DocumentKind::Table | DocumentKind::Notes | DocumentKind::Checkpoint => {
                Value::Array(self.rows)
            }
        }
    }
}

/// A list gives its items, any other value gives one item.
fn list_items_or_single(value: &Value) -> &[Value] {
    match value {
        Value::Array(items) => items,
        one => std::slice::from_ref(one),
    }
}

/// The key of a row, as text: the value at the pointer, or in the field of that name. Without a key
/// declaration the row itself is the key. A row that lacks its key matches no other row.
fn table_row_key(row: &Value, key: Option<&str>) -> Option<String> {
    let found = match key {
        None | Some("") => Some(row),
        Some(pointer) if pointer.starts_with('/') => row.pointer(pointer),
        Some(field) => row.get(field),
    };
    found.map(Value::to_string)
}
