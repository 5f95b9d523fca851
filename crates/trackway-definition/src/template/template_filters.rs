//! The filters and tests of templates. Names and meaning are those of Jinja.

use minijinja::value::{Kwargs, ValueKind};
use minijinja::{Environment, Error, ErrorKind, Value, filters, tests};

use super::RENDERED_BYTES_MAX;

/// Digits after the point: an `f64` has no more.
/// Limit (Definitions): digits after the point that a filter writes.
const DIGITS_MAX: usize = 20;

/// Registers functions in an environment, and lists their names.
macro_rules! register {
    ($names:ident, $add:ident by $method:ident: $($name:literal => $does:expr,)*) => {
        pub(super) const $names: &[&str] = &[$($name),*];

        fn $add(environment: &mut Environment<'static>) {
            $(environment.$method($name, $does);)*
        }
    };
}

register! { FILTERS, add_filters by add_filter:
    "fixed" => fixed_filter,
    "join" => join_filter,
    "replace" => replace_filter,
    "tojson" => json_filter,
    "json" => json_filter,
    "default" => filters::default,
    "d" => filters::default,
    "length" => filters::length,
    "count" => filters::length,
    "upper" => filters::upper,
    "lower" => filters::lower,
    "title" => filters::title,
    "capitalize" => filters::capitalize,
    "trim" => filters::trim,
    "split" => filters::split,
    "lines" => filters::lines,
    "first" => filters::first,
    "last" => filters::last,
    "min" => filters::min,
    "max" => filters::max,
    "sum" => filters::sum,
    "sort" => filters::sort,
    "unique" => filters::unique,
    "reverse" => filters::reverse,
    "list" => filters::list,
    "items" => filters::items,
    "map" => filters::map,
    "select" => filters::select,
    "selectattr" => filters::selectattr,
    "reject" => filters::reject,
    "rejectattr" => filters::rejectattr,
    "abs" => filters::abs,
    "round" => filters::round,
    "int" => filters::int,
    "float" => filters::float,
    "string" => text_filter,
}

register! { TESTS, add_tests by add_test:
    "defined" => tests::is_defined,
    "undefined" => tests::is_undefined,
    "none" => tests::is_none,
    "string" => tests::is_string,
    "number" => tests::is_number,
    "boolean" => tests::is_boolean,
    "sequence" => tests::is_sequence,
    "mapping" => tests::is_mapping,
    "true" => tests::is_true,
    "false" => tests::is_false,
    "odd" => tests::is_odd,
    "even" => tests::is_even,
    "in" => tests::is_in,
    "eq" => tests::is_eq,
    "equalto" => tests::is_eq,
    "ne" => tests::is_ne,
    "lt" => tests::is_lt,
    "le" => tests::is_le,
    "gt" => tests::is_gt,
    "ge" => tests::is_ge,
    "startingwith" => tests::is_startingwith,
    "endingwith" => tests::is_endingwith,
}

pub(super) fn add_filters_and_tests(environment: &mut Environment<'static>) {
    add_filters(environment);
    add_tests(environment);
}

/// A value as compact JSON.
pub(super) fn to_compact_json(value: &Value) -> Result<String, Error> {
    serde_json::to_string(value).map_err(|error| {
        Error::new(ErrorKind::BadSerialization, "the value cannot be written as JSON").with_source(error)
    })
}

fn json_filter(value: &Value) -> Result<String, Error> {
    if value.is_undefined() {
        return Err(Error::from(ErrorKind::UndefinedError));
    }
    to_compact_json(value)
}

/// A value for display: texts unchanged, lists and objects as JSON.
fn text_filter(value: &Value) -> Result<String, Error> {
    match value.kind() {
        ValueKind::Undefined => Err(Error::from(ErrorKind::UndefinedError)),
        ValueKind::String => Ok(value.to_string()),
        _ => to_compact_json(value),
    }
}

/// A number with this many digits after the point.
fn fixed_filter(value: &Value, digits: Option<usize>) -> Result<String, Error> {
    if value.is_undefined() {
        return Err(Error::from(ErrorKind::UndefinedError));
    }
    let digits = digits.unwrap_or(0);
    if digits > DIGITS_MAX {
        return Err(Error::new(
            ErrorKind::InvalidOperation,
            format!("`fixed` takes at most {DIGITS_MAX} digits"),
        ));
    }
    let number = f64::try_from(value.clone())
        .map_err(|_| Error::new(ErrorKind::InvalidOperation, "`fixed` needs a number"))?;
    Ok(format!("{number:.digits$}"))
}

/// The items joined with a separator; items that are lists or objects as JSON.
#[expect(clippy::needless_pass_by_value, reason = "a filter gets its options by value")]
fn join_filter(value: &Value, between: Option<String>, options: Kwargs) -> Result<String, Error> {
    let attribute: Option<String> = options.get("attribute")?;
    options.assert_all_used()?;
    if value.is_undefined() {
        return Err(Error::from(ErrorKind::UndefinedError));
    }
    let between = between.unwrap_or_default();
    let mut joined = String::new();
    for (index, item) in value.try_iter()?.enumerate() {
        if index > 0 {
            joined.push_str(&between);
        }
        match &attribute {
            Some(name) => joined.push_str(&text_filter(&item.get_attr(name)?)?),
            None => joined.push_str(&text_filter(&item)?),
        }
        check_rendered_length(joined.len())?;
    }
    Ok(joined)
}

fn replace_filter(value: &str, from: &str, reference: &str) -> Result<String, Error> {
    let times = if from.is_empty() { value.len() + 1 } else { value.matches(from).count() };
    check_rendered_length(value.len().saturating_add(times.saturating_mul(reference.len())))?;
    Ok(value.replace(from, reference))
}

/// A value inside a template may not be longer than the rendered text.
fn check_rendered_length(bytes: usize) -> Result<(), Error> {
    if bytes <= RENDERED_BYTES_MAX {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::InvalidOperation,
        format!("a text inside a template has at most {RENDERED_BYTES_MAX} bytes"),
    ))
}
