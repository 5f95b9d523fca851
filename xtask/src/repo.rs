//! Where the repository is and which files belong to it.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::process;

/// The repository's root: the folder above this crate.
pub(crate) fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}

pub(crate) fn path(relative: &str) -> PathBuf {
    root().join(relative)
}

/// Every file that is tracked, or that `git add` would add, relative to the root and sorted. New
/// files are checked before they are committed; files that git ignores are not checked.
pub(crate) fn files() -> Result<Vec<String>> {
    let listing = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let output = Command::new("git")
        .args(listing)
        .current_dir(root())
        .output()
        .context("starting git to list the repository's files")?;
    if !output.status.success() {
        bail!("git could not list the files: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let text = String::from_utf8(output.stdout).context("a file's name is not UTF-8")?;
    let mut files: Vec<String> = text
        .split('\0')
        // A file deleted but still in the index is listed too.
        .filter(|name| !name.is_empty() && path(name).is_file())
        .map(str::to_owned)
        .collect();
    files.sort();
    files.dedup();
    Ok(files)
}

/// Absolute folders that exist only on this machine: the checkout, the home, and those of the tools.
/// A folder directly below the root of the file system is not specific enough: other machines have
/// one of that name.
pub(crate) fn machine_folders() -> Vec<String> {
    let named = ["HOME", "USERPROFILE", "CARGO_HOME", "CARGO_TARGET_DIR", "RUSTUP_HOME"];
    let named = named.iter().filter_map(|name| process::env_var(name)).map(PathBuf::from);
    named
        .chain([root().to_owned()])
        .filter(|path| path.is_absolute() && path.components().count() > 2)
        .filter_map(|path| path.to_str().map(str::to_owned))
        .collect()
}
