//! An answer to a question, line by line: the fields of the form one after the other, or everything in
//! one line, as JSON or as `name=value …`.

use std::collections::VecDeque;

use serde_json::{Map, Value};
use trackway_agent::form::written_fields;

use crate::form::{self, Field, Form};

/// An answer in progress.
#[derive(Debug)]
pub(super) struct Answering {
    schema: Value,
    form: Form,
    ask: Ask,
    /// Fields that are still to be asked.
    left: VecDeque<Field>,
    given: Map<String, Value>,
}

/// Which fields to ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ask {
    /// All of them: a person sees which field it is and can skip it.
    Every,
    /// Only required ones: the author of piped input does not see the fields, and a line could go to a
    /// field that was not meant.
    Required,
}

/// The result of a line.
#[derive(Debug, PartialEq)]
pub(super) enum Progress {
    /// Another line is needed.
    More,
    Whole(Value),
    /// The line is not valid, and why.
    Again(String),
}

impl Answering {
    /// `known` is offered to a person only. A pipe does not see the offer, and each of its lines is a
    /// value.
    pub(super) fn new(schema: &Value, ask: Ask, known: &Map<String, Value>) -> Self {
        let form = match ask {
            Ask::Every => Form::with_known(schema, known),
            Ask::Required => Form::of(schema),
        };
        let fields = match &form {
            Form::Fields(fields) => fields.as_slice(),
            Form::One(field) => std::slice::from_ref(field),
            Form::Json => &[],
        };
        let only_required = ask == Ask::Required && fields.iter().any(|field| field.required);
        let asked = fields.iter().filter(|field| field.required || !only_required);
        let left = asked.cloned().collect();
        Self { schema: schema.clone(), form, ask, left, given: Map::new() }
    }

    /// The prompt for the next line.
    pub(super) fn prompt(&self) -> String {
        match self.left.front() {
            Some(field) => field.prompt(),
            None => "  answer (JSON): ".to_owned(),
        }
    }

    pub(super) fn take(&mut self, line: &str) -> Progress {
        if self.given.is_empty()
            && let Some(whole) = self.whole(line)
        {
            return Progress::Whole(whole);
        }
        let Some(field) = self.left.front() else {
            return match form::json(line.trim()) {
                Ok(value) => Progress::Whole(value),
                Err(why) => Progress::Again(why),
            };
        };
        let (at, value) = match field.read(line) {
            Ok(value) => (0, value),
            Err(why) => match self.other(line) {
                Some((at, value)) => (at, Some(value)),
                None => return Progress::Again(why),
            },
        };
        let name = self.left.remove(at).map(|field| field.name).unwrap_or_default();
        if let Form::One(_) = self.form {
            return Progress::Whole(value.unwrap_or(Value::Null));
        }
        if let Some(value) = value {
            self.given.insert(name, value);
        }
        match self.left.is_empty() {
            true => Progress::Whole(Value::Object(std::mem::take(&mut self.given))),
            false => Progress::More,
        }
    }

    /// A later field that the line fits: the author of piped input does not know the order of the
    /// fields.
    fn other(&self, line: &str) -> Option<(usize, Value)> {
        if self.ask == Ask::Every {
            return None;
        }
        let fits = |(at, field): (usize, &Field)| Some((at, field.read(line).ok()??));
        self.left.iter().enumerate().skip(1).find_map(fits)
    }

    /// The line as the whole object.
    fn whole(&self, line: &str) -> Option<Value> {
        let Form::Fields(_) = &self.form else { return None };
        match serde_json::from_str(line.trim()) {
            Ok(object @ Value::Object(_)) => Some(object),
            _ => written_fields(&self.schema, line),
        }
    }
}

#[cfg(test)]
mod tests;
