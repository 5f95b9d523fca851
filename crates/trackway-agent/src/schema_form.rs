//! Schemas as people fill them in: the fields of an object, their possible values, and how to parse
//! text into a value. Commands, replies in a conversation and the terminal all use this.

mod assignment_line;

use serde_json::Value;
use trackway_definition::follow_schema_references;
use trackway_engine::{parse_yes_or_no, required_properties};

pub use self::assignment_line::parse_assignments;
pub(crate) use self::assignment_line::{
    AssignmentLine, ParsedBareValue, parse_bare_value, parse_only_required_field,
};

/// Limit (Agents): levels of alternatives (`anyOf`) that are searched for possible values.
const ALTERNATIVES_MAX: usize = 8;

/// One field of an object's schema.
#[derive(Debug, Clone)]
pub struct FormField<'a> {
    pub name: &'a str,
    pub required: bool,
    pub description: Option<&'a str>,
    pub shape: FieldValueShape<'a>,
}

/// The possible values of a field.
#[derive(Debug, Clone)]
pub struct FieldValueShape<'a> {
    root: &'a Value,
    schema: &'a Value,
    /// Empty if any kind is allowed.
    pub kinds: Vec<FieldValueKind>,
    /// The only allowed values, if the schema lists them.
    pub choices: Vec<&'a Value>,
    format: Option<&'a str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldValueKind {
    Text,
    Integer,
    Number,
    Boolean,
    List,
    Object,
    Null,
}

/// The fields of an object's schema: the required ones in the schema's order, then the others.
pub fn form_fields(root: &Value) -> Vec<FormField<'_>> {
    let object = follow_schema_references(root, root);
    let Some(properties) = object.get("properties").and_then(Value::as_object) else {
        return Vec::new();
    };
    let required: Vec<&str> = required_properties(object).collect();
    let optional = properties.keys().map(String::as_str).filter(|name| !required.contains(name));
    let names = required.iter().copied().chain(optional);
    names
        .filter_map(|name| {
            let written = properties.get(name)?;
            let shape = FieldValueShape::shape_from_schema(root, written);
            let description = [written, shape.resolved_schema()]
                .into_iter()
                .find_map(|schema| schema.get("description").and_then(Value::as_str));
            Some(FormField { name, required: required.contains(&name), description, shape })
        })
        .collect()
}

/// The field for a key that a user wrote: `walletAddress`, also written as `wallet_address`.
pub(crate) fn find_form_field<'a, 'b>(fields: &'b [FormField<'a>], key: &str) -> Option<&'b FormField<'a>> {
    let folded =
        |name: &str| name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    let wanted: String = folded(key);
    let mut alike = fields.iter().filter(|field| folded(field.name) == wanted);
    fields.iter().find(|field| field.name == key).or_else(|| alike.next())
}

/// Whether the schema allows fields that it does not name.
pub(crate) fn allows_extra_fields(root: &Value) -> bool {
    follow_schema_references(root, root).get("additionalProperties") != Some(&Value::Bool(false))
}

impl<'a> FieldValueShape<'a> {
    pub fn shape_from_schema(root: &'a Value, schema: &'a Value) -> Self {
        let schema = follow_schema_references(root, schema);
        let mut shape = Self {
            root,
            schema,
            kinds: Vec::new(),
            choices: Vec::new(),
            format: schema.get("format").and_then(Value::as_str),
        };
        if !shape.collect_kinds_and_choices(schema, ALTERNATIVES_MAX) {
            shape.choices.clear();
        }
        shape
    }

    /// Collects kinds and choices from the schema and its alternatives. Returns whether only the
    /// choices are allowed.
    fn collect_kinds_and_choices(&mut self, schema: &'a Value, depth: usize) -> bool {
        let list = |key: &str| schema.get(key).and_then(Value::as_array).into_iter().flatten();
        for name in list("type").chain(schema.get("type")) {
            if let Some(kind) = name.as_str().and_then(FieldValueKind::kind_from_type_name) {
                self.add_value_kind(kind);
            }
        }
        let mut is_closed = schema.get("type").is_some_and(|kind| kind == "null");
        for choice in list("enum").chain(schema.get("const")) {
            is_closed = true;
            self.add_value_kind(FieldValueKind::kind_of_value(choice));
            if !choice.is_null() {
                self.choices.push(choice);
            }
        }
        let branches: Vec<&Value> = list("anyOf").chain(list("oneOf")).collect();
        let Some(depth) = depth.checked_sub(1).filter(|_| !branches.is_empty()) else {
            return is_closed;
        };
        branches.into_iter().fold(true, |all_closed, branch| {
            let branch = follow_schema_references(self.root, branch);
            self.format = self.format.or(branch.get("format").and_then(Value::as_str));
            self.collect_kinds_and_choices(branch, depth) && all_closed
        })
    }

    fn add_value_kind(&mut self, kind: FieldValueKind) {
        if !self.kinds.contains(&kind) {
            self.kinds.push(kind);
        }
    }

    /// The schema with references resolved.
    pub fn resolved_schema(&self) -> &'a Value {
        self.schema
    }

    pub(crate) fn accepts_kind(&self, kind: FieldValueKind) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&kind)
    }

    /// Whether any text is valid: no choices, and no required format.
    pub(crate) fn is_free_text(&self) -> bool {
        self.kinds.contains(&FieldValueKind::Text)
            && self.kinds.iter().all(|kind| matches!(kind, FieldValueKind::Text | FieldValueKind::Null))
            && self.choices.is_empty()
            && self.format.is_none()
    }

    /// Parses text into a value of this shape, if possible.
    pub(crate) fn parse_text_to_value(&self, text: &str) -> Option<Value> {
        if !self.choices.is_empty() {
            return self.choices.iter().find(|choice| matches_choice(choice, text)).copied().cloned();
        }
        let json = serde_json::from_str::<Value>(text).ok();
        let fits = |value: &Value| match value {
            Value::Number(number) => {
                self.accepts_kind(FieldValueKind::Number)
                    || self.accepts_kind(FieldValueKind::Integer) && (number.is_i64() || number.is_u64())
            }
            Value::String(_) => false,
            other => self.accepts_kind(FieldValueKind::kind_of_value(other)),
        };
        let is_list = self.accepts_kind(FieldValueKind::List) && !self.kinds.is_empty();
        match json {
            Some(value) if fits(&value) && !self.should_read_null_as_text(&value) => Some(value),
            _ if self.kinds.contains(&FieldValueKind::Boolean) && parse_yes_or_no(text).is_some() => {
                parse_yes_or_no(text).map(Value::Bool)
            }
            _ if self.accepts_kind(FieldValueKind::Text) => Some(Value::String(text.to_owned())),
            _ if is_list => self.parse_text_list(text),
            _ => None,
        }
    }

    /// `null` is a word if text is also allowed.
    fn should_read_null_as_text(&self, value: &Value) -> bool {
        value.is_null() && self.accepts_kind(FieldValueKind::Text)
    }

    /// Items separated by commas.
    fn parse_text_list(&self, text: &str) -> Option<Value> {
        let items =
            self.schema.get("items").map(|items| FieldValueShape::shape_from_schema(self.root, items));
        let read = |item: &str| match &items {
            Some(shape) => shape.parse_text_to_value(item),
            None => Some(Value::String(item.to_owned())),
        };
        text.split(',').map(|item| read(item.trim())).collect::<Option<Vec<_>>>().map(Value::Array)
    }

    /// In words: `a number`, `one of a, b`.
    pub(crate) fn describe_type(&self) -> String {
        if !self.choices.is_empty() {
            let choices: Vec<String> = self.choices.iter().map(|choice| value_display_text(choice)).collect();
            return format!("one of {}", choices.join(", "));
        }
        let shown = self.kinds.iter().filter(|kind| **kind != FieldValueKind::Null);
        let words: Vec<&str> = shown.map(|kind| kind.describe_kind()).collect();
        if words.is_empty() { "anything".to_owned() } else { words.join(" or ") }
    }

    /// A value for an example line, as short as the schema allows.
    pub(crate) fn example_value_text(&self) -> String {
        let given = self.schema.get("examples").and_then(|examples| examples.get(0));
        let given = given.or_else(|| self.choices.first().copied());
        if let Some(value) = given.or_else(|| self.schema.get("default")) {
            return match value {
                Value::String(text) if !text.contains(char::is_whitespace) => text.clone(),
                other => other.to_string(),
            };
        }
        let kind = self.kinds.iter().find(|kind| **kind != FieldValueKind::Null);
        match kind {
            Some(FieldValueKind::Integer) => "1".to_owned(),
            Some(FieldValueKind::Number) => "1.5".to_owned(),
            Some(FieldValueKind::Boolean) => "true".to_owned(),
            Some(FieldValueKind::List) => "[…]".to_owned(),
            Some(FieldValueKind::Object) => "{…}".to_owned(),
            Some(FieldValueKind::Text | FieldValueKind::Null) | None => "\"…\"".to_owned(),
        }
    }
}

impl FieldValueKind {
    fn kind_from_type_name(name: &str) -> Option<Self> {
        Some(match name {
            "string" => Self::Text,
            "integer" => Self::Integer,
            "number" => Self::Number,
            "boolean" => Self::Boolean,
            "array" => Self::List,
            "object" => Self::Object,
            "null" => Self::Null,
            _ => return None,
        })
    }

    pub(crate) fn kind_of_value(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(_) => Self::Boolean,
            Value::Number(number) if number.is_f64() => Self::Number,
            Value::Number(_) => Self::Integer,
            Value::String(_) => Self::Text,
            Value::Array(_) => Self::List,
            Value::Object(_) => Self::Object,
        }
    }

    fn describe_kind(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Integer => "a whole number",
            Self::Number => "a number",
            Self::Boolean => "true or false",
            Self::List => "a list",
            Self::Object => "a JSON object",
            Self::Null => "nothing",
        }
    }
}

/// Text unchanged, anything else as JSON.
pub fn value_display_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn matches_choice(choice: &Value, text: &str) -> bool {
    match choice {
        Value::String(choice) => choice.eq_ignore_ascii_case(text),
        other => serde_json::from_str::<Value>(text).is_ok_and(|value| value == *other),
    }
}
