//! A JSON Schema as a form: one line per field, read as the field's type.
//!
//! The form only helps to type. The engine checks whether an answer satisfies the schema.

use serde_json::{Map, Value};
use trackway_agent::schema_form::{self, FieldValueShape, value_display_text};

/// What a person is asked for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum SchemaForm {
    /// An object, field by field.
    Fields(Vec<SchemaFormField>),
    /// One value.
    Single(SchemaFormField),
    /// A value without a form: the whole value is typed as JSON.
    Json,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SchemaFormField {
    /// Empty for a value that is not a field of an object.
    pub(crate) name: String,
    pub(crate) kind: FormFieldKind,
    pub(crate) required: bool,
    pub(crate) description: Option<String>,
    /// Bounds and the like, in words.
    pub(crate) rules: Vec<String>,
    /// The value of an empty line.
    pub(crate) default: Option<Value>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum FormFieldKind {
    Text,
    Number,
    Integer,
    Boolean,
    Choice(Vec<Value>),
    /// Lists, objects and other values that need JSON.
    Json,
}

impl SchemaForm {
    /// The form of a schema, with known values as defaults of the required fields.
    pub(crate) fn from_schema_with_defaults(schema: &Value, default_values: &Map<String, Value>) -> Self {
        let mut form = Self::from_schema(schema);
        if let Self::Fields(fields) = &mut form {
            for field in fields.iter_mut().filter(|field| field.required) {
                let value = default_values
                    .get(&field.name)
                    .filter(|value| field.kind.allows_default_for_empty_line(value));
                field.default = value.cloned().or(field.default.take());
            }
        }
        form
    }

    pub(crate) fn from_schema(schema: &Value) -> Self {
        let Some(object) = schema.as_object() else { return Self::Json };
        match object.get("properties").and_then(Value::as_object) {
            Some(_) if has_cross_field_rules(object) => Self::Json,
            // Required fields are asked first, in the order of `required`: the order of properties is lost
            // when JSON is read.
            Some(_) => Self::Fields(
                schema_form::form_fields(schema).iter().map(SchemaFormField::from_schema_field).collect(),
            ),
            None => {
                let shape = FieldValueShape::shape_from_schema(schema, schema);
                let one = schema_form::FormField { name: "", required: true, description: None, shape };
                match SchemaFormField::from_schema_field(&one) {
                    SchemaFormField { kind: FormFieldKind::Json, .. } => Self::Json,
                    field => Self::Single(field),
                }
            }
        }
    }
}

/// Rules across fields cannot be asked field by field. The exception is a field that is required unless
/// the user declines.
fn has_cross_field_rules(object: &Map<String, Value>) -> bool {
    let then = object.get("then").and_then(Value::as_object);
    let only_wants = then.is_some_and(|then| then.keys().eq(["required"]));
    ["oneOf", "anyOf", "allOf", "$ref"].iter().any(|key| object.contains_key(*key))
        || (object.contains_key("if") && !only_wants)
}

/// Characters of a default that are shown.
/// Limit (CLI): characters of a default that a question shows.
const DEFAULT_SHOWN_MAX: usize = 60;

fn describe_field_rules(schema: &Value, has_default: bool) -> Vec<String> {
    let words = [
        ("minimum", "at least"),
        ("exclusiveMinimum", "more than"),
        ("maximum", "at most"),
        ("exclusiveMaximum", "less than"),
        ("multipleOf", "a multiple of"),
        ("minLength", "characters at least"),
        ("maxLength", "characters at most"),
        ("pattern", "like"),
    ];
    // The default for an empty line is shown in the prompt.
    let default = (!has_default).then_some(("default", "default"));
    let said = words.iter().chain(&default).filter_map(|(key, word)| {
        let value = schema.get(*key)?;
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        Some(format!("{word} {value}"))
    });
    said.collect()
}

impl SchemaFormField {
    fn from_schema_field(field: &schema_form::FormField<'_>) -> Self {
        let schema_form::FormField { name, required, description, ref shape } = *field;
        let (schema, kind) = (shape.resolved_schema(), FormFieldKind::from_value_shape(shape));
        let description = description.or_else(|| schema.get("description")?.as_str());
        let default =
            schema.get("default").filter(|value| required && kind.allows_default_for_empty_line(value));
        Self {
            default: default.cloned(),
            name: name.to_owned(),
            kind,
            required,
            description: description.map(str::to_owned),
            rules: describe_field_rules(schema, default.is_some()),
        }
    }

    /// The prompt for the answer.
    pub(crate) fn render_field_prompt(&self) -> String {
        let kind = match &self.kind {
            FormFieldKind::Text => "text".to_owned(),
            FormFieldKind::Number => "number".to_owned(),
            FormFieldKind::Integer => "whole number".to_owned(),
            FormFieldKind::Boolean => "y/n".to_owned(),
            FormFieldKind::Choice(values) => {
                values.iter().map(value_display_text).collect::<Vec<_>>().join(" | ")
            }
            FormFieldKind::Json => "JSON".to_owned(),
        };
        let mut words = vec![kind];
        words.extend(self.rules.iter().cloned());
        if !self.required {
            words.push("empty to leave out".to_owned());
        }
        let name = if self.name.is_empty() { "answer" } else { &self.name };
        let description = self.description.as_deref().map(|text| format!(" {text}")).unwrap_or_default();
        let default = self.default.as_ref().map(|value| {
            let value = value_display_text(value);
            let cut = value.char_indices().nth(DEFAULT_SHOWN_MAX);
            cut.map_or_else(|| format!(" [{value}]"), |(at, _)| format!(" [{}…]", &value[..at]))
        });
        let default = default.unwrap_or_default();
        format!("  {name} ({}){description}{default}: ", words.join(", "))
    }

    /// The value of a typed line: `None` leaves the field out; the error says why the line is not valid.
    pub(crate) fn parse_typed_field_value(&self, line: &str) -> Result<Option<Value>, String> {
        let typed = line.trim();
        if typed.is_empty() {
            if self.default.is_some() {
                return Ok(self.default.clone());
            }
            return if self.required { Err("a value is needed".to_owned()) } else { Ok(None) };
        }
        let value = match &self.kind {
            FormFieldKind::Text => Value::from(typed),
            FormFieldKind::Number | FormFieldKind::Integer => match serde_json::from_str(typed) {
                Ok(number @ Value::Number(_)) => number,
                _ => return Err(format!("{typed:?} is not a number")),
            },
            FormFieldKind::Boolean => match typed.to_lowercase().as_str() {
                "y" | "yes" | "true" => Value::Bool(true),
                "n" | "no" | "false" => Value::Bool(false),
                _ => return Err("answer y or n".to_owned()),
            },
            FormFieldKind::Choice(values) => {
                match values.iter().find(|value| value_display_text(value) == typed) {
                    Some(value) => value.clone(),
                    None => {
                        let known: Vec<String> = values.iter().map(value_display_text).collect();
                        return Err(format!("it is one of: {}", known.join(", ")));
                    }
                }
            }
            FormFieldKind::Json => parse_typed_json(typed)?,
        };
        Ok(Some(value))
    }
}

/// The shape of an answer, with words in place of the values, for a command that the user completes. It is
/// deliberately not JSON, so that pasting it confirms nothing.
pub(crate) fn render_answer_template(schema: &Value) -> String {
    match SchemaForm::from_schema(schema) {
        SchemaForm::Json => "JSON".to_owned(),
        SchemaForm::Single(field) => field.kind.answer_placeholder(),
        SchemaForm::Fields(fields) => {
            let required = fields.iter().filter(|field| field.required);
            let pairs: Vec<String> = required
                .map(|field| format!("\"{}\": {}", field.name, field.kind.answer_placeholder()))
                .collect();
            format!("{{{}}}", pairs.join(", "))
        }
    }
}

impl FormFieldKind {
    fn from_value_shape(shape: &FieldValueShape<'_>) -> Self {
        if !shape.choices.is_empty() {
            return Self::Choice(shape.choices.iter().copied().cloned().collect());
        }
        // `["string", "null"]` is how an optional string is written.
        let kinds = shape.kinds.iter().filter(|kind| **kind != schema_form::FieldValueKind::Null);
        match kinds.collect::<Vec<_>>().as_slice() {
            [schema_form::FieldValueKind::Text] => Self::Text,
            [schema_form::FieldValueKind::Number] => Self::Number,
            [schema_form::FieldValueKind::Integer] => Self::Integer,
            [schema_form::FieldValueKind::Boolean] => Self::Boolean,
            _ => Self::Json,
        }
    }

    /// Whether an empty line may mean this value. Never for yes or no: a person must type an agreement.
    fn allows_default_for_empty_line(&self, value: &Value) -> bool {
        match self {
            Self::Text => value.as_str().is_some_and(|text| !text.contains('\n')),
            Self::Number => value.is_number(),
            Self::Integer => value.is_i64() || value.is_u64(),
            Self::Choice(values) => values.contains(value) && !value.is_boolean(),
            Self::Boolean | Self::Json => false,
        }
    }

    fn answer_placeholder(&self) -> String {
        match self {
            Self::Text => "\"TEXT\"".to_owned(),
            Self::Number | Self::Integer => "NUMBER".to_owned(),
            Self::Boolean => "true|false".to_owned(),
            Self::Choice(values) => values.iter().map(Value::to_string).collect::<Vec<_>>().join("|"),
            Self::Json => "JSON".to_owned(),
        }
    }
}

/// A typed line as JSON.
pub(crate) fn parse_typed_json(line: &str) -> Result<Value, String> {
    serde_json::from_str(line).map_err(|error| format!("that is not JSON: {error}"))
}

#[cfg(test)]
mod tests;
