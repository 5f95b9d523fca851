//! The page of limits, from the constants themselves.
//!
//! A constant is on the page when its doc comment has a line `/// Limit (AREA): what is limited.`, and
//! its configuration key when that line ends with it: a semicolon, the section in brackets and the key.

pub(crate) mod rust_constants;
mod value;

use std::fmt::Write as _;
use std::fs;

use anyhow::{Context, Result, bail};

use crate::repo;
use rust_constants::Constant;

/// Every area that a limit may belong to, in the order of the page.
const AREAS: &[(&str, &str)] = &[
    ("HTTP", "the server, its callers and their keys"),
    ("A2A", "the A2A server and client"),
    ("Push", "push notifications"),
    ("MCP", "the MCP server"),
    ("Sessions", "what agents do through MCP, and exported sessions"),
    ("Definitions", "workflow files, their templates, expressions and schemas"),
    ("Agents", "turns, models and the tools that come with Trackway"),
    ("Tools", "MCP servers that agents use"),
    ("Engine", "values and ids of any kind"),
    ("Runtime", "runs"),
    ("Store", "the database"),
    ("Artifacts", "versions of artifacts and their content"),
    ("Mesh", "agents of other processes"),
    ("CLI", "the command line"),
];

const HEAD: &str = "\
# Limits

Generated from the constants by `cargo xtask generate`; do not edit.

Every bound on size, number and time. A limit with a key can be changed in `trackway.toml` \
([configuration](configuration.md)); the value here is its default.
";

/// A line of the page.
#[derive(Debug)]
struct Limit {
    area: String,
    text: String,
    key: Option<String>,
    value: String,
    constant: String,
    path: String,
}

pub(super) fn render_page() -> Result<String> {
    let mut files = Vec::new();
    for path in repo::files()? {
        if is_source(&path) {
            let text = fs::read_to_string(repo::path(&path)).with_context(|| format!("reading {path}"))?;
            files.push((path, text));
        }
    }
    render_limits(&collect_limits(&files)?)
}

/// Code that ships: a bound in a test is not a limit for users.
pub(crate) fn is_source(path: &str) -> bool {
    let mut folders = path.split('/');
    folders.next() == Some("crates")
        && path.ends_with(".rs")
        && path.contains("/src/")
        && !path.ends_with("/tests.rs")
        && folders.all(|folder| folder != "tests" && folder != "trackway-testkit")
}

/// All limits of the files, or every mistake in their form.
fn collect_limits(files: &[(String, String)]) -> Result<Vec<Limit>> {
    let constants: Vec<Constant<'_>> =
        files.iter().flat_map(|(path, text)| rust_constants::constants(path, text)).collect();
    let mut found = Vec::new();
    let mut mistakes = Vec::new();
    for (path, text) in files {
        let orphans = rust_constants::orphan_marks(text);
        mistakes.extend(
            orphans
                .into_iter()
                .map(|line| format!("{path}:{line}: a `Limit` line that does not belong to a constant")),
        );
    }
    for constant in &constants {
        let Some(mark) = &constant.mark else { continue };
        match parse_limit(constant, mark, &constants) {
            Ok(limit) => found.push(limit),
            Err(error) => mistakes.push(format!("{}:{}: {error}", constant.path, constant.line)),
        }
    }
    if !mistakes.is_empty() {
        bail!("limits that cannot be read:\n{}", mistakes.join("\n"));
    }
    Ok(found)
}

fn parse_limit(constant: &Constant<'_>, mark: &str, all: &[Constant<'_>]) -> Result<Limit> {
    let form = "the form is `/// Limit (AREA): what is limited.`";
    let Some((area, text)) = mark.strip_prefix('(').and_then(|rest| rest.split_once("): ")) else {
        bail!("{form}");
    };
    let Some(text) = text.strip_suffix('.') else { bail!("it has to end with a full stop; {form}") };
    if !AREAS.iter().any(|(name, _)| *name == area) {
        let names: Vec<&str> = AREAS.iter().map(|(name, _)| *name).collect();
        bail!("no area `{area}`; there are: {}", names.join(", "));
    }
    let (text, key) = match text.rsplit_once("; `") {
        Some((text, key)) if key.starts_with('[') => (text, key.strip_suffix('`')),
        _ => (text, None),
    };
    let value = value::evaluate(constant, all)?;
    Ok(Limit {
        area: area.to_owned(),
        text: text.to_owned(),
        key: key.map(str::to_owned),
        value: value.format_for_people(constant.name, text),
        constant: constant.name.to_owned(),
        path: constant.path.to_owned(),
    })
}

fn render_limits(limits: &[Limit]) -> Result<String> {
    let mut page = HEAD.to_owned();
    for (area, about) in AREAS {
        let rows: Vec<&Limit> = limits.iter().filter(|limit| limit.area == *area).collect();
        if rows.is_empty() {
            continue;
        }
        let with_keys = rows.iter().any(|limit| limit.key.is_some());
        let (title, rule) = if with_keys { (" key |", " --- |") } else { ("", "") };
        writeln!(page, "\n## {area}: {about}\n")?;
        writeln!(page, "| limit | value |{title} constant |")?;
        writeln!(page, "| --- | --- |{rule} --- |")?;
        for limit in rows {
            let key = match &limit.key {
                Some(key) => format!(" `{key}` |"),
                None if with_keys => " |".to_owned(),
                None => String::new(),
            };
            let Limit { text, value, constant, path, .. } = limit;
            writeln!(page, "| {text} | {value} |{key} [`{constant}`](../{path}) |")?;
        }
    }
    Ok(page)
}

#[cfg(test)]
mod tests;
