//! Which tests prove which requirement.
//!
//! A test names what it proves in its doc comment, `/// Proves L7, L15.`; the ids come from the
//! table rows of a page that the caller names.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result, bail};

use crate::repo;

pub(crate) fn run(args: &[String]) -> Result<()> {
    let options = Options::parse(args)?;
    let page = fs::read_to_string(&options.page)
        .with_context(|| format!("reading the page of requirements {}", options.page))?;
    let ids: Vec<&str> = ids(&page).into_iter().filter(|id| options.wants(id)).collect();
    let mut claims = Vec::new();
    for path in repo::files()?.iter().filter(|path| path.ends_with(".rs")) {
        if let Ok(text) = fs::read_to_string(repo::path(path)) {
            claims.extend(claims_in(path, &text));
        }
    }
    print!("{}", table(&ids, &claims, options.missing_only));
    let wrong: Vec<&Claim> = claims
        .iter()
        .filter(|claim| options.wants(&claim.id) && !ids.contains(&claim.id.as_str()))
        .collect();
    for claim in &wrong {
        println!("{}: `{}` is not a requirement", claim.test, claim.id);
    }
    if !wrong.is_empty() {
        bail!(
            "{} ids named by tests do not exist; write a comma list such as `Proves L1, L2.`",
            wrong.len()
        );
    }
    Ok(())
}

#[derive(Debug, Default)]
struct Options {
    page: String,
    missing_only: bool,
    letter: Option<String>,
}

impl Options {
    fn parse(args: &[String]) -> Result<Self> {
        let mut options = Self::default();
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            match arg.as_str() {
                "--missing" => options.missing_only = true,
                "--for" => match rest.next() {
                    Some(letter) => options.letter = Some(letter.to_uppercase()),
                    None => bail!("--for needs a letter, such as --for L"),
                },
                page if options.page.is_empty() && !page.starts_with('-') => {
                    options.page = page.to_owned();
                }
                other => {
                    bail!("`requirements` takes PAGE, --missing and --for LETTER, got: {other}")
                }
            }
        }
        if options.page.is_empty() {
            bail!("`requirements` needs the page whose tables name them");
        }
        Ok(options)
    }

    fn wants(&self, id: &str) -> bool {
        self.letter.as_deref().is_none_or(|letter| id.starts_with(letter))
    }
}

/// One requirement named by one test.
#[derive(Debug, PartialEq, Eq)]
struct Claim {
    id: String,
    /// `path:line function`
    test: String,
}

/// The ids in the first column of the page's tables, in the page's order.
fn ids(page: &str) -> Vec<&str> {
    page.lines()
        .filter_map(|line| line.strip_prefix("| "))
        .filter_map(|row| row.split(" |").next())
        .filter(|cell| is_id(cell))
        .collect()
}

fn is_id(word: &str) -> bool {
    let digits = word.strip_prefix(|c: char| c.is_ascii_uppercase());
    digits.is_some_and(|d| !d.is_empty() && d.bytes().all(|b| b.is_ascii_digit()))
}

/// Every `Proves …` in a doc comment that a function follows.
fn claims_in(path: &str, text: &str) -> Vec<Claim> {
    let mut claims = Vec::new();
    let mut doc = String::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if let Some(sentence) = line.strip_prefix("///") {
            doc.push_str(sentence);
        } else if let Some(name) = function_name(line) {
            let test = format!("{path}:{} {name}", index + 1);
            claims.extend(proved(&doc).map(|id| Claim { id, test: test.clone() }));
            doc.clear();
        } else if line.is_empty() || line.ends_with([';', '}', '{']) {
            // Attributes may stand between the comment and the function; another item may not.
            doc.clear();
        }
    }
    claims
}

/// The words of the comma list after `Proves`, up to the end of the sentence. Words that are no ids
/// are kept, so that a range or a typing error is reported instead of lost.
fn proved(doc: &str) -> impl Iterator<Item = String> {
    let list = doc.split_once("Proves ").map_or("", |(_, rest)| rest);
    let list = list.split(['.', ':', ';', '(']).next().unwrap_or_default();
    list.split([',', ' ']).filter(|word| !word.is_empty()).map(str::to_owned)
}

fn function_name(line: &str) -> Option<&str> {
    let (before, after) = line.split_once("fn ")?;
    let only_qualifiers = before
        .split_whitespace()
        .all(|word| matches!(word, "async" | "unsafe" | "const") || word.starts_with("pub"));
    only_qualifiers.then(|| after.split(['(', '<']).next().unwrap_or(after))
}

fn table(ids: &[&str], claims: &[Claim], missing_only: bool) -> String {
    let mut by_id: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for claim in claims {
        by_id.entry(&claim.id).or_default().push(&claim.test);
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
                    out.push_str(&format!("{label:<4} {test}\n"));
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
