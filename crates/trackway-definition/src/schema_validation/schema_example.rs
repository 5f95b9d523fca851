//! A value that fits a schema, if one can be built from the schema alone.

use serde_json::{Map, Value, json};

use super::schema_pointer::follow_schema_references;

/// Schemas of trees refer to themselves; an example of one is shallow.
/// Limit (Definitions): levels of an example for a schema.
const DEPTH_MAX: usize = 8;

/// No example needs more items than this.
/// Limit (Definitions): items of a list in an example.
const ITEMS_MAX: u64 = 64;

/// Nested lists, and fields that refer back to their own object, would give a very large example.
/// Limit (Definitions): values that are created for one example.
const VALUES_MAX: usize = 2_000;

/// No example needs a longer text than this.
/// Limit (Definitions): characters of a text in an example.
const TEXT_MAX: u64 = 4096;

/// The values of an example that the schema leaves open.
#[derive(Debug, Clone, Copy)]
pub struct ExampleFillValues {
    /// The default text; longer texts repeat it.
    pub text: &'static str,
    pub boolean: bool,
    /// Number of items of a list without a minimum.
    pub items: u64,
}

/// For people and agents that read what a value looks like.
const SHOWN: ExampleFillValues = ExampleFillValues { text: "…", boolean: true, items: 1 };

/// A value that fits a schema, if the schema is simple.
pub(crate) fn example_for_subschema(root: &Value, schema: &Value) -> Value {
    SchemaExampleBuilder { root, filling: SHOWN, values_left: VALUES_MAX }.build_example(schema, 0, 0)
}

/// A value that fits a schema, if the schema is simple, built with the caller's filler. Its size is bounded
/// for every schema.
pub fn example_value_for_schema(schema: &Value, fill_values: ExampleFillValues) -> Value {
    SchemaExampleBuilder { root: schema, filling: fill_values, values_left: VALUES_MAX }
        .build_example(schema, 0, 0)
}

struct SchemaExampleBuilder<'a> {
    root: &'a Value,
    filling: ExampleFillValues,
    /// How many values may still be created.
    values_left: usize,
}

impl SchemaExampleBuilder<'_> {
    /// `number` distinguishes the items of a list.
    fn build_example(&mut self, schema: &Value, depth: usize, number: u64) -> Value {
        let schema = follow_schema_references(self.root, schema);
        // Counted even if it is too deep: otherwise a list would add such values without end.
        let Some(left) = self.values_left.checked_sub(1) else { return Value::Null };
        self.values_left = left;
        if depth > DEPTH_MAX {
            return Value::Null;
        }
        let ready = [schema.get("const"), schema.pointer("/examples/0"), schema.get("default")];
        if let Some(value) = ready.into_iter().flatten().next() {
            return value.clone();
        }
        if let Some(options) = schema.get("enum").and_then(Value::as_array).filter(|all| !all.is_empty()) {
            return options[number as usize % options.len()].clone();
        }
        let own = self.build_example_of_type(schema, depth, number);
        let first = |key: &str| schema.get(key).and_then(|choices| choices.get(0));
        if let Some(first) = first("oneOf").or(first("anyOf")) {
            return merge_example_objects(own, self.build_example(first, depth + 1, number));
        }
        let all = schema.get("allOf").and_then(Value::as_array).into_iter().flatten();
        all.fold(own, |made, part| merge_example_objects(made, self.build_example(part, depth + 1, number)))
    }

    fn build_example_of_type(&mut self, schema: &Value, depth: usize, number: u64) -> Value {
        match schema_type_name(schema) {
            "object" => self.build_example_object(schema, depth),
            "array" => self.build_example_list(schema, depth),
            "string" => self.build_example_text(schema, number),
            "integer" | "number" => example_number(schema, number),
            "boolean" => json!(self.filling.boolean),
            _ => Value::Null,
        }
    }

    fn build_example_object(&mut self, schema: &Value, depth: usize) -> Value {
        let mut object = Map::new();
        let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        for name in required.filter_map(Value::as_str) {
            let property = schema.get("properties").and_then(|all| all.get(name));
            let other = schema.get("additionalProperties").filter(|schema| schema.is_object());
            let made = match property.or(other) {
                Some(property) => self.build_example(property, depth + 1, 0),
                None => json!(self.filling.text),
            };
            object.insert(name.to_owned(), made);
        }
        Value::Object(object)
    }

    fn build_example_list(&mut self, schema: &Value, depth: usize) -> Value {
        let first = schema.get("prefixItems").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(self.filling.items);
        let most = schema.get("maxItems").and_then(Value::as_u64).unwrap_or(ITEMS_MAX);
        let count = least.max(first.len() as u64).min(most).min(ITEMS_MAX);
        let rest = schema.get("items").or(schema.get("contains"));
        let items = (0..count).map(|number| match (first.get(number as usize), rest) {
            (Some(schema), _) | (None, Some(schema)) => self.build_example(schema, depth + 1, number),
            (None, None) => json!(format!("{}{}", self.filling.text, number + 1)),
        });
        Value::Array(items.collect())
    }

    fn build_example_text(&self, schema: &Value, number: u64) -> Value {
        let filler = self.filling.text;
        let mut text = match schema.get("format").and_then(Value::as_str) {
            Some("date-time") => "2026-01-31T12:00:00Z",
            Some("date") => "2026-01-31",
            Some("time") => "12:00:00Z",
            Some("email") => "someone@example.com",
            Some("uri" | "iri" | "uri-reference") => "https://example.com/",
            Some("uuid") => "01890a5d-ac96-774b-bcce-b302099a8057",
            _ => filler,
        }
        .to_owned();
        let least = schema.get("minLength").and_then(Value::as_u64).unwrap_or(0).min(TEXT_MAX);
        let most = schema.get("maxLength").and_then(Value::as_u64).unwrap_or(TEXT_MAX);
        if number > 0 {
            text.push_str(&number.to_string());
        }
        while (text.chars().count() as u64) < least {
            text.push_str(filler);
        }
        json!(text.chars().take(most as usize).collect::<String>())
    }
}

/// Merges two objects; of other values, the later one wins.
fn merge_example_objects(first: Value, second: Value) -> Value {
    match (first, second) {
        (Value::Object(mut first), Value::Object(second)) => {
            first.extend(second);
            Value::Object(first)
        }
        (first, Value::Null) => first,
        (_, second) => second,
    }
}

/// The type, or the one that the other keywords imply. By default a text.
fn schema_type_name(schema: &Value) -> &str {
    match schema.get("type") {
        Some(Value::String(kind)) => kind,
        Some(Value::Array(kinds)) => kinds.first().and_then(Value::as_str).unwrap_or("string"),
        _ if schema.get("properties").is_some() || schema.get("required").is_some() => "object",
        _ if schema.get("items").is_some() || schema.get("minItems").is_some() => "array",
        _ if schema.get("minimum").is_some() || schema.get("maximum").is_some() => "number",
        _ => "string",
    }
}

fn example_number(schema: &Value, number: u64) -> Value {
    let get = |key: &str| schema.get(key).and_then(Value::as_f64);
    let is_whole = schema.get("type").is_some_and(|kind| kind == "integer");
    let step = get("multipleOf").unwrap_or(1.0);
    let above = get("exclusiveMinimum").map(|least| if is_whole { least + 1.0 } else { least + step });
    let below = get("exclusiveMaximum").map(|most| if is_whole { most - 1.0 } else { most - step });
    let most = get("maximum").or(below);
    let least = get("minimum").or(above);
    let start = least.or(most).unwrap_or(1.0);
    let mut value = if schema.get("multipleOf").is_some() { (start / step).ceil() * step } else { start };
    value += number as f64 * step;
    if is_whole {
        value = value.ceil();
    } else if let (Some(low), Some(high)) =
        (get("minimum").or(get("exclusiveMinimum")), get("maximum").or(get("exclusiveMaximum")))
        && low < high
        && value >= high
    {
        // The limits are closer together than one step.
        value = low + (high - low) / 2.0;
    }
    if value.fract() == 0.0 && value.abs() < 9e15 { json!(value as i64) } else { json!(value) }
}
