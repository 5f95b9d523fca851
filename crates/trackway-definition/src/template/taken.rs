//! What a template takes a name for, as far as that can be seen beside it: a number or a list.

use serde_json::Value;
use trackway_domain::Object;

use crate::lack::{Lack, Like, find};

/// Filters of numbers, and of lists.
const OF_NUMBERS: [&str; 5] = ["fixed", "round", "abs", "int", "float"];
const OF_LISTS: [&str; 13] = [
    "length",
    "count",
    "join",
    "first",
    "last",
    "min",
    "max",
    "sum",
    "sort",
    "unique",
    "map",
    "select",
    "selectattr",
];

/// Marks that stand between numbers.
const ARITHMETIC: [char; 7] = ['+', '-', '*', '/', '%', '<', '>'];

/// What stands under this name has to be like this.
pub(super) fn like(source: &str, name: &str) -> Like {
    let uses = source.match_indices(name).filter_map(|(start, _)| {
        let (before, after) = (&source[..start], &source[start + name.len()..]);
        let open = before.rfind("{{").max(before.rfind("{%"))?;
        let inside = before[open + 2..].trim_start_matches(['-', '+']);
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '\'' | '"');
        if inside.contains("}}") || inside.contains("%}") || inside.ends_with(is_part) {
            return None;
        }
        let is_longer = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '[');
        (!after.starts_with(is_longer)).then(|| beside(inside.trim_end(), after.trim_start()))
    });
    let mut found = Like::Anything;
    for like in uses {
        // A list is only good for what is done with lists; so that counts more.
        if like == Like::List || found == Like::Anything {
            found = like;
        }
    }
    found
}

fn beside(before: &str, after: &str) -> Like {
    if let Some(filter) = after.strip_prefix('|') {
        let filter = filter.trim_start();
        let end = filter.find(|c: char| !c.is_alphanumeric()).unwrap_or(filter.len());
        let filter = &filter[..end];
        return match filter {
            _ if OF_NUMBERS.contains(&filter) => Like::Number,
            _ if OF_LISTS.contains(&filter) => Like::List,
            _ => Like::Anything,
        };
    }
    if before.starts_with("for ") || before.starts_with(" for ") {
        return if before.ends_with(" in") { Like::List } else { Like::Anything };
    }
    // The end of a tag is no remainder.
    let follows =
        !after.starts_with("%}") && !after.starts_with("-}}") && !after.starts_with("-%}");
    let quote = |c: char| matches!(c, '\'' | '"');
    let is_text = before.trim_end_matches(ARITHMETIC).trim_end().ends_with(quote)
        || after.trim_start_matches(ARITHMETIC).trim_start().starts_with(quote);
    let digit = |text: &str| text.trim_start().starts_with(|c: char| c.is_ascii_digit());
    let equals = ["==", "!="].iter().any(|mark| after.strip_prefix(mark).is_some_and(digit));
    if !is_text
        && (before.ends_with(ARITHMETIC) || follows && after.starts_with(ARITHMETIC) || equals)
    {
        return Like::Number;
    }
    Like::Anything
}

/// The first name whose value is not what the template takes it for; where all are, a zero, since
/// dividing by it is what goes wrong with numbers.
pub(super) fn misfit(
    source: &str,
    known: &[String],
    context: &Object,
    reason: &str,
) -> Option<Lack> {
    let taken: Vec<(&String, &Value, Like)> = known
        .iter()
        .filter_map(|name| Some((name, find(context, name)?, like(source, name))))
        .collect();
    let wrong = taken.iter().find(|(_, value, like)| match like {
        Like::Number => !value.is_number(),
        Like::List => !value.is_array(),
        _ => false,
    });
    let zero = || {
        let is_zero = |value: &Value| value.as_f64() == Some(0.0);
        taken.iter().find(|(_, value, like)| *like == Like::Number && is_zero(value))
    };
    let (name, value, like) = wrong.or_else(zero)?;
    Some(Lack::misfit(name.as_str(), value, like.clone(), reason))
}
