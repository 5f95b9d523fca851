//! WorkRail's own files: they load unchanged, and what becomes of them is written down.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use crate::model::{LoopOver, Step, StepKind};
use crate::{Definition, Draft, Format, read};

const FOLDER: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/workrail-workflows");

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "json") {
            found.push(path);
        }
    }
}

/// The texts of the files. The data lies beside the checkout.
pub(crate) static TEXTS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let mut found = Vec::new();
    files(Path::new(FOLDER), &mut found);
    assert!(found.len() >= 17, "the files are not all there: {found:?}");
    found.iter().map(|path| fs::read_to_string(path).expect("a text")).collect()
});

pub(crate) fn drafts() -> Vec<Draft> {
    let draft = |text: &String| match read(text, Format::Json) {
        Ok(draft) => draft,
        Err(unreadable) => panic!("{unreadable:#?}"),
    };
    TEXTS.iter().map(draft).collect()
}

/// Proves T9: WorkRail's files load and link as they are.
#[test]
fn files_of_workrail_link_unchanged() {
    let drafts = drafts();
    for draft in &drafts {
        let definition = match super::among(&drafts, &draft.id) {
            Ok(definition) => definition,
            Err(faults) => panic!("{}: {faults:#?}", draft.id),
        };
        assert_eq!(Definition::pinned(&definition.normal()), Ok(definition.clone()));
        insta::assert_snapshot!(draft.id.replace('.', "-"), outline(&definition));
    }
}

fn outline(definition: &Definition) -> String {
    let mut out = format!("{} rules\n", definition.guidance.len());
    steps(&definition.steps, 0, &mut out);
    for note in &definition.unheeded {
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
                    LoopOver::While(_) => "while".to_owned(),
                    LoopOver::Until(_) => "until".to_owned(),
                    LoopOver::Decision { id } => {
                        format!("decision {}", id.as_deref().unwrap_or("-"))
                    }
                    LoopOver::Count(amount) => format!("count {amount:?}"),
                    LoopOver::Each { list, item, index } => {
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
