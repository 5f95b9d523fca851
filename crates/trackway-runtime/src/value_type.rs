//! Rust types that values are read into. A schema cannot express everything that a type requires, so a value
//! is read before it is recorded.

use std::any::type_name;

use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use serde_path_to_error::Segment;
use trackway_domain::{ValidationError, limit_validation_errors, shorten_value};

/// A Rust type by its name, and how a value is read into it.
#[derive(Debug, Clone, Copy)]
pub struct ValueType {
    name: &'static str,
    check_fn: fn(&Value) -> Option<ValidationError>,
}

impl ValueType {
    pub fn for_type<T: DeserializeOwned>() -> Self {
        Self { name: type_name::<T>(), check_fn: deserialize_error::<T> }
    }

    /// Its path in the program's code.
    pub fn rust_type_name(&self) -> &'static str {
        self.name
    }

    /// Why the value cannot be read into the type; empty if it can.
    pub fn check_value(&self, value: &Value) -> Vec<ValidationError> {
        limit_validation_errors((self.check_fn)(value))
    }
}

fn deserialize_error<T: DeserializeOwned>(value: &Value) -> Option<ValidationError> {
    let error = match serde_path_to_error::deserialize::<_, T>(value) {
        Ok(_) => return None,
        Err(error) => error,
    };
    let mut path = String::new();
    for segment in error.path() {
        match segment {
            Segment::Seq { index } => path.push_str(&format!("/{index}")),
            Segment::Map { key } => {
                path.push_str(&format!("/{}", crate::schema_cache::escape_pointer_token(key)))
            }
            // Variants have no reliable level in the value.
            Segment::Enum { .. } | Segment::Unknown => break,
        }
    }
    let message = error.inner().to_string();
    let expected = message.rsplit_once(", expected ").map(|(_, expected)| json!(expected));
    Some(ValidationError {
        code: "type".into(),
        expected: expected.unwrap_or(Value::Null),
        got: value.pointer(&path).map(shorten_value),
        hint: None,
        path,
        message,
    })
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize)]
    #[expect(dead_code, reason = "only read into")]
    struct SampleOrder {
        items: Vec<SampleOrderItem>,
    }

    #[derive(Deserialize)]
    #[expect(dead_code, reason = "only read into")]
    struct SampleOrderItem {
        amount: u32,
        from: std::net::Ipv4Addr,
    }

    /// Proves L14: an error names what the type cannot hold and where it is.
    #[test]
    fn value_outside_the_type_is_reported_with_its_pointer() {
        let order = |amount: Value, from: &str| {
            let order = json!({"items": [{"amount": amount, "from": from}]});
            let problems = ValueType::for_type::<SampleOrder>().check_value(&order);
            problems.into_iter().map(|problem| (problem.path, problem.expected)).next()
        };
        assert_eq!(order(json!(40), "127.0.0.1"), None);
        let amount = Some(("/items/0/amount".to_owned(), json!("u32")));
        assert_eq!(order(json!(5_000_000_000_u64), "127.0.0.1"), amount);
        assert_eq!(order(json!(2.5), "127.0.0.1"), amount);
        assert_eq!(order(json!(1), "home").unwrap().0, "/items/0/from");
    }
}
