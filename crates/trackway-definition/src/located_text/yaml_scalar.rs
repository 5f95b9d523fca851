//! The meaning of a plain word of YAML: the core schema of YAML 1.2.
//!
//! `yes`, `no`, `on` and `off` are text, as in YAML 1.2. Numbers that JSON cannot hold are refused, not
//! changed.

use serde_json::{Number, Value};

/// The value of an unquoted word; an error says why it has none.
pub(super) fn parse_yaml_scalar(word: &str) -> Result<Value, String> {
    match word {
        "" | "~" | "null" | "Null" | "NULL" => return Ok(Value::Null),
        "true" | "True" | "TRUE" => return Ok(Value::Bool(true)),
        "false" | "False" | "FALSE" => return Ok(Value::Bool(false)),
        _ => {}
    }
    let unsigned = word.strip_prefix(['-', '+']).unwrap_or(word);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(word, ".nan" | ".NaN" | ".NAN") {
        return Err(format!("{word} is no number that JSON can hold"));
    }
    if let Some(digits) = word.strip_prefix("0x") {
        return parse_radix_integer(word, digits, 16);
    }
    if let Some(digits) = word.strip_prefix("0o") {
        return parse_radix_integer(word, digits, 8);
    }
    if is_digits(unsigned) {
        // A number beyond 64 bits is a float, as in JSON.
        let whole = word.strip_prefix('+').unwrap_or(word);
        if let Ok(number) = whole.parse::<i64>() {
            return Ok(number.into());
        }
        if let Ok(number) = whole.parse::<u64>() {
            return Ok(number.into());
        }
        return parse_yaml_float(word);
    }
    if is_yaml_float(unsigned) { parse_yaml_float(word) } else { Ok(Value::String(word.to_owned())) }
}

fn parse_radix_integer(word: &str, digits: &str, radix: u32) -> Result<Value, String> {
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
        return Ok(Value::String(word.to_owned()));
    }
    u64::from_str_radix(digits, radix)
        .map(Value::from)
        .map_err(|_| format!("the number {word} has more than 64 bits"))
}

fn parse_yaml_float(word: &str) -> Result<Value, String> {
    word.parse::<f64>()
        .ok()
        .and_then(Number::from_f64)
        .map(Value::Number)
        .ok_or_else(|| format!("the number {word} is out of range"))
}

fn is_digits(digits: &str) -> bool {
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// `[0-9]+(\.[0-9]*)?` or `\.[0-9]+`, each with an exponent or without.
fn is_yaml_float(unsigned: &str) -> bool {
    let (base, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((base, exponent)) => (base, Some(exponent)),
        None => (unsigned, None),
    };
    let exponent_fits =
        exponent.is_none_or(|power| is_digits(power.strip_prefix(['-', '+']).unwrap_or(power)));
    let base_fits = match base.split_once('.') {
        Some(("", fraction)) => is_digits(fraction),
        Some((whole, fraction)) => is_digits(whole) && (fraction.is_empty() || is_digits(fraction)),
        None => is_digits(base),
    };
    exponent_fits && base_fits
}
