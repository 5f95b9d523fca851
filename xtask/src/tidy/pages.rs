//! Pages that come in series: one per error code, and the numbered decisions.

use super::Finding;
use super::tree::Tree;

const CODES: &str = "crates/trackway-domain/src/code.rs";
const ERRORS: &str = "docs/errors";
const DECISIONS: &str = "docs/decisions";

/// An index and a form to copy are not members of a series.
const NOT_MEMBERS: &[&str] = &["README.md", "template.md"];

pub(super) fn every_code_has_a_page(tree: &Tree) -> Vec<Finding> {
    let Some(file) = tree.file(CODES) else {
        return Vec::new();
    };
    // The catalogue is a match from variant to text: `Self::X => "x",`.
    let of_line = |line: &'_ str| -> Option<String> {
        let (_, text) = line.split_once("=> \"")?;
        Some(text.split('"').next()?.to_owned())
    };
    let codes: Vec<(usize, String)> =
        file.lines().filter_map(|(number, line)| Some((number, of_line(line)?))).collect();
    if codes.is_empty() {
        return vec![Finding::new(CODES, 1, "no codes were found; has their form changed?")];
    }
    let mut findings = Vec::new();
    for (number, code) in &codes {
        let page = format!("{ERRORS}/{code}.md");
        if !tree.exists(&page) {
            findings.push(Finding::new(CODES, *number, format!("`{code}` has no page {page}")));
        }
    }
    for (page, name) in tree.in_folder(ERRORS) {
        let is_code = codes.iter().any(|(_, code)| name.strip_suffix(".md") == Some(code));
        if !is_code && !NOT_MEMBERS.contains(&name) {
            findings.push(Finding::new(&page.path, 1, format!("no such code in {CODES}")));
        }
    }
    findings
}

/// `0001-a.md`, `0002-b.md`, …: a gap or a double means that two branches took the same number.
pub(super) fn decisions_are_numbered(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut expected = 1;
    let members = tree.in_folder(DECISIONS);
    for (file, name) in members.filter(|(_, name)| !NOT_MEMBERS.contains(name)) {
        let number = name
            .split_once('-')
            .filter(|(digits, rest)| digits.len() == 4 && rest.ends_with(".md"))
            .and_then(|(digits, _)| digits.parse::<u32>().ok());
        match number {
            Some(number) if number == expected => {}
            Some(_) => {
                let message = format!("the next decision's number is {expected:04}");
                findings.push(Finding::new(&file.path, 1, message));
            }
            None => findings.push(Finding::new(&file.path, 1, "name it NNNN-what-was-decided.md")),
        }
        expected = number.map_or(expected, |number| number + 1);
    }
    findings
}
