//! Every bound of the code that ships is on the page of limits.

use super::Finding;
use super::tree::Tree;
use crate::generate::limits::{is_source, rust_constants::constants};

/// Suffixes of the names of bounds.
const ENDINGS: &[&str] = &["_MAX", "_TIMEOUT"];
/// Types of bounds.
const TYPES: &[&str] = &["usize", "u8", "u16", "u32", "u64", "i64", "Duration"];

/// `cargo xtask generate` puts a constant on `docs/limits.md` when its doc comment says what it limits.
pub(super) fn bounds_are_marked(tree: &Tree) -> Vec<Finding> {
    let shipped = tree.rust_files().filter(|file| is_source(&file.path));
    shipped
        .flat_map(|file| constants(&file.path, &file.text))
        .filter(|constant| constant.mark.is_none() && TYPES.contains(&constant.kind.as_str()))
        .filter(|constant| ENDINGS.iter().any(|ending| constant.name.ends_with(ending)))
        .map(|constant| {
            let message = format!(
                "`{}` is a bound: say in its doc comment `Limit (AREA): what is limited.`",
                constant.name
            );
            Finding::new(constant.path, constant.line, message)
        })
        .collect()
}
