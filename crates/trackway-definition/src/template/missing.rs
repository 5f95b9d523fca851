//! Which name it was that is not set.

use minijinja::{Error, ErrorKind, Template};
use trackway_domain::Object;

use super::trial;
use crate::lack::{Lack, find};

/// More at once help nobody; the next attempt names the rest.
const NAMES_MAX: usize = 16;

/// The lack behind an error, where a name of the context is behind it.
pub(super) fn lack(error: &Error, template: &Template<'_, '_>, context: &Object) -> Option<Lack> {
    let named = error.detail().and_then(named);
    if named.is_none() && error.kind() != ErrorKind::UndefinedError {
        return None;
    }
    let known = known(template);
    let name = match named {
        Some(named) => outside(named, &known)?,
        None => known.iter().find(|name| find(context, name).is_none())?.clone(),
    };
    let name = first_missing(&name, context);
    let like = trial::like(template, context, &known, &name);
    Some(Lack::Missing { name, like, others: Vec::new() })
}

/// The same lack with the names that would be asked for next, once an example stands under each that is
/// asked for already.
pub(super) fn with_others(lack: Lack, template: &Template<'_, '_>, context: &Object) -> Lack {
    let Lack::Missing { name, like, mut others } = lack else { return lack };
    let mut trial = trial::shown(context, &known(template));
    trial::set(&mut trial, &name, like.example());
    while others.len() + 1 < NAMES_MAX {
        let Err(error) = super::fill(template, &trial) else { break };
        let next = self::lack(&error, template, &trial);
        let Some(Lack::Missing { name: next, like, .. }) = next else { break };
        if next == name || others.iter().any(|(other, _)| *other == next) {
            break;
        }
        trial::set(&mut trial, &next, like.example());
        others.push((next, like));
    }
    Lack::Missing { name, like, others }
}

/// Every name that the template takes from outside, as far as it goes into it: `a`, `a.b`.
pub(super) fn known(template: &Template<'_, '_>) -> Vec<String> {
    let mut known: Vec<String> = template.undeclared_variables(true).into_iter().collect();
    known.sort();
    known
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
