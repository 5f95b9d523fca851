//! What the context lacks: a name that is not set, or a value that cannot be used.

use serde_json::{Value, json};
use trackway_domain::{BlockReason, InputRequirement, Object};

use crate::value_shape::{PLACES_MAX, ValueShape};

/// Why the context does not give a value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ContextError {
    /// Nothing is set under this name: a path of names joined by dots.
    Missing {
        name: String,
        expected: ExpectedType,
        /// More names that are not set and will be requested next.
        others: Vec<(String, ExpectedType)>,
    },
    /// The value, or the result made from it, cannot be used.
    Invalid {
        reason: String,
        /// The name whose value is wrong, if it is known.
        name: Option<String>,
        expected: ExpectedType,
        got: Option<Value>,
    },
}

/// What a value has to be.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ExpectedType {
    Anything,
    Text,
    Number,
    /// A whole number from 0.
    Count,
    Boolean,
    List,
    /// This value would work, and so would others of its kind.
    Example(Value),
    /// It has parts.
    Shape(Box<ValueShape>),
    /// This value would work, and so would others that fit the schema.
    WithSchema(Box<SchemaWithExample>),
}

/// A value, and the schema of the values that would also work.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SchemaWithExample {
    example: Value,
    schema: Value,
}

/// A present value of up to this size is shown whole, so that it can be sent back with the missing part.
/// Limit (Definitions): value that a need shows whole.
const WHOLE_BYTES_MAX: usize = 8 * 1024;

/// A step's result is sent as a whole with every output, so it needs no merging.
const RESULT: &str = "result";

/// A placeholder for a text that only the caller knows.
const SOME_TEXT: &str = "…";

impl ContextError {
    /// A name that is not set, for which any value would work.
    pub(crate) fn missing_name(name: impl Into<String>) -> Self {
        Self::Missing { name: name.into(), expected: ExpectedType::Anything, others: Vec::new() }
    }

    /// A value that cannot be used, without a single name as the cause.
    pub(crate) fn invalid_without_name(reason: impl Into<String>) -> Self {
        Self::Invalid { reason: reason.into(), name: None, expected: ExpectedType::Anything, got: None }
    }

    /// The value under a name cannot be used.
    pub(crate) fn invalid_value(
        name: impl Into<String>,
        got: &Value,
        expected: ExpectedType,
        reason: impl Into<String>,
    ) -> Self {
        Self::Invalid { reason: reason.into(), name: Some(name.into()), expected, got: Some(got.clone()) }
    }

    /// The missing or wrong name, if it is known.
    pub(crate) fn faulty_name(&self) -> Option<&str> {
        match self {
            Self::Missing { name, .. } => Some(name),
            Self::Invalid { name, .. } => name.as_deref(),
        }
    }

    /// Sets what the missing or wrong value has to be.
    #[must_use]
    pub(crate) fn with_expected_type(mut self, expected: ExpectedType) -> Self {
        let (Self::Missing { expected: current, .. } | Self::Invalid { expected: current, .. }) = &mut self;
        *current = expected;
        self
    }

    /// What to send so that nothing is missing any more.
    pub(crate) fn input_needs(&self) -> Vec<InputRequirement> {
        self.input_needs_by_name().into_iter().map(|(_, need)| need).collect()
    }

    /// The needs, each with the name that it is for.
    fn input_needs_by_name(&self) -> Vec<(Option<&str>, InputRequirement)> {
        match self {
            Self::Missing { name, expected, others } => {
                let others = others.iter().map(|(name, expected)| (name, expected));
                let all = [(name, expected)].into_iter().chain(others);
                all.map(|(name, expected)| (Some(name.as_str()), need_for_unset_name(name, expected)))
                    .collect()
            }
            Self::Invalid { reason, name, expected, got } => {
                let need = InputRequirement {
                    pointer: name.as_deref().map_or_else(|| "/context".to_owned(), context_argument_pointer),
                    message: reason.clone(),
                    schema: Some(match name {
                        Some(_) => expected.to_json_schema(),
                        None => json!({ "type": "object" }),
                    }),
                    // Another value of any kind may be wrong too.
                    example: (name.is_some() && *expected != ExpectedType::Anything)
                        .then(|| expected.to_example_value()),
                    got: got.clone(),
                };
                vec![(name.as_deref(), need)]
            }
        }
    }

    pub(crate) fn block_code(&self) -> &'static str {
        match self {
            Self::Missing { .. } => "context-missing",
            Self::Invalid { .. } => "context-invalid",
        }
    }

    /// The same as [`ContextError::to_block_reason`] for a context that is merged by its top-level names: a
    /// need inside a top-level value becomes a need for the whole value, with the rest of it kept.
    pub(crate) fn to_block_with_top_level_needs(&self, context: &Object) -> BlockReason {
        let mut needs: Vec<InputRequirement> = Vec::new();
        for (name, need) in self.input_needs_by_name() {
            let path = name.and_then(|name| name.split_once('.'));
            match path.filter(|(root, _)| *root != RESULT) {
                Some((root, path)) => add_need_for_top_level_name(&mut needs, need, root, path, context),
                None => needs.push(need),
            }
        }
        self.block_reason_with_needs(needs)
    }

    /// The block reason for an answer that cannot advance because of this error.
    pub(crate) fn to_block_reason(&self) -> BlockReason {
        self.block_reason_with_needs(self.input_needs())
    }

    fn block_reason_with_needs(&self, needs: Vec<InputRequirement>) -> BlockReason {
        let message = needs.first().map(|need| need.message.clone()).unwrap_or_default();
        BlockReason { code: self.block_code().to_owned(), message, needs }
    }
}

/// What to send for a name that is not set.
fn need_for_unset_name(name: &str, expected: &ExpectedType) -> InputRequirement {
    InputRequirement {
        pointer: context_argument_pointer(name),
        message: format!("`{name}` is not set; send it in `context`{}", expected.type_hint_suffix()),
        schema: Some(expected.to_json_schema()),
        example: Some(expected.to_example_value()),
        got: None,
    }
}

/// Adds a need inside a top-level value as a need for the whole value.
pub(crate) fn add_need_for_top_level_name(
    needs: &mut Vec<InputRequirement>,
    mut need: InputRequirement,
    root: &str,
    path: &str,
    context: &Object,
) {
    let Some(example) = need.example.clone() else {
        needs.push(need);
        return;
    };
    let at = context_argument_pointer(root);
    if let Some(same) = needs.iter_mut().find(|other| other.pointer == at)
        && let Some(whole) = &mut same.example
    {
        // One value is sent for both.
        put_value_at_path(whole, path, example);
        same.message.push_str("; ");
        same.message.push_str(&need.message);
        let both = (same.schema.take(), need.schema.map(|schema| nest_schema_at_path(path, schema)));
        if let (Some(one), Some(other)) = both {
            same.schema = Some(combine_schemas_all_of(one, other));
        }
        return;
    }
    let current = context.get(root).cloned().unwrap_or_else(|| json!({}));
    match edit_value_if_small(current, |whole| {
        put_value_at_path(whole, path, example);
        true
    }) {
        Some(whole) => {
            need.pointer = at;
            need.schema = need.schema.map(|schema| nest_schema_at_path(path, schema));
            need.example = Some(whole);
            need.got = need.got.and_then(|_| context.get(root).cloned());
        }
        None => need.message.push_str(&format!("; send all of `{root}` with it")),
    }
    needs.push(need);
}

/// The schema of a value with this schema at a path inside it.
fn nest_schema_at_path(path: &str, schema: Value) -> Value {
    path.rsplit('.').fold(schema, |inner, part| {
        match part.parse::<usize>().ok().filter(|index| *index < PLACES_MAX) {
            Some(index) => {
                let before = std::iter::repeat_n(json!({}), index);
                let items: Vec<Value> = before.chain([inner]).collect();
                json!({ "type": "array", "minItems": index + 1, "prefixItems": items })
            }
            None => json!({ "type": "object", "required": [part], "properties": { part: inner } }),
        }
    })
}

/// A schema that requires both.
fn combine_schemas_all_of(mut first: Value, other: Value) -> Value {
    match first.get_mut("allOf").and_then(Value::as_array_mut) {
        Some(all) => all.push(other),
        None => return json!({ "allOf": [first, other] }),
    }
    first
}

/// A present value with something added to it. None if it is too large to show: an example without the rest
/// would lose the rest.
pub(crate) fn edit_value_if_small(current: Value, edit: impl FnOnce(&mut Value) -> bool) -> Option<Value> {
    let mut whole = current;
    (whole.to_string().len() <= WHOLE_BYTES_MAX && edit(&mut whole)).then_some(whole)
}

impl From<ContextError> for BlockReason {
    fn from(error: ContextError) -> Self {
        error.to_block_reason()
    }
}

impl ExpectedType {
    /// A value to replace one that cannot be used.
    pub(crate) fn expected_type_from_example(example: Value, shape: &ValueShape) -> Self {
        if shape.is_leaf_shape() {
            return Self::Example(example);
        }
        Self::WithSchema(Box::new(SchemaWithExample { example, schema: shape.to_json_schema() }))
    }

    /// In its simplest form.
    pub(crate) fn simplify_leaf_shape(self) -> Self {
        match self {
            Self::Shape(shape) if shape.is_leaf_shape() => shape.expected,
            other => other,
        }
    }

    /// Whether a value is of the expected kind.
    pub(crate) fn accepts_value(&self, value: &Value) -> bool {
        match self {
            Self::Anything | Self::Shape(_) | Self::WithSchema(_) => true,
            Self::Text => value.is_string(),
            Self::Number => value.is_number(),
            Self::Count => value.is_u64(),
            Self::Boolean => value.is_boolean(),
            Self::List => value.is_array(),
            Self::Example(example) => {
                example.is_null() || json_schema_type(example) == json_schema_type(value)
            }
        }
    }

    pub(crate) fn to_json_schema(&self) -> Value {
        match self {
            Self::Anything => json!({}),
            Self::Example(value) => {
                json_schema_type(value).map_or_else(|| json!({}), |kind| json!({ "type": kind }))
            }
            Self::Shape(shape) => shape.to_json_schema(),
            Self::WithSchema(fitting) => fitting.schema.clone(),
            Self::Text => json!({ "type": "string" }),
            Self::Number => json!({ "type": "number" }),
            Self::Count => json!({ "type": "integer", "minimum": 0 }),
            Self::Boolean => json!({ "type": "boolean" }),
            Self::List => json!({ "type": "array" }),
        }
    }

    pub(crate) fn to_example_value(&self) -> Value {
        match self {
            Self::Anything | Self::Text => json!(SOME_TEXT),
            Self::Number | Self::Count => json!(1),
            Self::Boolean => json!(true),
            Self::List => json!([SOME_TEXT]),
            Self::Example(value) => value.clone(),
            Self::WithSchema(fitting) => fitting.example.clone(),
            Self::Shape(shape) => shape.example_value(),
        }
    }

    fn type_hint_suffix(&self) -> &'static str {
        match self {
            Self::Shape(shape) if shape.is_list_shape() => ", as a list",
            Self::Anything | Self::Example(_) | Self::Shape(_) | Self::WithSchema(_) => "",
            Self::Text => ", as a text",
            Self::Number => ", as a number",
            Self::Count => ", as a whole number from 0",
            Self::Boolean => ", as true or false",
            Self::List => ", as a list",
        }
    }
}

/// The type of a value as a schema names it; none for null.
fn json_schema_type(value: &Value) -> Option<&'static str> {
    Some(match value {
        Value::Null => return None,
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    })
}

/// The top-level name of a path.
pub(crate) fn top_level_name(path: &str) -> &str {
    path.split(['.', '[']).next().unwrap_or(path)
}

/// The top-level name of a pointer into the context, and the rest of the pointer.
pub(crate) fn split_context_pointer(pointer: &str) -> Option<(String, String)> {
    let below = pointer.strip_prefix("/context/")?;
    let (name, rest) = below.split_at(below.find('/').unwrap_or(below.len()));
    Some((name.replace("~1", "/").replace("~0", "~"), rest.to_owned()))
}

/// The pointer of a dotted name's value in a call's arguments.
pub(crate) fn context_argument_pointer(name: &str) -> String {
    name.split('.').fold("/context".to_owned(), |pointer, part| child_pointer(&pointer, part))
}

/// The pointer one level deeper.
pub(crate) fn child_pointer(pointer: &str, key: &str) -> String {
    format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"))
}

/// The value under a name: first the exact name, then a path of names and indexes joined by dots.
pub(crate) fn find_context_value<'a>(context: &'a Object, name: &str) -> Option<&'a Value> {
    if let Some(value) = context.get(name) {
        return Some(value);
    }
    let mut parts = name.split('.');
    let first = context.get(parts.next()?)?;
    parts.try_fold(first, |value, part| match value {
        Value::Object(object) => object.get(part),
        Value::Array(items) => items.get(part.parse::<usize>().ok()?),
        _ => None,
    })
}

/// Puts a value at a dotted path. A value on the way that cannot hold it becomes an object.
pub(crate) fn put_value_at_path(root: &mut Value, path: &str, value: Value) {
    let mut slot = root;
    for part in path.split('.') {
        let at = part.parse::<usize>().ok().filter(|at| *at < PLACES_MAX);
        slot = match (slot, at) {
            (Value::Array(items), Some(at)) => {
                items.resize(items.len().max(at + 1), Value::Null);
                &mut items[at]
            }
            (slot, _) => {
                if !slot.is_object() {
                    *slot = json!({});
                }
                &mut slot[part]
            }
        };
    }
    *slot = value;
}

#[cfg(test)]
mod tests;
