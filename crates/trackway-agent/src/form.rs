//! Schemas as people fill them in: the fields of an object, their possible values, and how to parse
//! text into a value. Commands, replies in a conversation and the terminal all use this.

mod line;

use serde_json::Value;
use trackway_definition::resolved;
use trackway_engine::{required_names, yes_or_no};

pub use self::line::written_fields;
pub(crate) use self::line::{Assignments, Line, written_field, written_value};

/// Limit (Agents): levels of alternatives (`anyOf`) that are searched for possible values.
const ALTERNATIVES_MAX: usize = 8;

/// One field of an object's schema.
#[derive(Debug, Clone)]
pub struct Field<'a> {
    pub name: &'a str,
    pub required: bool,
    pub description: Option<&'a str>,
    pub shape: Shape<'a>,
}

/// The possible values of a field.
#[derive(Debug, Clone)]
pub struct Shape<'a> {
    root: &'a Value,
    schema: &'a Value,
    /// Empty if any kind is allowed.
    pub kinds: Vec<Kind>,
    /// The only allowed values, if the schema lists them.
    pub choices: Vec<&'a Value>,
    format: Option<&'a str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Text,
    Integer,
    Number,
    Boolean,
    List,
    Object,
    Null,
}

/// The fields of an object's schema: the required ones in the schema's order, then the others.
pub fn fields(root: &Value) -> Vec<Field<'_>> {
    let object = resolved(root, root);
    let Some(properties) = object.get("properties").and_then(Value::as_object) else {
        return Vec::new();
    };
    let required: Vec<&str> = required_names(object).collect();
    let optional = properties.keys().map(String::as_str).filter(|name| !required.contains(name));
    let names = required.iter().copied().chain(optional);
    names
        .filter_map(|name| {
            let written = properties.get(name)?;
            let shape = Shape::of(root, written);
            let description = [written, shape.schema()]
                .into_iter()
                .find_map(|schema| schema.get("description").and_then(Value::as_str));
            Some(Field { name, required: required.contains(&name), description, shape })
        })
        .collect()
}

/// The field for a key that a user wrote: `walletAddress`, also written as `wallet_address`.
pub(crate) fn find<'a, 'b>(fields: &'b [Field<'a>], key: &str) -> Option<&'b Field<'a>> {
    let folded = |name: &str| {
        name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    let wanted: String = folded(key);
    let mut alike = fields.iter().filter(|field| folded(field.name) == wanted);
    fields.iter().find(|field| field.name == key).or_else(|| alike.next())
}

/// Whether the schema allows fields that it does not name.
pub(crate) fn is_open(root: &Value) -> bool {
    resolved(root, root).get("additionalProperties") != Some(&Value::Bool(false))
}

impl<'a> Shape<'a> {
    pub fn of(root: &'a Value, schema: &'a Value) -> Self {
        let schema = resolved(root, schema);
        let mut shape = Self {
            root,
            schema,
            kinds: Vec::new(),
            choices: Vec::new(),
            format: schema.get("format").and_then(Value::as_str),
        };
        if !shape.learn(schema, ALTERNATIVES_MAX) {
            shape.choices.clear();
        }
        shape
    }

    /// Collects kinds and choices from the schema and its alternatives. Returns whether only the
    /// choices are allowed.
    fn learn(&mut self, schema: &'a Value, depth: usize) -> bool {
        let list = |key: &str| schema.get(key).and_then(Value::as_array).into_iter().flatten();
        for name in list("type").chain(schema.get("type")) {
            if let Some(kind) = name.as_str().and_then(Kind::named) {
                self.admit(kind);
            }
        }
        let mut is_closed = schema.get("type").is_some_and(|kind| kind == "null");
        for choice in list("enum").chain(schema.get("const")) {
            is_closed = true;
            self.admit(Kind::of(choice));
            if !choice.is_null() {
                self.choices.push(choice);
            }
        }
        let branches: Vec<&Value> = list("anyOf").chain(list("oneOf")).collect();
        let Some(depth) = depth.checked_sub(1).filter(|_| !branches.is_empty()) else {
            return is_closed;
        };
        branches.into_iter().fold(true, |all_closed, branch| {
            let branch = resolved(self.root, branch);
            self.format = self.format.or(branch.get("format").and_then(Value::as_str));
            self.learn(branch, depth) && all_closed
        })
    }

    fn admit(&mut self, kind: Kind) {
        if !self.kinds.contains(&kind) {
            self.kinds.push(kind);
        }
    }

    /// The schema with references resolved.
    pub fn schema(&self) -> &'a Value {
        self.schema
    }

    pub(crate) fn takes(&self, kind: Kind) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&kind)
    }

    /// Whether any text is valid: no choices, and no required format.
    pub(crate) fn is_free_text(&self) -> bool {
        self.kinds.contains(&Kind::Text)
            && self.kinds.iter().all(|kind| matches!(kind, Kind::Text | Kind::Null))
            && self.choices.is_empty()
            && self.format.is_none()
    }

    /// Parses text into a value of this shape, if possible.
    pub(crate) fn read(&self, text: &str) -> Option<Value> {
        if !self.choices.is_empty() {
            return self.choices.iter().find(|choice| is_written(choice, text)).copied().cloned();
        }
        let json = serde_json::from_str::<Value>(text).ok();
        let fits = |value: &Value| match value {
            Value::Number(number) => {
                self.takes(Kind::Number)
                    || self.takes(Kind::Integer) && (number.is_i64() || number.is_u64())
            }
            Value::String(_) => false,
            other => self.takes(Kind::of(other)),
        };
        let is_list = self.takes(Kind::List) && !self.kinds.is_empty();
        match json {
            Some(value) if fits(&value) && !self.prefers_text(&value) => Some(value),
            _ if self.kinds.contains(&Kind::Boolean) && yes_or_no(text).is_some() => {
                yes_or_no(text).map(Value::Bool)
            }
            _ if self.takes(Kind::Text) => Some(Value::String(text.to_owned())),
            _ if is_list => self.read_list(text),
            _ => None,
        }
    }

    /// `null` is a word if text is also allowed.
    fn prefers_text(&self, value: &Value) -> bool {
        value.is_null() && self.takes(Kind::Text)
    }

    /// Items separated by commas.
    fn read_list(&self, text: &str) -> Option<Value> {
        let items = self.schema.get("items").map(|items| Shape::of(self.root, items));
        let read = |item: &str| match &items {
            Some(shape) => shape.read(item),
            None => Some(Value::String(item.to_owned())),
        };
        text.split(',').map(|item| read(item.trim())).collect::<Option<Vec<_>>>().map(Value::Array)
    }

    /// In words: `a number`, `one of a, b`.
    pub(crate) fn in_words(&self) -> String {
        if !self.choices.is_empty() {
            let choices: Vec<String> = self.choices.iter().map(|choice| plain(choice)).collect();
            return format!("one of {}", choices.join(", "));
        }
        let shown = self.kinds.iter().filter(|kind| **kind != Kind::Null);
        let words: Vec<&str> = shown.map(|kind| kind.in_words()).collect();
        if words.is_empty() { "anything".to_owned() } else { words.join(" or ") }
    }

    /// A value for an example line, as short as the schema allows.
    pub(crate) fn example(&self) -> String {
        let given = self.schema.get("examples").and_then(|examples| examples.get(0));
        let given = given.or_else(|| self.choices.first().copied());
        if let Some(value) = given.or_else(|| self.schema.get("default")) {
            return match value {
                Value::String(text) if !text.contains(char::is_whitespace) => text.clone(),
                other => other.to_string(),
            };
        }
        let kind = self.kinds.iter().find(|kind| **kind != Kind::Null);
        match kind {
            Some(Kind::Integer) => "1".to_owned(),
            Some(Kind::Number) => "1.5".to_owned(),
            Some(Kind::Boolean) => "true".to_owned(),
            Some(Kind::List) => "[…]".to_owned(),
            Some(Kind::Object) => "{…}".to_owned(),
            Some(Kind::Text | Kind::Null) | None => "\"…\"".to_owned(),
        }
    }
}

impl Kind {
    fn named(name: &str) -> Option<Self> {
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

    pub(crate) fn of(value: &Value) -> Self {
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

    fn in_words(self) -> &'static str {
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
pub fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn is_written(choice: &Value, text: &str) -> bool {
    match choice {
        Value::String(choice) => choice.eq_ignore_ascii_case(text),
        other => serde_json::from_str::<Value>(text).is_ok_and(|value| value == *other),
    }
}
