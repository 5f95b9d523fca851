//! An answer to a question, line by line: the fields of the form one after the other, or everything in
//! one line, as JSON or as `name=value …`.

use std::collections::VecDeque;

use serde_json::{Map, Value};
use trackway_agent::schema_form::parse_assignments;

use crate::schema_form::{self, SchemaForm, SchemaFormField};

/// An answer in progress.
#[derive(Debug)]
pub(super) struct AnswerForm {
    schema: Value,
    schema_form: SchemaForm,
    selection: FieldSelection,
    /// Fields that are still to be asked.
    remaining_fields: VecDeque<SchemaFormField>,
    values: Map<String, Value>,
}

/// Which fields to ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FieldSelection {
    /// All of them: a person sees which field it is and can skip it.
    All,
    /// Only required ones: the author of piped input does not see the fields, and a line could go to a
    /// field that was not meant.
    Required,
}

/// The result of a line.
#[derive(Debug, PartialEq)]
pub(super) enum AnswerProgress {
    /// Another line is needed.
    NeedsLine,
    Complete(Value),
    /// The line is not valid, and why.
    Invalid(String),
}

impl AnswerForm {
    /// `known` is offered to a person only. A pipe does not see the offer, and each of its lines is a
    /// value.
    pub(super) fn new(schema: &Value, ask: FieldSelection, known: &Map<String, Value>) -> Self {
        let form = match ask {
            FieldSelection::All => SchemaForm::from_schema_with_defaults(schema, known),
            FieldSelection::Required => SchemaForm::from_schema(schema),
        };
        let fields = match &form {
            SchemaForm::Fields(fields) => fields.as_slice(),
            SchemaForm::Single(field) => std::slice::from_ref(field),
            SchemaForm::Json => &[],
        };
        let only_required = ask == FieldSelection::Required && fields.iter().any(|field| field.required);
        let asked = fields.iter().filter(|field| field.required || !only_required);
        let left = asked.cloned().collect();
        Self {
            schema: schema.clone(),
            schema_form: form,
            selection: ask,
            remaining_fields: left,
            values: Map::new(),
        }
    }

    /// The prompt for the next line.
    pub(super) fn render_answer_prompt(&self) -> String {
        match self.remaining_fields.front() {
            Some(field) => field.render_field_prompt(),
            None => "  answer (JSON): ".to_owned(),
        }
    }

    pub(super) fn accept_answer_line(&mut self, line: &str) -> AnswerProgress {
        if self.values.is_empty()
            && let Some(whole) = self.parse_whole_answer(line)
        {
            return AnswerProgress::Complete(whole);
        }
        let Some(field) = self.remaining_fields.front() else {
            return match schema_form::parse_typed_json(line.trim()) {
                Ok(value) => AnswerProgress::Complete(value),
                Err(why) => AnswerProgress::Invalid(why),
            };
        };
        let (at, value) = match field.parse_typed_field_value(line) {
            Ok(value) => (0, value),
            Err(why) => match self.match_later_field(line) {
                Some((at, value)) => (at, Some(value)),
                None => return AnswerProgress::Invalid(why),
            },
        };
        let name = self.remaining_fields.remove(at).map(|field| field.name).unwrap_or_default();
        if let SchemaForm::Single(_) = self.schema_form {
            return AnswerProgress::Complete(value.unwrap_or(Value::Null));
        }
        if let Some(value) = value {
            self.values.insert(name, value);
        }
        match self.remaining_fields.is_empty() {
            true => AnswerProgress::Complete(Value::Object(std::mem::take(&mut self.values))),
            false => AnswerProgress::NeedsLine,
        }
    }

    /// A later field that the line fits: the author of piped input does not know the order of the
    /// fields.
    fn match_later_field(&self, line: &str) -> Option<(usize, Value)> {
        if self.selection == FieldSelection::All {
            return None;
        }
        let fits =
            |(at, field): (usize, &SchemaFormField)| Some((at, field.parse_typed_field_value(line).ok()??));
        self.remaining_fields.iter().enumerate().skip(1).find_map(fits)
    }

    /// The line as the whole object.
    fn parse_whole_answer(&self, line: &str) -> Option<Value> {
        let SchemaForm::Fields(_) = &self.schema_form else { return None };
        match serde_json::from_str(line.trim()) {
            Ok(object @ Value::Object(_)) => Some(object),
            _ => parse_assignments(&self.schema, line),
        }
    }
}

#[cfg(test)]
mod tests;
