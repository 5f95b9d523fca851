//! The settings in the file, each with its line, to show where a value came from. Secrets are hidden.

use serde_json::Value;
use toml::de::{DeTable, DeValue};

use crate::workspace::env_reference;

/// Replaces a secret.
pub const HIDDEN: &str = "(hidden)";

/// A setting as it is in the file. References to the environment are not replaced, because their values
/// are often secrets.
#[derive(Debug, Clone, PartialEq)]
pub struct RawSetting {
    /// `auth.keys[0].id`.
    pub key: String,
    pub value: Value,
    /// Position in the text.
    pub at: usize,
}

/// All settings of a TOML text; none if the text is not TOML.
pub(super) fn list_raw_settings(text: &str) -> Vec<RawSetting> {
    let mut all = Vec::new();
    if let Ok(table) = DeTable::parse(text) {
        collect_raw_settings(table.get_ref(), "", &mut all);
    }
    all.sort_by_key(|written| written.at);
    all
}

fn collect_raw_settings(table: &DeTable<'_>, key_prefix: &str, settings: &mut Vec<RawSetting>) {
    for (name, value) in table {
        let name = name.get_ref();
        let key = if key_prefix.is_empty() { name.to_string() } else { format!("{key_prefix}.{name}") };
        match value.get_ref() {
            DeValue::Table(table) => collect_raw_settings(table, &key, settings),
            DeValue::Array(items) if items.iter().any(|item| item.get_ref().is_table()) => {
                for (index, item) in items.iter().enumerate() {
                    if let DeValue::Table(table) = item.get_ref() {
                        collect_raw_settings(table, &format!("{key}[{index}]"), settings);
                    }
                }
            }
            plain => {
                let value = if is_secret_setting_key(&key) {
                    redact_unless_reference(plain)
                } else {
                    toml_to_json(plain)
                };
                settings.push(RawSetting { key, value, at: toml_value_offset(table, name) });
            }
        }
    }
}

fn toml_value_offset(table: &DeTable<'_>, name: &str) -> usize {
    table.get(name).map_or(0, |value| value.span().start)
}

/// Whether the value of this key grants access or is a signing key.
fn is_secret_setting_key(key: &str) -> bool {
    let last = key.rsplit('.').next().unwrap_or(key);
    let is_peer_key = last == "key" && key.starts_with("peers[");
    matches!(last, "api_key" | "secret" | "sha256")
        || is_peer_key
        || key == "nats.url"
        || key.contains(".headers.")
}

/// A reference does not reveal its value.
fn redact_unless_reference(value: &DeValue<'_>) -> Value {
    match value.as_str() {
        Some(text) if env_reference::is_env_reference(text) => text.into(),
        _ => HIDDEN.into(),
    }
}

fn toml_to_json(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => text.as_ref().into(),
        DeValue::Boolean(is) => (*is).into(),
        DeValue::Integer(number) => {
            number.as_str().parse::<i64>().map_or_else(|_| number.as_str().into(), Value::from)
        }
        DeValue::Float(number) => {
            number.as_str().parse::<f64>().map_or_else(|_| number.as_str().into(), Value::from)
        }
        DeValue::Datetime(time) => time.to_string().into(),
        DeValue::Array(items) => items.iter().map(|item| toml_to_json(item.get_ref())).collect(),
        DeValue::Table(_) => Value::Null,
    }
}
