//! The page of run states, printed by an example of the engine from the transition table itself.

use anyhow::{Context, Result, bail};

use crate::{process, repo};

const EXAMPLE: &str = "crates/trackway-engine/examples/state_diagram.rs";

pub(super) fn render_page() -> Result<String> {
    if !repo::path(EXAMPLE).is_file() {
        bail!("{EXAMPLE} does not exist; it has to print the page on stdout");
    }
    let arguments = ["run", "--quiet", "--package", "trackway-engine", "--example", "state_diagram"];
    let mut command = process::cargo();
    command.args(arguments).stderr(std::process::Stdio::inherit());
    let output = command.output().context("starting cargo")?;
    if !output.status.success() {
        bail!("{EXAMPLE} failed ({})", output.status);
    }
    let page = String::from_utf8(output.stdout).context("the page is not UTF-8")?;
    // Otherwise an example that prints nothing would empty the page unnoticed.
    if page.trim().is_empty() {
        bail!("{EXAMPLE} printed nothing");
    }
    Ok(page)
}
