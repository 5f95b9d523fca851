//! What a value may be by its schema, and the value that somebody meant by what they wrote.

use serde_json::Value;
use trackway_engine::yes_or_no;

/// How many references are followed from one schema, so that one that names itself ends.
/// Limit (Agents): references that the offline model follows from one schema.
const REFERENCES_MAX: usize = 8;

/// What a value may be.
#[derive(Debug, Clone)]
pub(super) struct Shape<'a> {
    root: &'a Value,
    schema: &'a Value,
    /// Empty where anything is allowed.
    pub kinds: Vec<Kind>,
    /// The only values allowed, where there are such.
    pub choices: Vec<&'a Value>,
    pub format: Option<&'a str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Integer,
    Number,
    Boolean,
    List,
    Object,
    Null,
}

/// The schema that references lead to.
pub(super) fn resolve<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    let mut schema = schema;
    for _ in 0..REFERENCES_MAX {
        let target = schema.get("$ref").and_then(Value::as_str);
        match target.and_then(|target| root.pointer(target.strip_prefix('#')?)) {
            Some(target) => schema = target,
            None => break,
        }
    }
    schema
}

impl<'a> Shape<'a> {
    pub(super) fn of(root: &'a Value, schema: &'a Value) -> Self {
        let schema = resolve(root, schema);
        let mut shape = Self {
            root,
            schema,
            kinds: Vec::new(),
            choices: Vec::new(),
            format: schema.get("format").and_then(Value::as_str),
        };
        shape.learn(schema, REFERENCES_MAX);
        shape
    }

    /// Takes kinds and choices from the schema and its alternatives.
    fn learn(&mut self, schema: &'a Value, depth: usize) {
        let types = match schema.get("type") {
            Some(Value::Array(types)) => types.iter().collect(),
            Some(one) => vec![one],
            None => Vec::new(),
        };
        for kind in types.into_iter().filter_map(|name| Kind::named(name.as_str()?)) {
            self.admit(kind);
        }
        let choices = schema.get("enum").and_then(Value::as_array).into_iter().flatten();
        for choice in choices.chain(schema.get("const")) {
            self.admit(Kind::of(choice));
            if !choice.is_null() {
                self.choices.push(choice);
            }
        }
        let Some(depth) = depth.checked_sub(1) else { return };
        for key in ["anyOf", "oneOf"] {
            let branches = schema.get(key).and_then(Value::as_array).into_iter().flatten();
            for branch in branches {
                let branch = resolve(self.root, branch);
                self.format = self.format.or(branch.get("format").and_then(Value::as_str));
                self.learn(branch, depth);
            }
        }
    }

    fn admit(&mut self, kind: Kind) {
        if !self.kinds.contains(&kind) {
            self.kinds.push(kind);
        }
    }

    /// The schema itself, references followed.
    pub(super) fn schema(&self) -> &'a Value {
        self.schema
    }

    pub(super) fn takes(&self, kind: Kind) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&kind)
    }

    /// Any text will do: no choices, and nothing that text has to look like.
    pub(super) fn is_free_text(&self) -> bool {
        self.kinds.contains(&Kind::Text)
            && self.kinds.iter().all(|kind| matches!(kind, Kind::Text | Kind::Null))
            && self.choices.is_empty()
            && self.format.is_none()
    }

    /// A number, and nothing else.
    pub(super) fn is_number(&self) -> bool {
        let numbers = |kind: &Kind| matches!(kind, Kind::Integer | Kind::Number);
        self.kinds.iter().any(numbers)
            && self.kinds.iter().all(|kind| numbers(kind) || *kind == Kind::Null)
            && self.choices.is_empty()
    }

    /// The value that somebody wrote, if it can be one of this shape.
    pub(super) fn read(&self, text: &str) -> Option<Value> {
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

    /// `null` is a word where text is taken as well.
    fn prefers_text(&self, value: &Value) -> bool {
        value.is_null() && self.takes(Kind::Text)
    }

    /// Items with commas between them.
    fn read_list(&self, text: &str) -> Option<Value> {
        let items = self.schema.get("items").map(|items| Shape::of(self.root, items));
        let read = |item: &str| match &items {
            Some(shape) => shape.read(item),
            None => Some(Value::String(item.to_owned())),
        };
        text.split(',').map(|item| read(item.trim())).collect::<Option<Vec<_>>>().map(Value::Array)
    }

    /// In words: `a number`, `one of a, b`.
    pub(super) fn in_words(&self) -> String {
        if !self.choices.is_empty() {
            let choices: Vec<String> = self.choices.iter().map(|choice| plain(choice)).collect();
            return format!("one of {}", choices.join(", "));
        }
        let shown = self.kinds.iter().filter(|kind| **kind != Kind::Null);
        let words: Vec<&str> = shown.map(|kind| kind.in_words()).collect();
        if words.is_empty() { "anything".to_owned() } else { words.join(" or ") }
    }

    /// A value for an example line, as short as the schema allows.
    pub(super) fn example(&self) -> String {
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

    pub(super) fn of(value: &Value) -> Self {
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

/// Text as it is, anything else as JSON.
pub(super) fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn is_written(choice: &Value, text: &str) -> bool {
    match choice {
        Value::String(choice) => choice.eq_ignore_ascii_case(text),
        other => serde_json::from_str::<Value>(text).is_ok_and(|value| value == *other),
    }
}
