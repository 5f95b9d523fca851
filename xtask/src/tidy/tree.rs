//! The files of the repository in memory: the input of every rule.

use std::collections::BTreeSet;
use std::fs;

use anyhow::{Context, Result};

use super::Finding;
use crate::repo;

#[derive(Debug)]
pub(super) struct File {
    /// Relative to the root, with `/` between folders.
    pub(super) path: String,
    pub(super) text: String,
}

impl File {
    /// Lines with their numbers, from 1, as editors count.
    pub(super) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(index, line)| (index + 1, line))
    }

    /// The same finding for every line that is bad.
    pub(super) fn find(&self, bad: impl Fn(&str) -> bool, message: &str) -> Vec<Finding> {
        self.lines()
            .filter(|(_, line)| bad(line))
            .map(|(number, _)| Finding::new(&self.path, number, message))
            .collect()
    }

    pub(super) fn extension(&self) -> &str {
        let name = self.path.rsplit('/').next().unwrap_or_default();
        name.rsplit_once('.').map_or("", |(_, extension)| extension)
    }

    pub(super) fn is_rust(&self) -> bool {
        self.extension() == "rs"
    }

    /// Module tests (`x/tests.rs`) and everything below a `tests` folder.
    pub(super) fn is_test(&self) -> bool {
        self.path.ends_with("/tests.rs") || self.path.split('/').any(|folder| folder == "tests")
    }
}

#[derive(Debug)]
pub(super) struct Tree {
    files: Vec<File>,
    /// Every file and every folder above one.
    paths: BTreeSet<String>,
    /// Absolute folders that belong to this machine.
    machine_folders: Vec<String>,
}

impl Tree {
    pub(super) fn read(paths: &[String]) -> Result<Self> {
        let mut files = Vec::with_capacity(paths.len());
        for path in paths {
            let bytes = fs::read(repo::path(path)).with_context(|| format!("reading {path}"))?;
            // Documents may name the path of an image, but rules read no text from it. Generated
            // files keep the form of their tool.
            let generated = path.contains("/generated/");
            let text = String::from_utf8(bytes).ok().filter(|_| !generated).unwrap_or_default();
            files.push(File { path: path.clone(), text });
        }
        Ok(Self { machine_folders: repo::machine_folders(), ..Self::new(files) })
    }

    pub(super) fn new(files: Vec<File>) -> Self {
        let mut paths = BTreeSet::new();
        for file in &files {
            let ends = file.path.match_indices('/').map(|(end, _)| end);
            paths.extend(ends.map(|end| file.path[..end].to_owned()));
            paths.insert(file.path.clone());
        }
        Self { files, paths, machine_folders: Vec::new() }
    }

    pub(super) fn files(&self) -> &[File] {
        &self.files
    }

    pub(super) fn rust_files(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| file.is_rust() && !file.path.contains("/generated/"))
    }

    pub(super) fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    pub(super) fn exists(&self, path: &str) -> bool {
        self.paths.contains(path)
    }

    pub(super) fn machine_folders(&self) -> &[String] {
        &self.machine_folders
    }

    #[cfg(test)]
    pub(super) fn on_machine(self, folders: &[&str]) -> Self {
        let machine_folders = folders.iter().map(|folder| (*folder).to_owned()).collect();
        Self { machine_folders, ..self }
    }

    /// The files directly in a folder, with their names.
    pub(super) fn in_folder<'a>(&'a self, folder: &'a str) -> impl Iterator<Item = (&'a File, &'a str)> {
        self.files.iter().filter_map(move |file| {
            let name = file.path.strip_prefix(folder)?.strip_prefix('/')?;
            (!name.contains('/')).then_some((file, name))
        })
    }
}
