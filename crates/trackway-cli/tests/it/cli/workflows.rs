//! `trackway workflows`: the workflows of a workspace, and their problems.

use std::fs;

use crate::support::{CommandOutput, TestFolder, trackway_command};

const GOOD: &str = "id: good\nname: Good\nversion: '1'\ntags: [release]\ninput: {type: object, required: [branch], properties: {branch: {type: string}}}\nsteps:\n  - id: one\n    prompt: Do it.\n    outputContract: {contractRef: wr.contracts.loop_control}\n";
const BAD: &str = "id: bad\nname: Bad\nversion: '1'\nsteps:\n  - id: one\n    promt: Do it.\n";
const OUTER: &str = "id: outer\nname: Outer\nversion: '1'\nsteps:\n  - {id: inner, workflow: {id: good}}\n";

fn workspace(files: &[(&str, &str)]) -> TestFolder {
    let folder = TestFolder::new();
    files.iter().for_each(|(name, text)| folder.write_file(&format!("workflows/{name}"), text));
    folder
}

fn run(folder: &TestFolder, args: &[&str]) -> CommandOutput {
    trackway_command(args).env("TRACKWAY_WORKSPACE", folder.path()).run_to_end("")
}

/// Proves T1: a workspace's workflows are listed, with the files that are not valid.
#[test]
fn workflows_are_listed_with_what_is_wrong() {
    let folder = workspace(&[("good.yaml", GOOD), ("deep/bad.yaml", BAD), ("outer.yaml", OUTER)]);
    let listed = run(&folder, &["workflows", "list"]).expect(0);
    assert!(listed.stdout.contains("good") && listed.stdout.contains("outer"), "{listed:?}");
    assert!(listed.stderr.contains("bad.yaml, line 6, /steps/0/promt"), "{listed:?}");
    let json = run(&folder, &["workflows", "list", "RELEASE", "--json"]).json();
    assert_eq!(json["workflows"].as_array().unwrap().len(), 1);
    assert_eq!(json["workflows"][0]["workflowId"], "good");
    assert_eq!(json["findings"][0]["pointer"], "/steps/0");
    let empty = run(&workspace(&[]), &["workflows", "list"]).expect(0);
    assert!(empty.stderr.contains("No workflows in"), "{empty:?}");
}

/// Proves T1: a check exits with 1 and names file, line, pointer and the probable meaning; files elsewhere
/// are read with the files next to them.
#[test]
fn a_check_names_each_finding() {
    let folder = workspace(&[("good.yaml", GOOD), ("deep/bad.yaml", BAD)]);
    let found = run(&folder, &["workflows", "check"]).expect(1);
    assert!(found.stdout.contains("hint: did you mean `prompt`?"), "{found:?}");
    let json = run(&folder, &["workflows", "check", "--json"]);
    assert_eq!(json.code, 1);
    let json = json.json();
    assert_eq!((&json["usable"], &json["workflows"]), (&false.into(), &1.into()));
    let misspelt = json["findings"].as_array().unwrap().iter();
    let misspelt = misspelt.filter(|finding| finding["pointer"] == "/steps/0/promt");
    let misspelt: Vec<_> = misspelt.collect();
    assert_eq!(misspelt.len(), 1);
    assert_eq!(misspelt[0]["line"], 6);
    assert!(misspelt[0]["file"].as_str().unwrap().ends_with("bad.yaml"));
    assert_eq!(misspelt[0]["suggestion"], "did you mean `prompt`?");

    let good = folder.path().join("workflows/good.yaml");
    run(&folder, &["workflows", "check", good.to_str().unwrap()]).expect(0);
    let missing = folder.path().join("workflows/none.yaml");
    let missing = run(&folder, &["workflows", "check", missing.to_str().unwrap()]).expect(1);
    assert!(missing.stdout.contains("there is no such file"), "{missing:?}");

    let elsewhere = TestFolder::new();
    fs::write(elsewhere.path().join("outer.yaml"), OUTER).unwrap();
    let outer = elsewhere.path().join("outer.yaml");
    let alone = run(&folder, &["workflows", "check", outer.to_str().unwrap()]).expect(1);
    assert!(alone.stdout.contains("good"), "it refers to a file that is not beside it: {alone:?}");
    fs::write(elsewhere.path().join("good.yaml"), GOOD).unwrap();
    run(&folder, &["workflows", "check", outer.to_str().unwrap()]).expect(0);
    run(&folder, &["workflows", "check", elsewhere.path().to_str().unwrap()]).expect(0);
}

/// Proves T1, T3: one workflow is shown with its steps, input, contract and hash.
#[test]
fn one_workflow_is_shown() {
    let folder = workspace(&[("good.yaml", GOOD), ("bad.yaml", BAD)]);
    let shown = run(&folder, &["workflows", "show", "good"]).expect(0);
    for part in ["`one`", "branch: string", r#"decision: "continue" | "stop""#, "sha256-", "good.yaml"] {
        assert!(shown.stdout.contains(part), "{part}: {shown:?}");
    }
    let json = run(&folder, &["workflows", "show", "good", "--json"]).json();
    let listed = run(&folder, &["workflows", "list", "--json"]).json();
    assert_eq!(json["workflowHash"], listed["workflows"][0]["workflowHash"]);
    let unknown = run(&folder, &["workflows", "show", "god"]).expect(2);
    assert!(unknown.stderr.contains("did you mean \"good\"?"), "{unknown:?}");
    let bad = run(&folder, &["workflows", "show", "bad"]).expect(2);
    assert!(bad.stderr.contains("bad.yaml, line 6, /steps/0/promt"), "{bad:?}");
}
