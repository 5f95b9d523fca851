//! The shape that a template or an expression expects of a value: the fields that it reads, the list indexes
//! that it reads, and the types of the rest.
//!
//! It is derived from the syntax, so that one answer can name everything that a value needs.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::context_error::ExpectedType;

/// A longer list is not filled for the sake of one index.
/// Limit (Definitions): items of a list that is filled up for an example.
pub(crate) const PLACES_MAX: usize = 64;

/// A placeholder for a name that only the caller knows.
pub(crate) const SOME_NAME: &str = "name";

/// One level deeper into a value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ContextPathSegment {
    Field(String),
    /// This index of a list.
    Index(usize),
    /// Every item of a list.
    EachItem,
    /// Every value of an object, whatever its name.
    AnyField,
}

/// A path in the context.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ContextPath {
    pub(crate) name: String,
    pub(crate) segments: Vec<ContextPathSegment>,
}

impl ContextPath {
    pub(crate) fn from_context_name(name: &str) -> Self {
        Self { name: name.to_owned(), segments: Vec::new() }
    }

    #[must_use]
    pub(crate) fn with_segment(mut self, segment: ContextPathSegment) -> Self {
        self.segments.push(segment);
        self
    }
}

/// What a value has to be, with everything inside it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ValueShape {
    fields: BTreeMap<String, ValueShape>,
    indices: BTreeMap<usize, ValueShape>,
    items: Option<Box<ValueShape>>,
    any_field: Option<Box<ValueShape>>,
    pub(crate) expected: ExpectedType,
}

impl Default for ValueShape {
    fn default() -> Self {
        Self {
            fields: BTreeMap::new(),
            indices: BTreeMap::new(),
            items: None,
            any_field: None,
            expected: ExpectedType::Anything,
        }
    }
}

impl ValueShape {
    /// The shape at a path inside this one, which is created if needed.
    pub(crate) fn get_or_insert_shape_at(&mut self, segments: &[ContextPathSegment]) -> &mut Self {
        let mut shape = self;
        for step in segments {
            shape = match step {
                ContextPathSegment::Field(name) => shape.fields.entry(name.clone()).or_default(),
                ContextPathSegment::Index(index) => shape.indices.entry(*index).or_default(),
                ContextPathSegment::EachItem => shape.items.get_or_insert_with(Box::default),
                ContextPathSegment::AnyField => shape.any_field.get_or_insert_with(Box::default),
            };
        }
        shape
    }

    /// The first known type stays; any type replaces an unknown one.
    pub(crate) fn expect_type_if_unset(&mut self, expected: ExpectedType) {
        if self.expected == ExpectedType::Anything {
            self.expected = expected;
        }
    }

    /// Adds what another reader expects of the same value.
    pub(crate) fn merge_shape(&mut self, other: Self) {
        self.expect_type_if_unset(other.expected);
        for (name, field) in other.fields {
            self.fields.entry(name).or_default().merge_shape(field);
        }
        for (index, shape) in other.indices {
            self.indices.entry(index).or_default().merge_shape(shape);
        }
        if let Some(each) = other.items {
            self.items.get_or_insert_with(Box::default).merge_shape(*each);
        }
        if let Some(any) = other.any_field {
            self.any_field.get_or_insert_with(Box::default).merge_shape(*any);
        }
    }

    /// A list of values of this shape.
    pub(crate) fn into_list_shape(self) -> Self {
        Self { items: Some(Box::new(self)), ..Self::default() }
    }

    pub(crate) fn is_leaf_shape(&self) -> bool {
        self.indices.is_empty() && self.items.is_none() && !self.is_object_shape()
    }

    /// A value that is read by field name is an object, even if it is iterated over as well.
    fn is_object_shape(&self) -> bool {
        !self.fields.is_empty() || self.any_field.is_some()
    }

    pub(crate) fn is_list_shape(&self) -> bool {
        !self.is_object_shape() && !self.is_leaf_shape()
    }

    /// The parts without a known type, in order.
    pub(crate) fn unknown_types_mut(&mut self) -> Vec<&mut ExpectedType> {
        if self.is_leaf_shape() {
            return if self.expected == ExpectedType::Anything {
                vec![&mut self.expected]
            } else {
                Vec::new()
            };
        }
        let parts = self.fields.values_mut().chain(self.indices.values_mut());
        parts
            .chain(self.items.as_deref_mut())
            .chain(self.any_field.as_deref_mut())
            .flat_map(Self::unknown_types_mut)
            .collect()
    }

    /// A value of this shape.
    pub(crate) fn example_value(&self) -> Value {
        if self.is_leaf_shape() {
            return self.expected.to_example_value();
        }
        if self.is_list_shape() {
            let length = self.indices.keys().last().map_or(1, |last| last + 1);
            return (0..length.min(PLACES_MAX))
                .map(|index| self.item_shape_at_index(index).example_value())
                .collect();
        }
        let fields = self.fields.iter().map(|(name, field)| (name.clone(), field.example_value()));
        let any = self.any_field.iter().map(|any| (SOME_NAME.to_owned(), any.example_value()));
        Value::Object(any.chain(fields).collect())
    }

    fn item_shape_at_index(&self, index: usize) -> Self {
        let each = self.items.as_deref();
        self.indices.get(&index).or(each).cloned().unwrap_or_default()
    }

    /// The schema of this shape.
    pub(crate) fn to_json_schema(&self) -> Value {
        if self.is_leaf_shape() {
            return self.expected.to_json_schema();
        }
        let mut schema = Map::new();
        if self.is_list_shape() {
            schema.insert("type".to_owned(), json!("array"));
            if let Some((last, _)) = self.indices.last_key_value() {
                let items = (0..=*last)
                    .take(PLACES_MAX)
                    .map(|index| self.item_shape_at_index(index).to_json_schema());
                schema.insert("minItems".to_owned(), json!(last.saturating_add(1)));
                schema.insert("prefixItems".to_owned(), items.collect());
            }
            let each = self.items.as_ref().map(|each| each.to_json_schema());
            if let Some(each) = each.filter(|each| *each != json!({})) {
                schema.insert("items".to_owned(), each);
            }
        } else {
            let fields = self.fields.iter().map(|(name, field)| (name.clone(), field.to_json_schema()));
            schema.insert("type".to_owned(), json!("object"));
            if !self.fields.is_empty() {
                schema.insert("required".to_owned(), self.fields.keys().cloned().collect());
                schema.insert("properties".to_owned(), Value::Object(fields.collect()));
            }
            let any = self.any_field.as_ref().map(|any| any.to_json_schema());
            if let Some(any) = any.filter(|any| *any != json!({})) {
                schema.insert("additionalProperties".to_owned(), any);
            }
        }
        Value::Object(schema)
    }

    /// The missing parts of a value, as paths below this one with the shape of each.
    pub(crate) fn collect_missing_parts<'s>(
        &'s self,
        path: &str,
        value: &Value,
        found: &mut Vec<(String, &'s Self)>,
    ) {
        let mut part = |name: &str, part: &'s Self, value: Option<&Value>| {
            let path = format!("{path}.{name}");
            match value {
                Some(value) => part.collect_missing_parts(&path, value, found),
                None => found.push((path, part)),
            }
        };
        match value {
            Value::Object(object) => {
                self.fields.iter().for_each(|(name, field)| part(name, field, object.get(name)));
                if let Some(any) = &self.any_field {
                    object.iter().for_each(|(name, value)| part(name, any, Some(value)));
                }
            }
            Value::Array(items) => {
                for (index, shape) in &self.indices {
                    part(&index.to_string(), shape, items.get(*index));
                }
                if let Some(each) = &self.items {
                    for (index, item) in items.iter().enumerate().take(PLACES_MAX) {
                        part(&index.to_string(), each, Some(item));
                    }
                }
            }
            _ => {}
        }
    }

    /// The same value with missing parts added, and examples instead of parts of the wrong kind.
    pub(crate) fn fill_missing_with_examples(&self, value: &Value) -> Value {
        match value {
            Value::Object(object) if self.is_object_shape() => {
                let mut object = object.clone();
                if let Some(any) = &self.any_field {
                    object.values_mut().for_each(|value| *value = any.fill_missing_with_examples(value));
                }
                for (name, field) in &self.fields {
                    let value = object.get(name).map_or_else(
                        || field.example_value(),
                        |value| field.fill_missing_with_examples(value),
                    );
                    object.insert(name.clone(), value);
                }
                Value::Object(object)
            }
            Value::Array(items) if self.is_list_shape() => {
                let length = self.indices.keys().last().map_or(0, |last| last + 1);
                let completed = (0..items.len().max(length.min(PLACES_MAX))).map(|index| {
                    let shape = self.item_shape_at_index(index);
                    items
                        .get(index)
                        .map_or_else(|| shape.example_value(), |item| shape.fill_missing_with_examples(item))
                });
                completed.collect()
            }
            _ if self.is_leaf_shape() && self.expected.accepts_value(value) => value.clone(),
            _ => self.example_value(),
        }
    }

    /// The parts at a path of names alone, with what is read there.
    pub(crate) fn collect_field_paths<'s>(&'s self, path: &str, found: &mut Vec<(String, &'s Self)>) {
        if !self.is_object_shape() || self.any_field.is_some() {
            found.push((path.to_owned(), self));
            return;
        }
        self.fields
            .iter()
            .for_each(|(name, field)| field.collect_field_paths(&format!("{path}.{name}"), found));
    }
}
