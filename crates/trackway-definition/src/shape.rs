//! What a template or an expression takes a value for: the fields that it looks into, the places of a
//! list that it reads, what it does with the rest.
//!
//! It is read off the syntax, so that one answer can say all that a value has to have.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::lack::Like;

/// A longer list is not filled up for the sake of one place in it.
/// Limit (Definitions): items of a list that is filled up for an example.
pub(crate) const PLACES_MAX: usize = 64;

/// Stands for a name that only the caller knows.
pub(crate) const SOME_NAME: &str = "name";

/// One step further into a value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Step {
    Field(String),
    /// This place of a list.
    At(usize),
    /// Every item of a list.
    Each,
    /// Every value of an object, whatever its name.
    Any,
}

/// Where something stands in the context.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Place {
    pub(crate) name: String,
    pub(crate) steps: Vec<Step>,
}

impl Place {
    pub(crate) fn of(name: &str) -> Self {
        Self { name: name.to_owned(), steps: Vec::new() }
    }

    #[must_use]
    pub(crate) fn then(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }
}

/// What a value has to be like, with all that is beneath it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Shape {
    fields: BTreeMap<String, Shape>,
    places: BTreeMap<usize, Shape>,
    each: Option<Box<Shape>>,
    any: Option<Box<Shape>>,
    pub(crate) like: Like,
}

impl Default for Shape {
    fn default() -> Self {
        Self {
            fields: BTreeMap::new(),
            places: BTreeMap::new(),
            each: None,
            any: None,
            like: Like::Anything,
        }
    }
}

impl Shape {
    /// The shape of what is beneath, which is then a part of this one.
    pub(crate) fn at(&mut self, steps: &[Step]) -> &mut Self {
        let mut shape = self;
        for step in steps {
            shape = match step {
                Step::Field(name) => shape.fields.entry(name.clone()).or_default(),
                Step::At(place) => shape.places.entry(*place).or_default(),
                Step::Each => shape.each.get_or_insert_with(Box::default),
                Step::Any => shape.any.get_or_insert_with(Box::default),
            };
        }
        shape
    }

    /// What is known of a value first stays; something is more than nothing.
    pub(crate) fn take_for(&mut self, like: Like) {
        if self.like == Like::Anything {
            self.like = like;
        }
    }

    /// Adds what something else takes the same value for.
    pub(crate) fn merge(&mut self, other: Self) {
        self.take_for(other.like);
        for (name, field) in other.fields {
            self.fields.entry(name).or_default().merge(field);
        }
        for (place, shape) in other.places {
            self.places.entry(place).or_default().merge(shape);
        }
        if let Some(each) = other.each {
            self.each.get_or_insert_with(Box::default).merge(*each);
        }
        if let Some(any) = other.any {
            self.any.get_or_insert_with(Box::default).merge(*any);
        }
    }

    /// A list of values of this shape.
    pub(crate) fn listed(self) -> Self {
        Self { each: Some(Box::new(self)), ..Self::default() }
    }

    pub(crate) fn is_leaf(&self) -> bool {
        self.places.is_empty() && self.each.is_none() && !self.is_object()
    }

    /// What is looked into by name is an object, even if it is walked over as well.
    fn is_object(&self) -> bool {
        !self.fields.is_empty() || self.any.is_some()
    }

    pub(crate) fn is_list(&self) -> bool {
        !self.is_object() && !self.is_leaf()
    }

    /// What nothing is known of, in order.
    pub(crate) fn open(&mut self) -> Vec<&mut Like> {
        if self.is_leaf() {
            return if self.like == Like::Anything { vec![&mut self.like] } else { Vec::new() };
        }
        let parts = self.fields.values_mut().chain(self.places.values_mut());
        parts
            .chain(self.each.as_deref_mut())
            .chain(self.any.as_deref_mut())
            .flat_map(Self::open)
            .collect()
    }

    /// A value of this shape.
    pub(crate) fn example(&self) -> Value {
        if self.is_leaf() {
            return self.like.example();
        }
        if self.is_list() {
            let length = self.places.keys().last().map_or(1, |last| last + 1);
            return (0..length.min(PLACES_MAX)).map(|place| self.item(place).example()).collect();
        }
        let fields = self.fields.iter().map(|(name, field)| (name.clone(), field.example()));
        let any = self.any.iter().map(|any| (SOME_NAME.to_owned(), any.example()));
        Value::Object(any.chain(fields).collect())
    }

    fn item(&self, place: usize) -> Self {
        let each = self.each.as_deref();
        self.places.get(&place).or(each).cloned().unwrap_or_default()
    }

    /// The values of this shape.
    pub(crate) fn schema(&self) -> Value {
        if self.is_leaf() {
            return self.like.schema();
        }
        let mut schema = Map::new();
        if self.is_list() {
            schema.insert("type".to_owned(), json!("array"));
            if let Some((last, _)) = self.places.last_key_value() {
                let items = (0..=*last).take(PLACES_MAX).map(|place| self.item(place).schema());
                schema.insert("minItems".to_owned(), json!(last.saturating_add(1)));
                schema.insert("prefixItems".to_owned(), items.collect());
            }
            let each = self.each.as_ref().map(|each| each.schema());
            if let Some(each) = each.filter(|each| *each != json!({})) {
                schema.insert("items".to_owned(), each);
            }
        } else {
            let fields = self.fields.iter().map(|(name, field)| (name.clone(), field.schema()));
            schema.insert("type".to_owned(), json!("object"));
            if !self.fields.is_empty() {
                schema.insert("required".to_owned(), self.fields.keys().cloned().collect());
                schema.insert("properties".to_owned(), Value::Object(fields.collect()));
            }
            let any = self.any.as_ref().map(|any| any.schema());
            if let Some(any) = any.filter(|any| *any != json!({})) {
                schema.insert("additionalProperties".to_owned(), any);
            }
        }
        Value::Object(schema)
    }

    /// The parts of a value that are not there, as paths below this one with the shape of each.
    pub(crate) fn unset<'s>(
        &'s self,
        path: &str,
        value: &Value,
        found: &mut Vec<(String, &'s Self)>,
    ) {
        let mut part = |name: &str, part: &'s Self, value: Option<&Value>| {
            let path = format!("{path}.{name}");
            match value {
                Some(value) => part.unset(&path, value, found),
                None => found.push((path, part)),
            }
        };
        match value {
            Value::Object(object) => {
                self.fields.iter().for_each(|(name, field)| part(name, field, object.get(name)));
                if let Some(any) = &self.any {
                    object.iter().for_each(|(name, value)| part(name, any, Some(value)));
                }
            }
            Value::Array(items) => {
                for (place, shape) in &self.places {
                    part(&place.to_string(), shape, items.get(*place));
                }
                if let Some(each) = &self.each {
                    for (place, item) in items.iter().enumerate().take(PLACES_MAX) {
                        part(&place.to_string(), each, Some(item));
                    }
                }
            }
            _ => {}
        }
    }

    /// The same value with what is missing put in, and examples in place of what is of another kind.
    pub(crate) fn mended(&self, value: &Value) -> Value {
        match value {
            Value::Object(object) if self.is_object() => {
                let mut object = object.clone();
                if let Some(any) = &self.any {
                    object.values_mut().for_each(|value| *value = any.mended(value));
                }
                for (name, field) in &self.fields {
                    let there = object
                        .get(name)
                        .map_or_else(|| field.example(), |there| field.mended(there));
                    object.insert(name.clone(), there);
                }
                Value::Object(object)
            }
            Value::Array(items) if self.is_list() => {
                let length = self.places.keys().last().map_or(0, |last| last + 1);
                let mended = (0..items.len().max(length.min(PLACES_MAX))).map(|place| {
                    let shape = self.item(place);
                    items.get(place).map_or_else(|| shape.example(), |item| shape.mended(item))
                });
                mended.collect()
            }
            _ if self.is_leaf() && self.like.takes(value) => value.clone(),
            _ => self.example(),
        }
    }

    /// The parts that stand under a path of names alone, with what is read there.
    pub(crate) fn paths<'s>(&'s self, path: &str, found: &mut Vec<(String, &'s Self)>) {
        if !self.is_object() || self.any.is_some() {
            found.push((path.to_owned(), self));
            return;
        }
        self.fields.iter().for_each(|(name, field)| field.paths(&format!("{path}.{name}"), found));
    }
}
