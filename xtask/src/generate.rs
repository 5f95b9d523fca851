//! Generated files: pages that are derived from the code, so that they cannot contradict it (the states
//! of a run, the limits, and the tests of each requirement), and the code of the `.proto` files.

pub(crate) mod limits;
mod states;

use std::fs;

use anyhow::{Context, Result, bail};

use crate::{process, repo, requirements};

struct Page {
    path: &'static str,
    generate: fn() -> Result<String>,
}

const PAGES: &[Page] = &[
    Page { path: "docs/states.md", generate: states::render_page },
    Page { path: "docs/limits.md", generate: limits::render_page },
    Page { path: requirements::PAGE, generate: requirements::render_page },
];

pub(crate) fn run(args: &[String]) -> Result<()> {
    match args {
        [] => write_pages(),
        [flag] if flag == "--check" => check_pages(),
        _ => bail!("`generate` takes only --check, got: {}", args.join(" ")),
    }
}

/// Fails at the first page that differs from the code.
pub(crate) fn check_pages() -> Result<()> {
    for page in PAGES {
        let path = page.path;
        let fresh = (page.generate)()?;
        let found = fs::read_to_string(repo::path(path)).unwrap_or_default();
        if let Some(line) = first_difference(&found, &fresh) {
            bail!("{path}:{line}: differs from the code; write it again with: cargo xtask generate");
        }
        eprintln!("{path} is fresh.");
    }
    Ok(())
}

fn write_pages() -> Result<()> {
    // A test of that package checks that it is up to date.
    process::run(process::cargo().args(["run", "--quiet", "--package", "xtask-grpc"]))?;
    for page in PAGES {
        let fresh = (page.generate)()?;
        fs::write(repo::path(page.path), fresh).with_context(|| format!("writing {}", page.path))?;
        eprintln!("Wrote {}.", page.path);
    }
    Ok(())
}

/// The number of the first line that differs, if there is one.
fn first_difference(found: &str, fresh: &str) -> Option<usize> {
    if found == fresh {
        return None;
    }
    let same = found.lines().zip(fresh.lines()).take_while(|(a, b)| a == b).count();
    Some(same + 1)
}

#[cfg(test)]
mod tests;
