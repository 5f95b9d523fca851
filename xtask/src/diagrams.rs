//! The page of run states, `docs/states.md`, printed by an example of the engine from the
//! transition table itself, so that the page cannot say anything else than the code.

use std::fs;

use anyhow::{Context, Result, bail};

use crate::{process, repo};

const EXAMPLE: &str = "crates/trackway-engine/examples/state_diagram.rs";
const PAGE: &str = "docs/states.md";

pub(crate) fn run(args: &[String]) -> Result<()> {
    match args {
        [] => write(),
        [flag] if flag == "--check" => check(),
        _ => bail!("`diagrams` takes only --check, got: {}", args.join(" ")),
    }
}

pub(crate) fn check() -> Result<()> {
    let fresh = generate()?;
    let found = fs::read_to_string(repo::path(PAGE)).unwrap_or_default();
    match first_difference(&found, &fresh) {
        None => {
            eprintln!("{PAGE} is fresh.");
            Ok(())
        }
        Some(line) => bail!(
            "{PAGE}:{line}: differs from the transition table; write it again with: cargo xtask diagrams"
        ),
    }
}

fn write() -> Result<()> {
    let fresh = generate()?;
    fs::write(repo::path(PAGE), fresh).with_context(|| format!("writing {PAGE}"))?;
    eprintln!("Wrote {PAGE}.");
    Ok(())
}

fn generate() -> Result<String> {
    if !repo::path(EXAMPLE).is_file() {
        bail!("{EXAMPLE} does not exist; it has to print {PAGE} on stdout");
    }
    let arguments =
        ["run", "--quiet", "--package", "trackway-engine", "--example", "state_diagram"];
    let mut command = process::cargo();
    command.args(arguments).stderr(std::process::Stdio::inherit());
    let output = command.output().context("starting cargo")?;
    if !output.status.success() {
        bail!("{EXAMPLE} failed ({})", output.status);
    }
    let page = String::from_utf8(output.stdout).context("the page is not UTF-8")?;
    // An example that prints nothing would otherwise empty the page without anyone noticing.
    if page.trim().is_empty() {
        bail!("{EXAMPLE} printed nothing");
    }
    Ok(page)
}

/// The number of the first line that is not the same in both, if there is one.
fn first_difference(found: &str, fresh: &str) -> Option<usize> {
    if found == fresh {
        return None;
    }
    let same = found.lines().zip(fresh.lines()).take_while(|(a, b)| a == b).count();
    Some(same + 1)
}

#[cfg(test)]
mod tests;
