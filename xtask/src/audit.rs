//! The supply chain: licences, and the other checks of cargo-deny. `cargo xtask tidy` checks sources
//! and duplicates, because it only needs the lock file for them.

mod licence;

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result, bail};

use crate::process::{cargo, run as run_command, succeeds};
use crate::repo;

const RULES: &str = "deny.toml";

/// The licences, then everything else if cargo-deny is installed.
pub(crate) fn run() -> Result<()> {
    check_licences()?;
    if !succeeds(cargo().args(["deny", "--version"])) {
        eprintln!(
            "cargo-deny is not installed, so advisories and yanked versions were NOT checked.\n\
             Install it with: cargo install cargo-deny --locked"
        );
        return Ok(());
    }
    run_command(cargo().args(["deny", "--all-features", "check"]))
}

/// Every dependency on this platform has a licence that the rules allow. Needs no network.
pub(crate) fn check_licences() -> Result<()> {
    let rules = fs::read_to_string(repo::path(RULES)).with_context(|| format!("reading {RULES}"))?;
    let allowed = licence::allowed_licences(&rules);
    let packages = list_packages()?;
    let mut refused = Vec::new();
    for (package, expression) in &packages {
        if let Err(why) = licence::check_expression(expression, &allowed) {
            refused.push(format!("{package}: `{expression}`: {why}"));
        }
    }
    if !refused.is_empty() {
        bail!("licences that {RULES} does not allow:\n{}", refused.join("\n"));
    }
    eprintln!("audit: {} packages, every licence is allowed.", packages.len());
    Ok(())
}

/// The packages of the tree with their licences.
fn list_packages() -> Result<BTreeMap<String, String>> {
    let arguments = ["tree", "--workspace", "--locked", "--prefix", "none", "--format", "{p}|{l}"];
    let mut command = cargo();
    command.args(arguments).stderr(std::process::Stdio::inherit());
    let output = command.output().context("starting cargo")?;
    if !output.status.success() {
        bail!("cargo could not list the packages ({})", output.status);
    }
    let text = String::from_utf8(output.stdout).context("the list is not UTF-8")?;
    let rows = text.lines().filter_map(|line| line.split_once('|'));
    Ok(rows
        .map(|(package, licence)| {
            let name: Vec<&str> = package.split(' ').take(2).collect();
            // cargo marks repeated packages.
            let licence = licence.trim_end_matches("(*)").trim();
            (name.join(" "), licence.to_owned())
        })
        .collect())
}
