//! Which tests prove which requirement.
//!
//! The requirements are the headings `### L7 Title` of `docs/requirements.md`. A test names what it proves
//! in its doc comment: `Proves L7, L15.` or `Proves L7 and L15: why.` This module reads both; `page` writes
//! the tests into the page, and a rule of tidy refuses ids that the page does not have.

mod page;

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result, bail};

use crate::repo;

pub(crate) use page::render_page;

/// The page that defines every requirement.
pub(crate) const PAGE: &str = "docs/requirements.md";

pub(crate) fn run(args: &[String]) -> Result<()> {
    let options = Options::parse(args)?;
    let page = read_page()?;
    let requirements = parse_requirements(&page);
    let wanted: Vec<&str> = requirements.iter().map(|it| it.id).filter(|id| options.matches(id)).collect();
    print!("{}", render_table(&wanted, &collect_claims()?, options.missing_only));
    Ok(())
}

fn read_page() -> Result<String> {
    fs::read_to_string(repo::path(PAGE)).with_context(|| format!("reading {PAGE}"))
}

fn collect_claims() -> Result<Vec<Claim>> {
    let mut claims = Vec::new();
    for path in repo::files()?.iter().filter(|path| path.ends_with(".rs")) {
        let text = fs::read_to_string(repo::path(path)).with_context(|| format!("reading {path}"))?;
        claims.extend(claims_in(path, &text));
    }
    Ok(claims)
}

#[derive(Debug, Default)]
struct Options {
    missing_only: bool,
    /// A letter or a whole id.
    part: Option<String>,
}

impl Options {
    fn parse(args: &[String]) -> Result<Self> {
        let mut options = Self::default();
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            match arg.as_str() {
                "--missing" => options.missing_only = true,
                "--for" => match rest.next() {
                    Some(part) => options.part = Some(part.to_uppercase()),
                    None => bail!("--for needs a letter or an id, such as --for L or --for L7"),
                },
                other => bail!("`requirements` takes --missing and --for PART, got: {other}"),
            }
        }
        Ok(options)
    }

    fn matches(&self, id: &str) -> bool {
        let Some(part) = &self.part else { return true };
        if is_id(part) { id == part } else { id.starts_with(part.as_str()) }
    }
}

/// A heading of the page.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Requirement<'a> {
    pub(crate) id: &'a str,
    pub(crate) line: usize,
}

/// The requirements in the page's order.
pub(crate) fn parse_requirements(page: &str) -> Vec<Requirement<'_>> {
    page.lines()
        .enumerate()
        .filter_map(|(index, line)| Some(Requirement { id: requirement_id(line)?, line: index + 1 }))
        .collect()
}

/// The id in a heading `### L7 Title`.
fn requirement_id(line: &str) -> Option<&str> {
    line.strip_prefix("### ")?.split(' ').next().filter(|word| is_id(word))
}

fn is_id(word: &str) -> bool {
    let digits = word.strip_prefix(|c: char| c.is_ascii_uppercase());
    digits.is_some_and(|d| !d.is_empty() && d.bytes().all(|b| b.is_ascii_digit()))
}

/// One requirement named by one test.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Claim {
    pub(crate) id: String,
    pub(crate) path: String,
    pub(crate) line: usize,
    pub(crate) function: String,
}

/// The claims in the doc comments of a file's functions.
pub(crate) fn claims_in(path: &str, text: &str) -> Vec<Claim> {
    let mut claims = Vec::new();
    let mut doc = String::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if let Some(sentence) = line.strip_prefix("///") {
            doc.push_str(sentence);
        } else if let Some(name) = function_name(line) {
            claims.extend(proved_ids(&doc).into_iter().map(|id| Claim {
                id,
                path: path.to_owned(),
                line: index + 1,
                function: name.to_owned(),
            }));
            doc.clear();
        } else if line.is_empty() || line.ends_with([';', '}', '{']) {
            // Attributes may come between the comment and the function; another item may not.
            doc.clear();
        }
    }
    claims
}

/// The lists after each `Proves`: ids separated by commas and `and`. Any word in the position of an id is
/// kept, so that a range or a typing error is reported and not lost.
fn proved_ids(doc: &str) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    for list in doc.split("Proves ").skip(1) {
        let mut is_due = true;
        for word in list.split_whitespace() {
            if word == "and" {
                is_due = true;
                continue;
            }
            if !is_due {
                break;
            }
            let id = word.trim_end_matches(['.', ',', ':', ';']);
            if !ids.iter().any(|known| known == id) {
                ids.push(id.to_owned());
            }
            if word.ends_with(['.', ':', ';']) {
                break;
            }
            is_due = word.ends_with(',');
        }
    }
    ids
}

fn function_name(line: &str) -> Option<&str> {
    let (before, after) = line.split_once("fn ")?;
    let only_qualifiers = before
        .split_whitespace()
        .all(|word| matches!(word, "async" | "unsafe" | "const") || word.starts_with("pub"));
    only_qualifiers.then(|| after.split(['(', '<']).next().unwrap_or(after))
}

fn render_table(ids: &[&str], claims: &[Claim], missing_only: bool) -> String {
    let mut by_id: BTreeMap<&str, Vec<&Claim>> = BTreeMap::new();
    for claim in claims {
        by_id.entry(&claim.id).or_default().push(claim);
    }
    let mut out = String::new();
    let mut missing = 0;
    for id in ids {
        match by_id.get(id) {
            None => {
                missing += 1;
                out.push_str(&format!("{id:<4} -\n"));
            }
            Some(_) if missing_only => {}
            Some(tests) => {
                for (index, test) in tests.iter().enumerate() {
                    let label = if index == 0 { id } else { "" };
                    let Claim { path, line, function, .. } = test;
                    out.push_str(&format!("{label:<4} {path}:{line} {function}\n"));
                }
            }
        }
    }
    let total = ids.len();
    out.push_str(&format!(
        "\n{} of {total} requirements are named by a test; {missing} are not.\n",
        total - missing
    ));
    out
}

#[cfg(test)]
mod tests;
