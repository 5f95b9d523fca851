//! Drives the definition files of any folder to their end: the tests of our own corpus, with another
//! folder. The agent of those tests only follows the needs that answers report.

use std::fs;

use anyhow::{Context, Result, bail};

use crate::process::{cargo, run as run_command};
use crate::test;

/// The variable with the folder for the tests.
const FOLDER: &str = "TRACKWAY_TEST_CORPUS";

pub(crate) fn run(args: &[String]) -> Result<()> {
    let [folder] = args else {
        bail!("`corpus` takes one folder, got: {}", args.join(" "));
    };
    let folder = fs::canonicalize(folder).with_context(|| format!("looking for {folder}"))?;
    if !folder.is_dir() {
        bail!("{} is no folder", folder.display());
    }
    // The whole workspace, so that the build of the gate is reused.
    let chosen = "test(/corpus_files_/)";
    let mut command = cargo();
    command.args(["nextest", "run", "--workspace", "--lib", "--test", "it", "-E", chosen]);
    run_command(command.envs(test::ensure_tools()?).env(FOLDER, folder))
}
