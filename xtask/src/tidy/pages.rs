//! Pages that come in series (one per error code, the numbered decisions), the page of requirements, and
//! the README's promise: two commands, one that starts Trackway and one that tests it.

use super::Finding;
use super::tree::{File, Tree};
use crate::requirements::{PAGE, claims_in, parse_requirements};

const CODES: &str = "crates/trackway-domain/src/code.rs";
const ERRORS: &str = "docs/errors";
const DECISIONS: &str = "docs/decisions";

/// An index and a template are not members of a series.
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

/// `0001-a.md`, `0002-b.md`, …: a gap or a duplicate means that two branches used the same number.
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

const README: &str = "README.md";
const SHELLS: &[&str] = &["```sh", "```bash", "```shell", "```console"];
const TEST: &str = "cargo xtask test";

pub(super) fn starts_in_two_commands(tree: &Tree) -> Vec<Finding> {
    let Some(readme) = tree.file(README) else {
        return Vec::new();
    };
    let message = format!("the first shell block holds exactly the start command and `{TEST}`");
    match first_shell_block(readme) {
        Some((_, commands)) if matches!(commands[..], [first, TEST] if first != TEST) => Vec::new(),
        Some((line, _)) => vec![Finding::new(README, line, message)],
        None => vec![Finding::new(README, 1, message)],
    }
}

/// The line of the first fence that opens a shell block, and the commands in it.
fn first_shell_block(readme: &File) -> Option<(usize, Vec<&str>)> {
    let mut lines = readme.lines();
    let (start, _) = lines.find(|(_, line)| SHELLS.contains(&line.trim()))?;
    let block = lines.map(|(_, line)| line.trim()).take_while(|line| *line != "```");
    let commands = block.filter(|line| !line.is_empty() && !line.starts_with('#'));
    Some((start, commands.collect()))
}

/// The requirements that a test claims to prove are on the page of requirements.
pub(super) fn tests_name_requirements(tree: &Tree) -> Vec<Finding> {
    let page = tree.file(PAGE).map_or("", |file| file.text.as_str());
    let known: Vec<&str> = parse_requirements(page).iter().map(|found| found.id).collect();
    let claims = tree.rust_files().flat_map(|file| claims_in(&file.path, &file.text));
    claims
        .filter(|claim| !known.contains(&claim.id.as_str()))
        .map(|claim| {
            let message = format!("`{}` proves `{}`, which {PAGE} does not have", claim.function, claim.id);
            Finding::new(&claim.path, claim.line, message)
        })
        .collect()
}
