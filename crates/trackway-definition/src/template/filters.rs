//! What can be done to a value inside a template. Names and meaning are those of Jinja.

use minijinja::value::{Kwargs, ValueKind};
use minijinja::{Environment, Error, ErrorKind, Value, filters, tests};

use super::RENDERED_BYTES_MAX;

/// Digits after the point: an `f64` has no more to show.
const DIGITS_MAX: usize = 20;

pub(super) fn add(environment: &mut Environment<'static>) {
    environment.add_filter("fixed", fixed);
    environment.add_filter("join", join);
    environment.add_filter("replace", replace);
    environment.add_filter("tojson", json_of);
    environment.add_filter("json", json_of);
    environment.add_filter("default", filters::default);
    environment.add_filter("d", filters::default);
    environment.add_filter("length", filters::length);
    environment.add_filter("count", filters::length);
    environment.add_filter("upper", filters::upper);
    environment.add_filter("lower", filters::lower);
    environment.add_filter("title", filters::title);
    environment.add_filter("capitalize", filters::capitalize);
    environment.add_filter("trim", filters::trim);
    environment.add_filter("split", filters::split);
    environment.add_filter("lines", filters::lines);
    environment.add_filter("first", filters::first);
    environment.add_filter("last", filters::last);
    environment.add_filter("min", filters::min);
    environment.add_filter("max", filters::max);
    environment.add_filter("sum", filters::sum);
    environment.add_filter("sort", filters::sort);
    environment.add_filter("unique", filters::unique);
    environment.add_filter("reverse", filters::reverse);
    environment.add_filter("list", filters::list);
    environment.add_filter("items", filters::items);
    environment.add_filter("map", filters::map);
    environment.add_filter("select", filters::select);
    environment.add_filter("selectattr", filters::selectattr);
    environment.add_filter("reject", filters::reject);
    environment.add_filter("rejectattr", filters::rejectattr);
    environment.add_filter("abs", filters::abs);
    environment.add_filter("round", filters::round);
    environment.add_filter("int", filters::int);
    environment.add_filter("float", filters::float);
    environment.add_filter("string", text);

    environment.add_test("defined", tests::is_defined);
    environment.add_test("undefined", tests::is_undefined);
    environment.add_test("none", tests::is_none);
    environment.add_test("string", tests::is_string);
    environment.add_test("number", tests::is_number);
    environment.add_test("boolean", tests::is_boolean);
    environment.add_test("sequence", tests::is_sequence);
    environment.add_test("mapping", tests::is_mapping);
    environment.add_test("true", tests::is_true);
    environment.add_test("false", tests::is_false);
    environment.add_test("odd", tests::is_odd);
    environment.add_test("even", tests::is_even);
    environment.add_test("in", tests::is_in);
    environment.add_test("eq", tests::is_eq);
    environment.add_test("equalto", tests::is_eq);
    environment.add_test("ne", tests::is_ne);
    environment.add_test("lt", tests::is_lt);
    environment.add_test("le", tests::is_le);
    environment.add_test("gt", tests::is_gt);
    environment.add_test("ge", tests::is_ge);
    environment.add_test("startingwith", tests::is_startingwith);
    environment.add_test("endingwith", tests::is_endingwith);
}

/// A value as compact JSON.
pub(super) fn json(value: &Value) -> Result<String, Error> {
    serde_json::to_string(value).map_err(|error| {
        Error::new(ErrorKind::BadSerialization, "the value cannot be written as JSON")
            .with_source(error)
    })
}

fn json_of(value: &Value) -> Result<String, Error> {
    if value.is_undefined() {
        return Err(Error::from(ErrorKind::UndefinedError));
    }
    json(value)
}

/// A value as it is shown: texts as they are, lists and objects as JSON.
fn text(value: &Value) -> Result<String, Error> {
    match value.kind() {
        ValueKind::Undefined => Err(Error::from(ErrorKind::UndefinedError)),
        ValueKind::String => Ok(value.to_string()),
        _ => json(value),
    }
}

/// A number with this many digits after the point.
fn fixed(value: &Value, digits: Option<usize>) -> Result<String, Error> {
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

/// The items in a row with something between them; items that are lists or objects as JSON.
#[expect(clippy::needless_pass_by_value, reason = "a filter gets its options by value")]
fn join(value: &Value, between: Option<String>, options: Kwargs) -> Result<String, Error> {
    let attribute: Option<String> = options.get("attribute")?;
    options.assert_all_used()?;
    if value.is_undefined() {
        return Err(Error::from(ErrorKind::UndefinedError));
    }
    let between = between.unwrap_or_default();
    let mut joined = String::new();
    for (place, item) in value.try_iter()?.enumerate() {
        if place > 0 {
            joined.push_str(&between);
        }
        match &attribute {
            Some(name) => joined.push_str(&text(&item.get_attr(name)?)?),
            None => joined.push_str(&text(&item)?),
        }
        check_length(joined.len())?;
    }
    Ok(joined)
}

fn replace(value: &str, from: &str, to: &str) -> Result<String, Error> {
    let times = if from.is_empty() { value.len() + 1 } else { value.matches(from).count() };
    check_length(value.len().saturating_add(times.saturating_mul(to.len())))?;
    Ok(value.replace(from, to))
}

/// A value inside a template is never longer than what comes out of it may be.
fn check_length(bytes: usize) -> Result<(), Error> {
    if bytes <= RENDERED_BYTES_MAX {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::InvalidOperation,
        format!("a text inside a template has at most {RENDERED_BYTES_MAX} bytes"),
    ))
}
