//! Starts other programs: always from the root, and prints the command line.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::repo;

/// `cargo` as a person at the terminal would start it.
///
/// `cargo run` sets variables about the `xtask` package. Build scripts would see them as a changed
/// environment, and would rebuild alternately here and in the terminal.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(env_var("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(repo::root());
    for name in env_var_names() {
        let of_package = name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
        if of_package || name == "CARGO_BIN_NAME" || name == "CARGO_CRATE_NAME" {
            command.env_remove(name);
        }
    }
    command
}

/// Another program, also from the root.
pub(crate) fn program(name: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(name);
    command.current_dir(repo::root());
    command
}

/// Prints the command, runs it, and fails if it fails.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let line = format_command(command);
    eprintln!("$ {line}");
    let status = command.status().with_context(|| format!("starting `{line}`"))?;
    if !status.success() {
        bail!("`{line}` failed ({status})");
    }
    Ok(())
}

/// Checks silently whether this command works here.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

#[expect(clippy::disallowed_methods, reason = "the door to the environment for this tool")]
pub(crate) fn env_var(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

#[expect(clippy::disallowed_methods, reason = "the door to the environment for this tool")]
fn env_var_names() -> Vec<String> {
    std::env::vars_os().filter_map(|(name, _)| name.into_string().ok()).collect()
}

fn format_command(command: &Command) -> String {
    // The toolchain's full path to cargo does not help the reader.
    let program = Path::new(command.get_program());
    let name = match program.file_stem() {
        Some(stem) if stem == "cargo" => stem,
        _ => program.strip_prefix(repo::root()).unwrap_or(program).as_os_str(),
    };
    let words = std::iter::once(name).chain(command.get_args());
    let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
    words.join(" ")
}
