//! Why a schema cannot be used.

use serde_json::Value;
use trackway_domain::is_json_too_deep;

/// A contract that a model has to read in full is far smaller.
/// Limit (Definitions): schema of a contract.
const SCHEMA_BYTES_MAX: usize = 64 * 1024;

/// The most schema locations that a value is checked against, with every reference followed. A schema that
/// refers to another one twice, which does the same, and so on, would take exponential time.
/// Limit (Definitions): locations of a schema with all references followed.
const PLACES_MAX: usize = 10_000;

/// Keywords whose schemas apply to the same value as the schema they are in.
const SAME_VALUE: [&str; 8] = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"];

/// Why a schema cannot be used, in a sentence, for the reader of definitions.
pub(crate) fn find_schema_error(schema: &Value) -> Option<String> {
    if !schema.is_object() && !schema.is_boolean() {
        return Some("A schema is an object, or true or false.".to_owned());
    }
    if is_json_too_deep(schema) {
        return Some("The schema is nested too deep.".to_owned());
    }
    if schema.to_string().len() > SCHEMA_BYTES_MAX {
        return Some(format!("A schema has at most {SCHEMA_BYTES_MAX} bytes."));
    }
    let mut walk = ReferenceWalk { root: schema, path: Vec::new(), places: 0 };
    if let Err(reason) = check_schema_references(schema, true).and_then(|()| walk.visit_schema(schema)) {
        return Some(reason);
    }
    super::get_or_compile_schema(schema).err().map(|reason| format!("The schema cannot be used: {reason}"))
}

/// References must stay inside the schema, in the plain form.
fn check_schema_references(value: &Value, is_root: bool) -> Result<(), String> {
    match value {
        Value::Array(items) => items.iter().try_for_each(|item| check_schema_references(item, false)),
        Value::Object(object) => object.iter().try_for_each(|(key, value)| match (key.as_str(), value) {
            ("$ref", Value::String(to)) if to == "#" || to.starts_with("#/") => Ok(()),
            ("$ref" | "$dynamicRef" | "$recursiveRef", Value::String(to)) => Err(format!(
                "The reference `{to}` is not followed: only `#` and `#/…` are, nothing is fetched."
            )),
            ("$id" | "id", Value::String(id)) if !is_root && (key == "$id" || id.contains(':')) => {
                Err(format!("Only the schema as a whole has an id; `{id}` is inside it."))
            }
            _ => check_schema_references(value, false),
        }),
        _ => Ok(()),
    }
}

struct ReferenceWalk<'a> {
    root: &'a Value,
    /// References that are being followed, and whether each still applies to the same value.
    path: Vec<(&'a str, bool)>,
    places: usize,
}

impl<'a> ReferenceWalk<'a> {
    fn visit_schema(&mut self, schema: &'a Value) -> Result<(), String> {
        self.places += 1;
        if self.places > PLACES_MAX {
            return Err("The schema refers to itself in too many ways.".to_owned());
        }
        let Value::Object(object) = schema else { return Ok(()) };
        for (key, value) in object {
            match (key.as_str(), value) {
                ("$ref", Value::String(to)) => self.follow_reference(to)?,
                // These hold values, not schemas.
                ("enum" | "const" | "examples" | "default" | "required", _) => {}
                _ if SAME_VALUE.contains(&key.as_str()) => {
                    self.visit_inner_schemas(value, key == "dependentSchemas")?
                }
                _ => {
                    let before = self.path.clone();
                    self.path.iter_mut().for_each(|(_, same)| *same = false);
                    let is_map =
                        matches!(key.as_str(), "properties" | "patternProperties" | "$defs" | "definitions");
                    // Definitions count when they are referred to.
                    if !key.starts_with('$') && key != "definitions" {
                        self.visit_inner_schemas(value, is_map)?;
                    }
                    self.path = before;
                }
            }
        }
        Ok(())
    }

    fn visit_inner_schemas(&mut self, value: &'a Value, is_map: bool) -> Result<(), String> {
        match value {
            Value::Array(schemas) => schemas.iter().try_for_each(|schema| self.visit_schema(schema)),
            Value::Object(schemas) if is_map => {
                schemas.values().try_for_each(|schema| self.visit_schema(schema))
            }
            other => self.visit_schema(other),
        }
    }

    fn follow_reference(&mut self, to: &'a str) -> Result<(), String> {
        match self.path.iter().find(|(followed, _)| *followed == to) {
            Some((_, true)) => Err(format!("The reference `{to}` leads back to itself.")),
            Some((_, false)) => Ok(()),
            None => {
                let Some(target) = super::schema_pointer::resolve_schema_reference(self.root, to) else {
                    return Err(format!("There is nothing at the reference `{to}`."));
                };
                self.path.push((to, true));
                self.visit_schema(target)?;
                self.path.pop();
                Ok(())
            }
        }
    }
}
