//! Files in WorkRail's format, loaded unchanged and driven to their end.

use std::{
    collections::BTreeSet,
    fs,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use super::{
    client::{ConfirmationReply, ProtocolRevision},
    mcp_workspace::McpWorkspace,
    obedient_agent::drive_to_end,
};

/// Our own files, which use every construct that files of WorkRail use.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../trackway-definition/corpus");

/// The variable in which `cargo xtask corpus` names another folder.
const OTHER_FOLDER: &str = "TRACKWAY_TEST_CORPUS";

#[expect(clippy::disallowed_methods, reason = "the one place where these tests learn of a folder")]
fn folder() -> PathBuf {
    std::env::var_os(OTHER_FOLDER).map_or_else(|| FOLDER.into(), PathBuf::from)
}

/// The ids of all workflows of the folder.
fn ids(shop: &McpWorkspace) -> BTreeSet<String> {
    let list = shop.connect_as(ProtocolRevision::Legacy, ConfirmationReply::Unasked).list();
    assert_eq!(list.json["invalid"], json!([]), "{list:#?}");
    let workflows = list.json["workflows"].as_array().unwrap();
    let id = |workflow: &Value| workflow["workflowId"].as_str().unwrap().to_owned();
    let found: BTreeSet<String> = workflows.iter().map(id).collect();
    assert!(!found.is_empty(), "no workflows in {}", shop.workflows());
    found
}

/// Proves T9, T12: an agent that only follows the answers reaches the end of every file, and the views for
/// people agree with the agent's answers.
#[test]
fn heavy_corpus_files_are_driven_to_their_end() {
    let shop = McpWorkspace::on_folder(&folder());
    let ids = ids(&shop);
    let failed: Vec<&String> = ids
        .iter()
        .filter(|id| catch_unwind(AssertUnwindSafe(|| drive_and_show(&shop, id))).is_err())
        .collect();
    assert!(failed.is_empty(), "{} of {} failed, see above: {failed:?}", failed.len(), ids.len());
    println!("{} workflows came to their end.", ids.len());
}

fn drive_and_show(shop: &McpWorkspace, id: &str) {
    let session = format!("drive-{id}");
    let driven = drive_to_end(&mut shop.connect(), id, json!({ "sessionId": session }));
    assert!(driven.end.is_complete(), "{id}");
    let told = shop.run_json_command(&["sessions", "show", &session]);
    let run = json!({
        "runId": driven.end.run_id(), "workflowId": id, "status": "complete", "branches": 1,
    });
    for (name, value) in run.as_object().unwrap() {
        assert_eq!(&told["runs"][0][name], value, "{id}: {}", told["runs"]);
    }
    let graph = shop.run_json_command(&["sessions", "graph", &session]);
    assert_eq!(graph["nodes"].as_array().unwrap().len(), driven.advanced + 1, "{id}: {graph}");
    assert_eq!(graph["edges"].as_array().unwrap().len(), driven.advanced, "{id}");
    let page = shop.path().join(format!("{id}.md"));
    let out = page.to_str().unwrap();
    let export = ["sessions", "export", &session, "--out", out, "--format", "markdown"];
    shop.run_command(&export).expect(0);
    let page = fs::read_to_string(page).unwrap();
    for step in &driven.steps {
        assert!(page.contains(&format!("Did {step}.")), "{id} of {step}: {page}");
    }
}

/// Proves T1, T3: all files are listed as workflows, none as invalid, and pin the hash that they show.
#[test]
fn corpus_files_are_listed_and_pinned() {
    let shop = McpWorkspace::on_folder(&folder());
    let mut agent = shop.connect_as(ProtocolRevision::Legacy, ConfirmationReply::Unasked);
    let list = agent.list();
    assert_eq!(list.json["invalid"], json!([]), "{list:#?}");
    let workflows = list.json["workflows"].as_array().unwrap();
    assert_eq!(workflows.len(), definition_files(&folder()), "{list:#?}");
    for workflow in workflows {
        let shown = agent.inspect(workflow["workflowId"].as_str().unwrap());
        assert_eq!(shown.json["workflowHash"], workflow["workflowHash"], "{shown:#?}");
        assert!(!shown.json["steps"].as_array().unwrap().is_empty(), "{shown:#?}");
    }
}

/// How many definition files are in a folder and its subfolders.
fn definition_files(folder: &Path) -> usize {
    let count = |path: PathBuf| match path.extension().and_then(|extension| extension.to_str()) {
        Some("json" | "yaml" | "yml") => 1,
        _ if path.is_dir() => definition_files(&path),
        _ => 0,
    };
    fs::read_dir(folder).unwrap().map(|entry| count(entry.unwrap().path())).sum()
}

/// Proves T9: a loop that decisions control starts before the first decision, repeats and stops as the
/// decisions say, and stops at its limit with a warning.
#[test]
fn decisions_control_a_loop() {
    let shop = McpWorkspace::on_folder(Path::new(FOLDER));
    let mut agent = shop.connect();
    let decision = |word: &str| {
        let artifact = json!({ "kind": "wr.loop_control", "decision": word });
        json!({ "output": { "artifacts": [artifact] } })
    };
    let start = agent.start_run("corpus-decisions", json!({}));
    assert_eq!(start.step_id(), "listen");
    let mut work = agent.advance(&start, decision("continue"));
    for round in 0..3 {
        assert_eq!(work.step_id(), "tune-octave", "round {round}");
        let decide = agent.advance(&work, json!({}));
        assert_eq!(decide.step_id(), "decide");
        assert_eq!(decide.json["pending"]["requireConfirmation"], true);
        if round == 0 {
            let stopped = agent.advance(&decide, decision("stop"));
            assert_eq!(stopped.step_id(), "judge");
            assert_eq!(stopped.json["warnings"], json!([]));
        }
        work = agent.advance(&decide, decision("continue"));
    }
    assert_eq!(work.step_id(), "judge");
    assert_eq!(work.warning_codes().len(), 1, "the bound was reached: {work:#?}");
    let low = assessment("low");
    let blocked = agent.advance(&work, low);
    assert!(!blocked.json["blocked"].is_null(), "a low level asks for more: {blocked:#?}");
    let end = agent.advance(&blocked, assessment("high"));
    assert!(end.is_complete(), "{end:#?}");
}

fn assessment(level: &str) -> Value {
    let artifact = json!({
        "kind": "wr.assessment", "assessmentId": "concert_gate",
        "dimensions": { "purity": level },
    });
    json!({ "output": { "artifacts": [artifact] } })
}
