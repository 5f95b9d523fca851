//! The generated parts of the page of requirements: an overview, and below each requirement its tests.
//!
//! Everything else on the page is written by hand. A new requirement needs a heading and its text; the
//! part below it is added by `cargo xtask generate`.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write as _;

use anyhow::{Result, bail};

use super::{Claim, requirement_id};

const OPEN: &str = "<!-- generated -->";
const CLOSE: &str = "<!-- end of generated -->";
/// The overview is written below this line.
const OVERVIEW: &str = "<!-- overview -->";

/// Beyond this many tests, a number and the command that lists them are more useful than the names.
const TESTS_MAX: usize = 8;

/// The page as it must be now.
pub(crate) fn render_page() -> Result<String> {
    fill_generated_parts(&super::read_page()?, &super::collect_claims()?)
}

/// Replaces every generated part of the page.
pub(super) fn fill_generated_parts(page: &str, claims: &[Claim]) -> Result<String> {
    let mut tests: BTreeMap<&str, Vec<&Claim>> = BTreeMap::new();
    for claim in claims {
        tests.entry(&claim.id).or_default().push(claim);
    }
    let written = without_generated(page)?;
    let mut out: Vec<String> = Vec::new();
    let mut current: Option<&str> = None;
    for line in &written {
        if line.starts_with("## ") || line.starts_with("### ") {
            append_tests_of(&mut out, current.take(), &tests);
            current = requirement_id(line);
        }
        out.push((*line).to_owned());
        if *line == OVERVIEW {
            out.extend(wrap_generated(&render_overview(&written, &tests)?));
        }
    }
    append_tests_of(&mut out, current, &tests);
    Ok(out.join("\n").trim_end().to_owned() + "\n")
}

/// The lines that people wrote.
fn without_generated(page: &str) -> Result<Vec<&str>> {
    let mut lines: Vec<&str> = Vec::new();
    let mut inside = false;
    for line in page.lines() {
        match line {
            OPEN if !inside => inside = true,
            CLOSE if inside => inside = false,
            OPEN | CLOSE => bail!("`{OPEN}` and `{CLOSE}` do not alternate"),
            _ if inside => {}
            _ => lines.push(line),
        }
    }
    if inside {
        bail!("a part that begins with `{OPEN}` has no `{CLOSE}`");
    }
    Ok(lines)
}

/// Ends the section of a requirement with its tests.
fn append_tests_of(out: &mut Vec<String>, id: Option<&str>, tests: &BTreeMap<&str, Vec<&Claim>>) {
    while out.last().is_some_and(String::is_empty) {
        out.pop();
    }
    if let Some(id) = id {
        out.push(String::new());
        out.extend(wrap_generated(&render_tests(id, tests.get(id).map_or(&[], Vec::as_slice))));
    }
    if !out.is_empty() {
        out.push(String::new());
    }
}

fn wrap_generated(text: &str) -> Vec<String> {
    let lines = [OPEN].into_iter().chain(text.lines()).chain([CLOSE]);
    lines.map(str::to_owned).collect()
}

fn render_tests(id: &str, tests: &[&Claim]) -> String {
    if tests.is_empty() {
        return "*Planned: no test proves it yet.*".to_owned();
    }
    let count = tests.len();
    let noun = if count == 1 { "test" } else { "tests" };
    let mut text = format!("<details><summary>{count} {noun}</summary>\n\n");
    for Claim { path, function, .. } in select_tests(tests) {
        let _ = writeln!(text, "- [`{function}`](../{path})");
    }
    if let Some(more) = count.checked_sub(TESTS_MAX).filter(|more| *more > 0) {
        let _ = writeln!(text, "- and {more} more: `cargo xtask requirements --for {id}`");
    }
    text.push_str("\n</details>");
    text
}

/// Some tests of each crate, so that a requirement with many tests shows every level.
fn select_tests<'a>(tests: &[&'a Claim]) -> Vec<&'a Claim> {
    let mut by_crate: BTreeMap<&str, VecDeque<&Claim>> = BTreeMap::new();
    for test in tests {
        by_crate.entry(crate_folder(&test.path)).or_default().push_back(test);
    }
    let mut selected = Vec::new();
    while selected.len() < TESTS_MAX {
        let round: Vec<&Claim> = by_crate.values_mut().filter_map(VecDeque::pop_front).collect();
        if round.is_empty() {
            break;
        }
        selected.extend(round);
    }
    selected.truncate(TESTS_MAX);
    selected.sort_by_key(|test| (&test.path, test.line));
    selected
}

/// `crates/NAME`, or the first folder of another path.
fn crate_folder(path: &str) -> &str {
    let depth = if path.starts_with("crates/") { 2 } else { 1 };
    path.match_indices('/').nth(depth - 1).map_or(path, |(end, _)| &path[..end])
}

/// One row per group: a `## ` heading with requirements below it.
fn render_overview(lines: &[&str], tests: &BTreeMap<&str, Vec<&Claim>>) -> Result<String> {
    let mut text = "| group | requirements | with tests | planned |\n| --- | --- | --- | --- |\n".to_owned();
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut known = BTreeSet::new();
    for line in lines {
        if let Some(title) = line.strip_prefix("## ") {
            groups.push((title, Vec::new()));
        } else if let (Some(id), Some((_, ids))) = (requirement_id(line), groups.last_mut()) {
            if !known.insert(id) {
                bail!("{id} is defined twice");
            }
            ids.push(id);
        }
    }
    for (title, ids) in groups.iter().filter(|(_, ids)| !ids.is_empty()) {
        let planned: Vec<&str> = ids.iter().copied().filter(|id| !tests.contains_key(id)).collect();
        let (count, proved) = (ids.len(), ids.len() - planned.len());
        let planned = planned.join(", ");
        let _ = writeln!(text, "| {title} | {count} | {proved} | {planned} |");
    }
    Ok(text)
}
