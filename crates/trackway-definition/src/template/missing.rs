//! Which name it was that is not set.

use minijinja::{Error, ErrorKind, Template};
use trackway_domain::Object;

use super::{said, taken};
use crate::lack::{Lack, Like, find, grown};

/// The lack behind an error, where a name of the context is behind it.
pub(super) fn lack(
    error: &Error,
    source: &str,
    template: &Template<'_, '_>,
    context: &Object,
) -> Option<Lack> {
    let named = error.detail().and_then(named);
    // Every name that the template takes from outside, as far as it goes into it: `a`, `a.b`.
    let mut known: Vec<String> = template.undeclared_variables(true).into_iter().collect();
    known.sort();
    if named.is_none() && error.kind() != ErrorKind::UndefinedError {
        return taken::misfit(source, &known, context, &said(error));
    }
    let name = match named {
        Some(named) => outside(named, &known)?,
        None => known.iter().find(|name| find(context, name).is_none())?.clone(),
    };
    let name = first_missing(&name, context);
    let beneath = known.iter().filter_map(|known| known.strip_prefix(&name)?.strip_prefix('.'));
    let beneath = beneath.map(|path| {
        let like = taken::like(source, &format!("{name}.{path}"));
        (path, like.example())
    });
    let like = grown(beneath).map_or_else(|| taken::like(source, &name), Like::Example);
    Some(Lack::Missing { name, like })
}

/// The expression that an error says is undefined.
fn named(detail: &str) -> Option<&str> {
    let before = &detail[..detail.find("` is undefined")?];
    before.rfind('`').map(|start| &before[start + 1..])
}

/// The path of an expression, where its root is a name of the context and not one of a loop.
fn outside(expression: &str, known: &[String]) -> Option<String> {
    let path = expression.replace('[', ".").replace([']', '\'', '"'], "");
    let root = path.split('.').next()?;
    let is_path = path.split('.').all(|part| !part.is_empty() && !part.contains('('));
    let is_outside = known.iter().any(|name| name.split('.').next() == Some(root));
    (is_path && is_outside).then_some(path)
}

/// The shortest part of a path that is not set: where `a` is not, it is no use to send `a.b` alone.
fn first_missing(name: &str, context: &Object) -> String {
    let ends = name.match_indices('.').map(|(end, _)| end).chain([name.len()]);
    let missing = ends.map(|end| &name[..end]).find(|part| find(context, part).is_none());
    missing.unwrap_or(name).to_owned()
}
