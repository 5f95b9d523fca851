//! Files in the form of WorkRail: they load unchanged, and snapshots record the result for ours.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::LazyLock;

use crate::model::{LoopKind, Step, StepKind};
use crate::{Definition, DefinitionDraft, FileFormat, parse_definition_draft};

/// Our own files, which use every construct that files of WorkRail use.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/corpus");

/// The variable in which `cargo xtask corpus` passes another folder.
const OTHER_FOLDER: &str = "TRACKWAY_TEST_CORPUS";

/// A definition file.
pub(crate) struct File {
    /// Relative to the folder.
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) format: FileFormat,
}

/// The definition files of a folder and its subfolders.
fn files(folder: &Path) -> Vec<File> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).expect("a folder") {
            let path = entry.expect("an entry").path();
            let format = match path.extension().and_then(|extension| extension.to_str()) {
                Some("json") => FileFormat::Json,
                Some("yaml" | "yml") => FileFormat::Yaml,
                _ => {
                    folders.extend(Some(path).filter(|path| path.is_dir()));
                    continue;
                }
            };
            let text = fs::read_to_string(&path).expect("a text");
            let name = path.strip_prefix(folder).expect("it is below").display().to_string();
            found.push(File { name, text, format });
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(!found.is_empty(), "no definition files in {}", folder.display());
    found
}

pub(crate) static OWN: LazyLock<Vec<File>> = LazyLock::new(|| files(Path::new(FOLDER)));

/// Our own files, or those that `cargo xtask corpus` selects.
#[expect(clippy::disallowed_methods, reason = "the one place where these tests learn of a folder")]
fn selected_files() -> Vec<File> {
    let other = std::env::var_os(OTHER_FOLDER);
    files(Path::new(&other.unwrap_or_else(|| FOLDER.into())))
}

/// Runs a check on every definition of the selected files, linked with the others, and fails with a list of
/// those that failed.
pub(crate) fn for_each_file(act: impl Fn(&File, &Definition) -> Result<(), String>) {
    let files = selected_files();
    let mut failures = Vec::new();
    let mut drafts = Vec::new();
    for file in &files {
        match parse_definition_draft(&file.text, file.format) {
            Ok(draft) => drafts.push((file, draft)),
            Err(unreadable) => failures.push(format!("{}: {unreadable:#?}", file.name)),
        }
    }
    let library = |id: &str| drafts.iter().map(|(_, draft)| draft).find(|draft| draft.id == id);
    for (file, draft) in &drafts {
        let linked = draft.link_references(&library).map_err(|faults| format!("{faults:#?}"));
        let acted = linked.and_then(|definition| {
            let act = AssertUnwindSafe(|| act(file, &definition));
            catch_unwind(act).unwrap_or_else(|_| Err("it panicked, see above".to_owned()))
        });
        failures.extend(acted.err().map(|why| format!("{}: {why}", file.name)));
    }
    let (failed, all) = (failures.len(), files.len());
    assert!(failures.is_empty(), "{failed} of {all} files failed:\n{}", failures.join("\n"));
    println!("{all} files are fine.");
}

/// Proves T9: files in WorkRail's form load and link unchanged, and a pinned one reads back.
#[test]
fn corpus_files_link_unchanged() {
    for_each_file(|_, definition| match Definition::from_pinned_json(&definition.to_canonical_json()) {
        Ok(pinned) if pinned == *definition => Ok(()),
        other => Err(format!("the pinned definition differs: {other:#?}")),
    });
}

/// Snapshots record the result for our own files.
#[test]
fn our_files_have_these_steps() {
    let drafts: Vec<DefinitionDraft> = OWN
        .iter()
        .map(|file| parse_definition_draft(&file.text, file.format).expect("a definition"))
        .collect();
    for draft in &drafts {
        let definition = super::link_among(&drafts, &draft.id).expect("it is whole");
        insta::assert_snapshot!(draft.id.replace('.', "-"), outline(&definition));
    }
}

fn outline(definition: &Definition) -> String {
    let mut out = format!("{} rules\n", definition.guidance.len());
    steps(&definition.steps, 0, &mut out);
    for note in &definition.unsupported {
        let mark = if note.matters { "!" } else { "·" };
        out.push_str(&format!("{mark} {}: {}\n", note.path, note.message));
    }
    out
}

fn steps(list: &[Step], depth: usize, out: &mut String) {
    for step in list {
        let mut line = format!("{}{} ", "  ".repeat(depth), step.id);
        let inner: &[Step] = match &step.kind {
            StepKind::Prompt(prompt) => {
                line.push_str("prompt");
                for (there, word) in [
                    (prompt.confirm.is_some(), "confirm"),
                    (prompt.output.is_some(), "output"),
                    (prompt.criteria.is_some(), "criteria"),
                    (!prompt.assessments.is_empty(), "assessments"),
                    (!prompt.consequences.is_empty(), "consequences"),
                    (!prompt.fragments.is_empty(), "fragments"),
                    (prompt.text.contains("{{"), "template"),
                ] {
                    if there {
                        line.push(' ');
                        line.push_str(word);
                    }
                }
                &[]
            }
            StepKind::Loop(inner) => {
                let over = match &inner.over {
                    LoopKind::While(_) => "while".to_owned(),
                    LoopKind::Until(_) => "until".to_owned(),
                    LoopKind::Decision { id } => {
                        format!("decision {}", id.as_deref().unwrap_or("-"))
                    }
                    LoopKind::Count(amount) => format!("count {amount:?}"),
                    LoopKind::Each { list, item, index } => {
                        format!("each {list:?} {item} {index:?}")
                    }
                };
                line.push_str(&format!("loop {over} max {}", inner.max));
                &inner.steps
            }
            StepKind::Group(inner) => {
                line.push_str("group");
                inner
            }
            other => panic!("no step of WorkRail's becomes {other:?}"),
        };
        if step.when.is_some() {
            line.push_str(" when");
        }
        out.push_str(&line);
        out.push('\n');
        steps(inner, depth + 1, out);
    }
}
