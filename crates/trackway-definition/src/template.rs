//! Text with values in it: `{{ expression }}`, `{% if %}` and `{% for %}`.
//!
//! A name that is not set is an error, never an empty text: an agent that sees half a sentence would do half
//! of the work. The features of templates are an allow-list, so that a template means the same after an
//! upgrade of the library and cannot grow a value without limit.

mod template_filters;
mod template_name_check;
mod template_tag_check;
mod template_variable_reads;

use std::io::{self, Write};
use std::sync::LazyLock;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Serde, ValueKind};
use minijinja::{Environment, ErrorKind, Template, UndefinedBehavior, Value as Shown};
use serde_json::Value;
use trackway_domain::Object;

use crate::compile_error::CompileError;
use crate::context_error::ContextError;
use crate::context_reads::{ContextReads, EvaluationError};

/// A rendered prompt is stored with its node, and a model reads it: a longer text is not a prompt.
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
    // Only in debug mode does an error contain the name that is not set.
    environment.set_debug(true);
    environment.set_fuel(Some(FUEL));
    environment.set_syntax(template_syntax_config());
    environment.set_recursion_limit(RECURSION_MAX);
    environment.set_formatter(|out, state, value| match value.kind() {
        ValueKind::String | ValueKind::Undefined => minijinja::escape_formatter(out, state, value),
        _ => Ok(out.write_str(&template_filters::to_compact_json(value)?)?),
    });
    template_filters::add_filters_and_tests(&mut environment);
    environment
});

fn template_syntax_config() -> SyntaxConfig {
    // The default delimiters always build.
    SyntaxConfig::builder().keep_trailing_newline(true).build().unwrap_or_default()
}

/// The template rendered with the values of the context.
pub(crate) fn render_template(source: &str, context: &Object) -> Result<String, ContextError> {
    if has_no_template_tags(source) {
        return Ok(source.to_owned());
    }
    let template = compile_template(source).map_err(ContextError::invalid_without_name)?;
    // Only what the template reads: a context can be much larger.
    let names = template.undeclared_variables(false);
    let read = names.iter().filter_map(|name| context.get_key_value(name));
    match render_template_bytes(&template, read) {
        Ok(bytes) => String::from_utf8(bytes)
            .map_err(|_| ContextError::invalid_without_name("The template made something that is no text.")),
        Err(error) => Err(template_context_error(&error, &template, context)),
    }
}

fn render_template_bytes<'v>(
    template: &Template<'_, '_>,
    values: impl IntoIterator<Item = (&'v String, &'v Value)>,
) -> Result<Vec<u8>, minijinja::Error> {
    let values = values.into_iter().map(|(name, value)| (name.as_str(), Shown::from(Serde(value))));
    let mut text = BoundedTemplateWriter(Vec::new());
    template.render_captured_to(Shown::from_pairs(values), &mut text)?;
    Ok(text.0)
}

/// Why a text can never be a usable template, for the reader of definitions.
pub(crate) fn find_template_error(source: &str) -> Option<CompileError> {
    if has_no_template_tags(source) {
        return None;
    }
    match compile_template(source) {
        Ok(_) => template_name_check::find_unknown_filter_or_function(source),
        Err(reason) => Some(CompileError::from(reason)),
    }
}

/// What a template reads; nothing if it is not valid.
pub(crate) fn template_context_reads(source: &str) -> ContextReads {
    if has_no_template_tags(source) || source.len() > SOURCE_BYTES_MAX {
        return ContextReads::default();
    }
    template_variable_reads::collect_template_reads(source)
}

/// The names that a template takes from outside.
#[cfg(test)]
pub(crate) fn undeclared_template_variables(source: &str) -> Vec<String> {
    let template = compile_template(source).ok();
    template.map(|found| found.undeclared_variables(false).into_iter().collect()).unwrap_or_default()
}

/// Most titles contain no tags.
fn has_no_template_tags(source: &str) -> bool {
    source.len() <= RENDERED_BYTES_MAX && !source.contains(['{', '}'])
}

fn compile_template(source: &str) -> Result<Template<'_, '_>, String> {
    if source.len() > SOURCE_BYTES_MAX {
        return Err(format!("A template has at most {SOURCE_BYTES_MAX} bytes."));
    }
    template_tag_check::check_template_tags(source)?;
    let environment: &Environment<'_> = &ENVIRONMENT;
    environment.template_from_str(source).map_err(|error| format_template_error(&error))
}

fn template_context_error(
    error: &minijinja::Error,
    template: &Template<'_, '_>,
    context: &Object,
) -> ContextError {
    let failure = template_evaluation_error(error);
    if matches!(error.kind(), ErrorKind::OutOfFuel | ErrorKind::WriteFailure) {
        return ContextError::invalid_without_name(failure.reason);
    }
    let reads = template_variable_reads::collect_template_reads(template.source());
    let shown = reads.select_read_names(context);
    let tried = |trial: &Object| match render_template_bytes(template, trial) {
        Ok(_) => Ok(()),
        Err(error) => Err(self::template_evaluation_error(&error)),
    };
    reads
        .find_context_error(&failure, &shown, &tried)
        .unwrap_or_else(|| ContextError::invalid_without_name(failure.reason))
}

fn template_evaluation_error(error: &minijinja::Error) -> EvaluationError {
    let reason = match error.kind() {
        ErrorKind::OutOfFuel => "The template takes too long to fill in.".to_owned(),
        ErrorKind::WriteFailure => {
            format!("The filled-in text is longer than {RENDERED_BYTES_MAX} bytes.")
        }
        _ => format_template_error(error),
    };
    EvaluationError { reason, unset: error.detail().and_then(undefined_path_in_error) }
}

/// The path that an error says is undefined.
fn undefined_path_in_error(error_detail: &str) -> Option<String> {
    let before = &error_detail[..error_detail.find("` is undefined")?];
    let expression = before.rfind('`').map(|start| &before[start + 1..])?;
    Some(expression.replace('[', ".").replace([']', '\'', '"'], ""))
}

/// An error in one sentence, with its line.
fn format_template_error(error: &minijinja::Error) -> String {
    let what = error.detail().map_or_else(|| error.kind().to_string(), str::to_owned);
    match error.line() {
        Some(line) => format!("The template cannot be filled in: {what} (line {line})."),
        None => format!("The template cannot be filled in: {what}."),
    }
}

/// A writer that refuses to grow beyond the limit.
struct BoundedTemplateWriter(Vec<u8>);

impl Write for BoundedTemplateWriter {
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
