//! CEL expressions over the context. Values go in as values and come out as values: nothing that an
//! agent sends is ever read as part of an expression.
//!
//! Every name of the context is a variable, and `context` is the whole of it, so that
//! `has(context.name)` asks for a name that may not be set.

mod bound;
mod convert;
mod explain;
mod ordered;

use std::sync::{Arc, LazyLock};

use cel::parser::PrattParser;
use cel::{Context, Env, IdedExpr};
use serde_json::Value;
use trackway_domain::Object;

use crate::lack::Lack;

/// A condition or a mapping, not a program.
const SOURCE_BYTES_MAX: usize = 4 * 1024;

/// Brackets and choices inside each other; the parser works on the thread's stack.
const NESTING_MAX: u16 = 24;

/// The variable that is the whole context.
const WHOLE: &str = "context";

static ENVIRONMENT: LazyLock<Arc<Env>> = LazyLock::new(|| Arc::new(Env::stdlib()));

/// The value of an expression.
pub(crate) fn evaluate(source: &str, context: &Object) -> Result<Value, Lack> {
    let mut expression = compile(source).map_err(Lack::wrong)?;
    bound::check(&expression, context).map_err(Lack::wrong)?;
    ordered::keys(&mut expression);
    let mut variables = Context::with_env(ENVIRONMENT.clone());
    ordered::declare(&mut variables);
    for name in expression.references().variables() {
        if name == WHOLE {
            variables.add_variable_from_value(WHOLE, convert::object(context));
        } else if let Some(value) = context.get(name) {
            variables.add_variable_from_value(name, convert::value(value));
        }
    }
    let value = cel::Value::resolve(&expression, &variables)
        .map_err(|error| explain::lack(&error, source, &expression, context))?;
    convert::json(&value).map_err(|reason| Lack::wrong(format!("`{source}` gives {reason}.")))
}

/// Why a text is no expression, for whoever reads a definition.
pub(crate) fn expression_fault(source: &str) -> Option<String> {
    compile(source).err()
}

/// The name, where an expression is nothing but a name or a path of names.
pub(crate) fn plain_name(source: &str) -> Option<String> {
    explain::path(&compile(source).ok()?)
}

fn compile(source: &str) -> Result<IdedExpr, String> {
    if source.len() > SOURCE_BYTES_MAX {
        return Err(format!("An expression has at most {SOURCE_BYTES_MAX} bytes."));
    }
    let parser = PrattParser::new()
        .max_recursion_depth(NESTING_MAX)
        .error_recovery_limit(0)
        .error_reporting_limit(1);
    let expression = parser.parse(source).map_err(|errors| {
        let first = errors.errors.first().map_or_else(String::new, |error| error.msg.clone());
        format!("`{source}` is no CEL expression: {first}")
    })?;
    bound::check_depth(&expression)?;
    Ok(expression)
}

#[cfg(test)]
mod tests;
