//! JSON values as CEL values, and back.

use std::collections::HashMap;
use std::sync::Arc;

use cel::Value as Cel;
use cel::objects::{Key, Map};
use serde_json::{Number, Value};
use trackway_domain::Object;

pub(super) fn json_to_cel(value: &Value) -> Cel {
    match value {
        Value::Null => Cel::Null,
        Value::Bool(truth) => Cel::Bool(*truth),
        Value::Number(number) => self::number_to_cel(number),
        Value::String(text) => Cel::String(Arc::new(text.clone())),
        Value::Array(items) => Cel::List(Arc::new(items.iter().map(self::json_to_cel).collect())),
        Value::Object(object) => self::object_to_cel(object),
    }
}

pub(super) fn object_to_cel(object: &Object) -> Cel {
    let fields: HashMap<Key, Cel> =
        object.iter().map(|(name, value)| (Key::from(name.as_str()), self::json_to_cel(value))).collect();
    Cel::Map(Map { map: Arc::new(fields) })
}

/// Whole numbers stay whole if CEL can hold them.
fn number_to_cel(number: &Number) -> Cel {
    if let Some(int) = number.as_i64() {
        return Cel::Int(int);
    }
    if let Some(uint) = number.as_u64() {
        return Cel::UInt(uint);
    }
    Cel::Float(number.as_f64().unwrap_or(f64::NAN))
}

/// A value as JSON, or a text that names what JSON cannot hold.
pub(super) fn cel_to_json(value: &Cel) -> Result<Value, String> {
    Ok(match value {
        Cel::Null => Value::Null,
        Cel::Bool(truth) => Value::Bool(*truth),
        Cel::Int(int) => Value::from(*int),
        Cel::UInt(uint) => Value::from(*uint),
        Cel::Float(float) => Number::from_f64(*float)
            .map(Value::Number)
            .ok_or_else(|| format!("{float}, which is no number in JSON"))?,
        Cel::String(text) => Value::String(text.as_str().to_owned()),
        Cel::List(items) => Value::Array(items.iter().map(cel_to_json).collect::<Result<_, _>>()?),
        Cel::Map(map) => {
            let mut object = Object::new();
            for (name, value) in map.map.iter() {
                object.insert(cel_key_text(name), cel_to_json(value)?);
            }
            Value::Object(object)
        }
        other => {
            return Err(format!("a value of type `{}`, which JSON does not have", other.type_of()));
        }
    })
}

/// A key as a field name.
fn cel_key_text(key: &Key) -> String {
    match key {
        Key::Int(int) => int.to_string(),
        Key::Uint(uint) => uint.to_string(),
        Key::Bool(truth) => truth.to_string(),
        Key::String(text) => text.as_str().to_owned(),
    }
}
