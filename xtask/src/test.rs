//! All tests, also on a fresh machine: the command first installs what they need, in git-ignored
//! folders if possible, and every step prints what it did.

use std::path::PathBuf;

use anyhow::Result;

use crate::clients::CLIENTS;
use crate::nats_server;
use crate::process::{cargo, run as run_command, succeeds};
use crate::repo;

pub(crate) fn run(args: &[String]) -> Result<()> {
    let tools = ensure_tools()?;
    let (runner, runner_has_doctests) = if ensure_nextest() {
        (&["nextest", "run"][..], false)
    } else {
        eprintln!("Falling back to `cargo test`: the settings in .config/nextest.toml do not apply.");
        (&["test"][..], true)
    };
    let mut command = cargo();
    command.envs(tools).args(runner);
    if !names_packages(args) {
        command.arg("--workspace");
    }
    run_command(command.args(args))?;

    // Internal crates have doctests turned off; the authoring library's are its manual.
    let has_manual = repo::path("crates/trackway/Cargo.toml").is_file();
    if args.is_empty() && !runner_has_doctests && has_manual {
        run_command(cargo().args(["test", "--doc", "--package", "trackway"]))?;
    }
    Ok(())
}

/// What the tests need, installed if it is missing, with the variables that the tests read.
pub(crate) fn ensure_tools() -> Result<Vec<(&'static str, PathBuf)>> {
    let mut tools = Vec::new();
    for client in &CLIENTS {
        tools.push((client.variable, client.ensure()?));
    }
    tools.push((nats_server::VARIABLE, nats_server::ensure()?));
    for (variable, path) in &tools {
        eprintln!("Tests find {variable}={}", path.display());
    }
    Ok(tools)
}

/// With `--workspace` as well, cargo would ignore the requested package.
fn names_packages(args: &[String]) -> bool {
    args.iter().any(|arg| arg.starts_with("-p") || arg.starts_with("--package"))
}

/// True if `cargo nextest` can be used, after installing it if needed.
fn ensure_nextest() -> bool {
    let present = || succeeds(cargo().args(["nextest", "--version"]));
    if present() {
        return true;
    }
    eprintln!("cargo-nextest is missing. Installing it takes some minutes, once.");
    let installed = run_command(cargo().args(["install", "cargo-nextest", "--locked"]));
    match installed {
        Ok(()) if present() => true,
        Ok(()) => {
            eprintln!(
                "cargo-nextest was installed, but cargo does not find it: is cargo's bin folder in PATH?"
            );
            false
        }
        Err(error) => {
            eprintln!("cargo-nextest could not be installed: {error:#}");
            false
        }
    }
}

#[cfg(test)]
mod tests;
