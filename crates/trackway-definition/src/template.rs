//! Text with values in it: `{{ expression }}`, `{% if %}` and `{% for %}`.
//!
//! A name that is not set is an error, never an empty place: an agent that is shown half a sentence
//! would do half of the work. What a template can do is an allow-list, so that it means the same after
//! an upgrade of the library and cannot grow a value without bound.

mod filters;
mod names;
mod reading;
mod tags;

use std::io::{self, Write};
use std::sync::LazyLock;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Serde, ValueKind};
use minijinja::{Environment, ErrorKind, Template, UndefinedBehavior, Value as Shown};
use serde_json::Value;
use trackway_domain::Object;

use crate::flaw::Flaw;
use crate::lack::Lack;
use crate::reads::{Failure, Reads};

/// A rendered prompt is stored with its node and read by a model: more than this is no prompt.
/// Limit (Definitions): rendered prompt.
const RENDERED_BYTES_MAX: usize = 1024 * 1024;

/// Longer than any prompt that a person writes, and compiled in well under a second.
/// Limit (Definitions): template of a prompt.
const SOURCE_BYTES_MAX: usize = 256 * 1024;

/// Instructions of one rendering. A loop over ten thousand items with ten instructions each fits.
/// Limit (Definitions): instructions of one rendering.
const FUEL: u64 = 200_000;

/// `{% for … recursive %}` uses the thread's stack.
/// Limit (Definitions): levels of a recursive loop in a template.
const RECURSION_MAX: usize = 24;

static ENVIRONMENT: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut environment = Environment::empty();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    // Only with it does an error know the name that is not set.
    environment.set_debug(true);
    environment.set_fuel(Some(FUEL));
    environment.set_syntax(syntax());
    environment.set_recursion_limit(RECURSION_MAX);
    environment.set_formatter(|out, state, value| match value.kind() {
        ValueKind::String | ValueKind::Undefined => minijinja::escape_formatter(out, state, value),
        _ => Ok(out.write_str(&filters::json(value)?)?),
    });
    filters::add(&mut environment);
    environment
});

fn syntax() -> SyntaxConfig {
    // The default delimiters always build.
    SyntaxConfig::builder().keep_trailing_newline(true).build().unwrap_or_default()
}

/// The text with the values of the context in it.
pub(crate) fn render(source: &str, context: &Object) -> Result<String, Lack> {
    if is_plain(source) {
        return Ok(source.to_owned());
    }
    let template = compile(source).map_err(Lack::wrong)?;
    // Only what the template reads: a context can be much larger than that.
    let names = template.undeclared_variables(false);
    let read = names.iter().filter_map(|name| context.get_key_value(name));
    match fill(&template, read) {
        Ok(bytes) => String::from_utf8(bytes)
            .map_err(|_| Lack::wrong("The template made something that is no text.")),
        Err(error) => Err(lack(&error, &template, context)),
    }
}

fn fill<'v>(
    template: &Template<'_, '_>,
    values: impl IntoIterator<Item = (&'v String, &'v Value)>,
) -> Result<Vec<u8>, minijinja::Error> {
    let values = values.into_iter().map(|(name, value)| (name.as_str(), Shown::from(Serde(value))));
    let mut text = Bounded(Vec::new());
    template.render_captured_to(Shown::from_pairs(values), &mut text)?;
    Ok(text.0)
}

/// Why a text is no template that can ever be filled in, for whoever reads a definition.
pub(crate) fn template_fault(source: &str) -> Option<Flaw> {
    if is_plain(source) {
        return None;
    }
    match compile(source) {
        Ok(_) => names::unknown(source),
        Err(reason) => Some(Flaw::from(reason)),
    }
}

/// What a template reads; nothing where it is none.
pub(crate) fn reads(source: &str) -> Reads {
    if is_plain(source) || source.len() > SOURCE_BYTES_MAX {
        return Reads::default();
    }
    reading::reads(source)
}

/// The names that a template takes from outside.
#[cfg(test)]
pub(crate) fn undeclared(source: &str) -> Vec<String> {
    let template = compile(source).ok();
    template
        .map(|found| found.undeclared_variables(false).into_iter().collect())
        .unwrap_or_default()
}

/// Most titles have nothing to fill in.
fn is_plain(source: &str) -> bool {
    source.len() <= RENDERED_BYTES_MAX && !source.contains(['{', '}'])
}

fn compile(source: &str) -> Result<Template<'_, '_>, String> {
    if source.len() > SOURCE_BYTES_MAX {
        return Err(format!("A template has at most {SOURCE_BYTES_MAX} bytes."));
    }
    tags::check(source)?;
    let environment: &Environment<'_> = &ENVIRONMENT;
    environment.template_from_str(source).map_err(|error| said(&error))
}

fn lack(error: &minijinja::Error, template: &Template<'_, '_>, context: &Object) -> Lack {
    let failure = failure(error);
    if matches!(error.kind(), ErrorKind::OutOfFuel | ErrorKind::WriteFailure) {
        return Lack::wrong(failure.reason);
    }
    let reads = reading::reads(template.source());
    let shown = reads.of(context);
    let tried = |trial: &Object| match fill(template, trial) {
        Ok(_) => Ok(()),
        Err(error) => Err(self::failure(&error)),
    };
    reads.lack(&failure, &shown, &tried).unwrap_or_else(|| Lack::wrong(failure.reason))
}

fn failure(error: &minijinja::Error) -> Failure {
    let reason = match error.kind() {
        ErrorKind::OutOfFuel => "The template takes too long to fill in.".to_owned(),
        ErrorKind::WriteFailure => {
            format!("The filled-in text is longer than {RENDERED_BYTES_MAX} bytes.")
        }
        _ => said(error),
    };
    Failure { reason, unset: error.detail().and_then(unset) }
}

/// The path that an error says is undefined.
fn unset(detail: &str) -> Option<String> {
    let before = &detail[..detail.find("` is undefined")?];
    let expression = before.rfind('`').map(|start| &before[start + 1..])?;
    Some(expression.replace('[', ".").replace([']', '\'', '"'], ""))
}

/// An error in one sentence, with its line.
fn said(error: &minijinja::Error) -> String {
    let what = error.detail().map_or_else(|| error.kind().to_string(), str::to_owned);
    match error.line() {
        Some(line) => format!("The template cannot be filled in: {what} (line {line})."),
        None => format!("The template cannot be filled in: {what}."),
    }
}

/// Refuses to grow beyond the bound.
struct Bounded(Vec<u8>);

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > RENDERED_BYTES_MAX {
            return Err(io::Error::other("too long"));
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
