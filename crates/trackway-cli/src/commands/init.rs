//! `trackway init`: a small project that builds and runs.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context;

use crate::{
    args::InitProjectArgs, cli_error::CliError, exit_status::ExitStatus, output_streams, text_format,
};

/// The checkout that this binary was built from.
const BUILT_FROM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The file that pins the versions of dependencies.
const LOCK: &str = "Cargo.lock";

/// The files of a project and their templates: real files, so that editors and tools understand
/// them.
const FILES: &[(&str, &str)] = &[
    ("Cargo.toml", include_str!("init/template/Cargo.toml.template")),
    ("README.md", include_str!("init/template/README.md.template")),
    ("trackway.toml", include_str!("init/template/trackway.toml.template")),
    ("agents/assistant.md", include_str!("init/template/assistant.md.template")),
    (".gitignore", include_str!("init/template/gitignore.template")),
    ("src/main.rs", include_str!("init/template/main.rs")),
];

pub(super) fn init_project(args: &InitProjectArgs) -> Result<ExitStatus, CliError> {
    let trackway = resolve_trackway_checkout(args.trackway.as_deref())?;
    // The same versions as the checkout: they are known to build together, and are already
    // downloaded.
    let lock = trackway.join(LOCK);
    let lock = lock.is_file().then_some(lock);
    let folder = create_project_folder(&args.dir, lock.is_some())?;
    let name = package_name_from_folder(&folder);
    for (path, template) in FILES {
        let library = trackway.join("crates/trackway");
        let text = template
            .replace("{{name}}", &name)
            .replace("{{trackway}}", &quote_toml_string(&library.to_string_lossy()));
        let file = folder.join(path);
        if let Some(parent) = file.parent() {
            fs::create_dir_all(parent).with_context(|| format!("cannot make {}", parent.display()))?;
        }
        fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))?;
    }
    if let Some(lock) = lock {
        fs::copy(&lock, folder.join(LOCK)).with_context(|| format!("cannot copy {}", lock.display()))?;
    }
    render_init_next_steps(&args.dir).iter().try_for_each(|line| output_streams::write_stdout_line(line))?;
    Ok(ExitStatus::Done)
}

fn resolve_trackway_checkout(option: Option<&Path>) -> Result<PathBuf, CliError> {
    let path = option.unwrap_or(Path::new(BUILT_FROM));
    let usable = path.canonicalize().ok().filter(|path| path.join("crates/trackway/Cargo.toml").is_file());
    usable.ok_or_else(|| {
        CliError::new(format!("{} is not a checkout of Trackway", path.display()))
            .with_hint("name one with --trackway PATH: the folder that holds crates/trackway")
            .with_exit_status(ExitStatus::Usage)
    })
}

/// The folder, created if it is missing. Other files in it do not change.
fn create_project_folder(dir: &Path, with_lock: bool) -> Result<PathBuf, CliError> {
    let written = FILES.iter().map(|(path, _)| *path).chain(with_lock.then_some(LOCK));
    if let Some(taken) = written.filter_map(|path| find_conflicting_path(dir, Path::new(path))).next() {
        return Err(CliError::new(format!("{} already exists; nothing was written", taken.display()))
            .with_hint("name another folder, or move it away")
            .with_exit_status(ExitStatus::Usage));
    }
    let read = || format!("cannot use {}", dir.display());
    fs::create_dir_all(dir).with_context(read)?;
    Ok(dir.canonicalize().with_context(read)?)
}

/// The path that blocks a new file: the file itself, or a file in place of a parent folder.
fn find_conflicting_path(dir: &Path, path: &Path) -> Option<PathBuf> {
    let file = dir.join(path);
    // A broken link also counts as a file.
    if file.symlink_metadata().is_ok() {
        return Some(file);
    }
    let parent = dir.join(path.parent()?);
    (parent.exists() && !parent.is_dir()).then_some(parent)
}

/// A package name that Cargo accepts, from the name of the folder.
fn package_name_from_folder(folder: &Path) -> String {
    let folder = folder.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    let name: String = folder.chars().map(plain).collect();
    let name = name.trim_matches('-');
    // Names of the language and of the dependencies cannot be used.
    let taken = ["", "test", "core", "std", "alloc", "proc_macro", "trackway", "tokio", "serde", "schemars"];
    if taken.contains(&name) || name.starts_with(|c: char| c.is_ascii_digit()) {
        return format!("my-{name}").trim_end_matches('-').to_owned();
    }
    name.to_owned()
}

/// Text as a TOML string; its escapes are those of JSON.
fn quote_toml_string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn render_init_next_steps(dir: &Path) -> Vec<String> {
    let mut steps = if dir == Path::new(".") {
        vec!["A project is in this folder. Next:".to_owned()]
    } else {
        let dir = text_format::quote_for_shell(&dir.to_string_lossy());
        vec![format!("A project is in {dir}. Next:"), format!("  cd {dir}")]
    };
    steps.push("  cargo run".to_owned());
    steps.push(
        "then follow its README.md; the workflow is in src/main.rs, an agent in agents/assistant.md."
            .to_owned(),
    );
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_become_names_that_cargo_takes() {
        for (folder, name) in [
            ("shop", "shop"),
            ("My Shop!", "my-shop"),
            ("2shop", "my-2shop"),
            ("test", "my-test"),
            ("ü", "my"),
            ("/", "my"),
        ] {
            assert_eq!(package_name_from_folder(Path::new(folder)), name, "{folder}");
        }
    }
}
