//! Real folders: files that are added, changed, broken, repaired, duplicated and deleted.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Arc, mpsc},
    time::Duration,
};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{Catalogue, WorkflowLookupError};

/// Long enough for the slowest machine; a notification that has not come by then does not come.
const NOTICE_TIMEOUT: Duration = Duration::from_secs(30);

fn folder() -> (TempDir, Catalogue) {
    let folder = tempfile::tempdir().expect("a folder");
    let catalogue = Catalogue::new(vec![folder.path().to_owned()]);
    (folder, catalogue)
}

fn workflow(id: &str, prompt: &str) -> Value {
    json!({
        "id": id, "name": id, "description": "For a test.", "version": "1.0.0",
        "steps": [{ "id": "only-step", "title": "Step", "prompt": prompt }],
    })
}

fn write(folder: &Path, name: &str, value: &Value) -> PathBuf {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
    fs::write(&path, value.to_string()).expect("written");
    path
}

fn ids(catalogue: &Catalogue) -> Vec<String> {
    catalogue.list_definitions().workflows.iter().map(|known| known.definition.id.clone()).collect()
}

/// The invalid files as `name: first reason`.
fn invalid(catalogue: &Catalogue) -> Vec<String> {
    let name = |path: &Path| path.file_name().expect("a name").to_string_lossy().into_owned();
    let listing = catalogue.list_definitions();
    let told = listing.invalid.iter().map(|invalid| {
        format!("{}: {}", name(&invalid.file), invalid.errors.first().expect("a reason").message)
    });
    told.collect()
}

fn warning(catalogue: &Catalogue, id: &str, hash: &str) -> Option<String> {
    catalogue.definition_drift_warning(id, hash).map(|warning| warning.code)
}

/// Proves T3: what is added, changed and deleted shows at the next query, whatever the clock says.
#[test]
fn catalogue_follows_file_changes() {
    let (folder, catalogue) = folder();
    assert_eq!(ids(&catalogue), Vec::<String>::new());
    write(folder.path(), "b.json", &workflow("beta", "Do it."));
    let file = write(folder.path(), "deep/down/a.yml", &workflow("alpha", "Do it."));
    fs::write(folder.path().join("notes.txt"), "no definition").expect("written");
    assert_eq!(ids(&catalogue), ["alpha", "beta"]);
    let first = catalogue.get_entry("alpha").expect("known");
    assert_eq!((first.file.clone(), &*first.hash), (file, &*first.definition.definition_hash()));
    // The same length within the same moment: the stamp alone would not detect it.
    write(folder.path(), "deep/down/a.yml", &workflow("alpha", "Be it."));
    let second = catalogue.get_entry("alpha").expect("known");
    assert_ne!(first.hash, second.hash);
    fs::remove_dir_all(folder.path().join("deep")).expect("removed");
    assert_eq!(ids(&catalogue), ["beta"]);
}

/// Proves T3: a file that is not a definition is listed with its reason, never silently missing.
#[test]
fn an_invalid_file_is_listed_until_it_is_mended() {
    let (folder, catalogue) = folder();
    let path = write(folder.path(), "x.json", &json!({ "id": "broken", "steps": "none" }));
    fs::write(folder.path().join("binary.json"), [0xff, 0xfe]).expect("written");
    fs::write(folder.path().join("cut.json"), "{\n  \"id\":").expect("written");
    let listing = catalogue.list_definitions();
    assert!(listing.workflows.is_empty());
    let listed: Vec<_> = listing.invalid.iter().map(|invalid| invalid.file.clone()).collect();
    let names = ["binary.json", "cut.json", "x.json"];
    assert_eq!(listed, names.map(|name| folder.path().join(name)));
    assert!(listing.invalid[0].errors[0].message.contains("UTF-8"));
    assert_eq!(listing.invalid[1].errors[0].line, Some(2));
    match catalogue.get_entry("broken") {
        Err(WorkflowLookupError::Invalid(invalid)) => {
            assert_eq!((invalid.file, invalid.workflow.as_deref()), (path, Some("broken")));
            assert!(!invalid.errors.is_empty());
        }
        other => panic!("it is invalid: {other:?}"),
    }
    for name in names {
        write(folder.path(), name, &workflow(name.trim_end_matches(".json"), "Do it."));
    }
    assert_eq!(ids(&catalogue), ["binary", "cut", "x"]);
    assert_eq!(invalid(&catalogue), Vec::<String>::new());
}

/// Proves T3: an id names one definition; the error of the other file names the first.
#[test]
fn of_two_files_with_one_id_the_first_has_it() {
    let (folder, catalogue) = folder();
    let first = write(folder.path(), "a.json", &workflow("same", "Do it."));
    write(folder.path(), "b.json", &workflow("same", "Be it."));
    assert_eq!(catalogue.get_entry("same").expect("known").file, first);
    let reason = format!("b.json: the id \"same\" is taken by {}", first.display());
    assert_eq!(invalid(&catalogue), [reason]);
    fs::remove_file(first).expect("removed");
    let second = catalogue.get_entry("same").expect("known");
    assert_eq!(second.file, folder.path().join("b.json"));
    assert_eq!(invalid(&catalogue), Vec::<String>::new());
}

#[test]
fn unknown_id_gets_similar_ids() {
    let (folder, catalogue) = folder();
    for id in ["code-review", "code-review-short", "shaping"] {
        write(folder.path(), &format!("{id}.json"), &workflow(id, "Do it."));
    }
    let near = |id: &str| match catalogue.get_entry(id) {
        Err(WorkflowLookupError::UnknownId { similar: near }) => near,
        other => panic!("it is unknown: {other:?}"),
    };
    assert_eq!(near("code-reveiw"), ["code-review"]);
    assert_eq!(near("review"), ["code-review", "code-review-short"]);
    assert_eq!(near("something-else"), Vec::<String>::new());
}

/// Proves T3: a run that is pinned is warned when its file changes, breaks or goes.
#[test]
fn pinned_run_gets_a_drift_warning() {
    let (folder, catalogue) = folder();
    let path = write(folder.path(), "a.json", &workflow("alpha", "Do it."));
    let pinned = catalogue.get_entry("alpha").expect("known").hash;
    assert_eq!(warning(&catalogue, "alpha", &pinned), None);
    write(folder.path(), "a.json", &workflow("alpha", "Be it."));
    assert_eq!(warning(&catalogue, "alpha", &pinned).as_deref(), Some("definition-changed"));
    write(folder.path(), "a.json", &json!({ "id": "alpha" }));
    assert_eq!(warning(&catalogue, "alpha", &pinned).as_deref(), Some("definition-changed"));
    fs::remove_file(path).expect("removed");
    assert_eq!(warning(&catalogue, "alpha", &pinned).as_deref(), Some("definition-missing"));
    // With another file name and another format, it is the same definition.
    let text = serde_json::to_string_pretty(&workflow("alpha", "Do it.")).expect("JSON");
    fs::write(folder.path().join("z.yaml"), text).expect("written");
    assert_eq!(warning(&catalogue, "alpha", &pinned), None);
}

/// Proves T3: a file that is not even YAML or JSON still belongs to its workflow: a request for it gets the
/// error, and a pinned run too.
#[test]
fn unparsable_file_keeps_its_workflow_id() {
    let (folder, catalogue) = folder();
    let path = write(folder.path(), "a.yaml", &workflow("alpha", "Do it."));
    let pinned = catalogue.get_entry("alpha").expect("known").hash;
    let reason = |catalogue: &Catalogue, id: &str| match catalogue.get_entry(id) {
        Err(WorkflowLookupError::Invalid(invalid)) => invalid.errors[0].clone(),
        other => panic!("it is invalid: {other:?}"),
    };
    // It contains no id any more; it had one.
    for broken in ["name: [oops\n", "a: 1\na: 2\n", "\u{0}", "name: [again\n"] {
        fs::write(&path, broken).expect("written");
        let fault = reason(&catalogue, "alpha");
        assert_eq!(catalogue.list_definitions().invalid[0].workflow.as_deref(), Some("alpha"));
        let warning = catalogue.definition_drift_warning("alpha", &pinned).expect("a warning");
        assert_eq!(warning.code, "definition-changed");
        assert!(warning.message.contains(fault.message.trim_end_matches('.')), "{warning:?}");
    }
    // It was never readable; its text names its id.
    fs::write(folder.path().join("b.yaml"), "id: beta\nname: [oops\n").expect("written");
    fs::write(folder.path().join("c.json"), "{\"id\": \"gamma\", oops").expect("written");
    assert!(reason(&catalogue, "beta").line.is_some());
    assert!(reason(&catalogue, "gamma").line.is_some());
    // Repaired under another id, it belongs to that one.
    write(folder.path(), "a.yaml", &workflow("delta", "Do it."));
    assert!(catalogue.get_entry("delta").is_ok());
    assert!(matches!(catalogue.get_entry("alpha"), Err(WorkflowLookupError::UnknownId { .. })));
}

/// Proves T3: a definition also includes the files that it refers to.
#[test]
fn a_change_in_what_it_refers_to_is_drift() {
    let (folder, catalogue) = folder();
    let mut outer = workflow("outer", "Do it.");
    outer["trackway"] = json!(1);
    outer["steps"] = json!([{ "id": "inside", "title": "Inside", "workflow": { "id": "inner" } }]);
    write(folder.path(), "outer.json", &outer);
    assert_eq!(ids(&catalogue), Vec::<String>::new());
    assert_eq!(invalid(&catalogue).len(), 1, "what it refers to is not there");
    write(folder.path(), "inner.json", &workflow("inner", "Do it."));
    assert_eq!(ids(&catalogue), ["inner", "outer"]);
    let pinned = catalogue.get_entry("outer").expect("known").hash;
    assert_eq!(warning(&catalogue, "outer", &pinned), None);
    write(folder.path(), "inner.json", &workflow("inner", "Be it."));
    assert_eq!(warning(&catalogue, "outer", &pinned).as_deref(), Some("definition-changed"));
}

#[test]
fn folders_that_do_not_exist_are_empty_and_may_overlap() {
    let (folder, _) = folder();
    write(folder.path(), "in/a.json", &workflow("alpha", "Do it."));
    let path = folder.path().to_owned();
    let folders = vec![path.join("gone"), path.join("in"), path.clone(), path];
    let catalogue = Catalogue::new(folders.clone());
    assert_eq!(ids(&catalogue), ["alpha"]);
    assert_eq!(invalid(&catalogue), Vec::<String>::new());
    // A folder that the user named is reported as missing until it exists.
    let catalogue = Catalogue::with_required_folders(folders.clone());
    assert_eq!(ids(&catalogue), ["alpha"]);
    assert_eq!(invalid(&catalogue), ["gone: there is no such folder"]);
    fs::create_dir(&folders[0]).expect("made");
    assert_eq!(invalid(&catalogue), Vec::<String>::new());
}

#[cfg(unix)]
#[test]
fn links_in_circles_and_into_nothing_are_no_trouble() {
    use std::os::unix::fs::symlink;
    let (folder, catalogue) = folder();
    write(folder.path(), "in/a.json", &workflow("alpha", "Do it."));
    symlink(folder.path(), folder.path().join("in/again")).expect("linked");
    symlink(folder.path().join("in/a.json"), folder.path().join("b.json")).expect("linked");
    symlink(folder.path().join("nothing"), folder.path().join("c.json")).expect("linked");
    symlink(folder.path().join("nothing"), folder.path().join(".#a.json")).expect("linked");
    let _socket = std::os::unix::net::UnixListener::bind(folder.path().join("d.json"));
    assert_eq!(ids(&catalogue), ["alpha"]);
    let invalid = invalid(&catalogue);
    assert_eq!(invalid.len(), 2);
    assert!(invalid[0].starts_with("c.json: this cannot be read"), "{invalid:?}");
    assert_eq!(invalid[1], "d.json: this is not a regular file");
}

/// Proves T9: the nesting of workflows and steps is limited before the stack overflows.
#[test]
fn what_is_nested_too_deeply_is_refused() {
    let (folder, catalogue) = folder();
    // Each file is about as deep as allowed, and contains the one before.
    for (number, levels) in [(0, 8), (1, 8), (2, 45), (3, 45)] {
        let mut step = match number {
            0 => json!({ "id": "core", "prompt": "Do it." }),
            _ => json!({ "id": "core", "workflow": { "id": format!("w{}", number - 1) } }),
        };
        for level in 0..levels {
            let count = json!({ "type": "for", "count": 1 });
            step = json!({ "id": format!("level-{level}"), "loop": count, "body": [step] });
        }
        let mut value = workflow(&format!("w{number}"), "");
        value["steps"] = json!([step]);
        write(folder.path(), &format!("w{number}.json"), &value);
    }
    assert_eq!(ids(&catalogue), ["w0"]);
    let invalid = invalid(&catalogue);
    assert_eq!(invalid.len(), 3);
    assert!(invalid.iter().all(|reason| reason.contains("nested more than 16 deep")), "{invalid:?}");
}

/// Proves T9: a definition that would not read back from its pin is refused before it is started.
#[test]
fn what_cannot_be_pinned_is_refused() {
    let (folder, catalogue) = folder();
    let mut step = json!({ "id": "core", "prompt": "Do it." });
    let deep = (0..37).fold(json!({}), |inner, _| json!({ "items": inner }));
    step["outputContract"] = json!({ "schema": deep, "example": {}, "required": false });
    for level in 0..14 {
        let case = json!({ "when": "true", "steps": [step] });
        step = json!({ "id": format!("level-{level}"), "switch": [case] });
    }
    let mut value = workflow("deep", "");
    value["steps"] = json!([step]);
    write(folder.path(), "deep.json", &value);
    let invalid = invalid(&catalogue);
    assert_eq!(invalid.len(), 1);
    assert!(invalid[0].contains("nested too deep"), "{invalid:?}");
}

/// Proves T3: changes are reported, also in a folder that did not exist at first and in one that is created
/// again.
#[test]
fn changes_are_told() {
    let (folder, _) = folder();
    let path = folder.path().join("not/yet");
    let catalogue = Arc::new(Catalogue::new(vec![path.clone()]));
    let (told, notices) = mpsc::channel();
    let seen = Arc::clone(&catalogue);
    let watching = catalogue
        .watch_folders(move || {
            let _ = told.send(ids(&seen));
        })
        .expect("watched");
    // How many notifications a change causes depends on the system: one of them sees it.
    let wait_for = |expected: &[&str]| {
        while notices.recv_timeout(NOTICE_TIMEOUT).expect("a notice") != expected {}
    };
    for _ in 0..2 {
        write(&path, "a.json", &workflow("alpha", "Do it."));
        wait_for(&["alpha"]);
        write(&path, "deep/b.json", &workflow("beta", "Do it."));
        wait_for(&["alpha", "beta"]);
        fs::remove_dir_all(folder.path().join("not")).expect("removed");
        wait_for(&[]);
    }
    drop(watching);
}
