//! Every WorkRail file that was given, loaded unchanged and driven to its end.

use std::{collections::BTreeSet, fs, path::Path};

use serde_json::{Value, json};

use super::{
    client::{Era, Person},
    scripted::drive,
    shop::Shop,
};

/// The files of WorkRail's users. They lie beside the repository.
const GIVEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/workrail-workflows");

/// The ids of all files below a folder.
fn ids(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            ids(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "json") {
            let file: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
            found.insert(file["id"].as_str().unwrap().to_owned());
        }
    }
}

fn given() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    ids(Path::new(GIVEN), &mut found);
    assert!(found.len() >= 17, "the files are not all there: {found:?}");
    found
}

/// Proves T9, T12: an agent that only does what answers tell it to send comes to the end of every file,
/// and what people see afterwards agrees with what the agent saw.
#[test]
fn heavy_every_workrail_file_is_driven_to_its_end() {
    let shop = Shop::on(Path::new(GIVEN));
    let mut agent = shop.agent();
    for id in given() {
        let session = format!("drive-{id}");
        let driven = drive(&mut agent, &id, json!({ "sessionId": session }));
        assert!(driven.end.is_complete(), "{id}");
        let told = shop.json(&["sessions", "show", &session]);
        let run = json!({
            "runId": driven.end.run(), "workflowId": id, "status": "complete", "branches": 1,
        });
        for (name, value) in run.as_object().unwrap() {
            assert_eq!(&told["runs"][0][name], value, "{id}: {}", told["runs"]);
        }
        let graph = shop.json(&["sessions", "graph", &session]);
        assert_eq!(graph["nodes"].as_array().unwrap().len(), driven.advanced + 1, "{id}: {graph}");
        assert_eq!(graph["edges"].as_array().unwrap().len(), driven.advanced, "{id}");
        let page = shop.path().join(format!("{id}.md"));
        let out = page.to_str().unwrap();
        let export = ["sessions", "export", &session, "--out", out, "--format", "markdown"];
        shop.cli(&export).expect(0);
        let page = fs::read_to_string(page).unwrap();
        for step in &driven.steps {
            assert!(page.contains(&format!("Did {step}.")), "{id} of {step}: {page}");
        }
    }
}

/// Proves T1, T3: all files are listed as workflows, none as invalid, and pin the hash that they show.
#[test]
fn every_workrail_file_is_listed_and_pinned() {
    let shop = Shop::on(Path::new(GIVEN));
    let mut agent = shop.agent_as(Era::Legacy, Person::Unasked);
    let list = agent.list();
    assert_eq!(list.json["invalid"], json!([]), "{list:#?}");
    let workflows = list.json["workflows"].as_array().unwrap();
    let listed = workflows.iter().map(|workflow| workflow["workflowId"].as_str().unwrap());
    assert_eq!(listed.map(str::to_owned).collect::<BTreeSet<_>>(), given());
    for workflow in workflows {
        let shown = agent.inspect(workflow["workflowId"].as_str().unwrap());
        assert_eq!(shown.json["workflowHash"], workflow["workflowHash"], "{shown:#?}");
        assert!(!shown.json["steps"].as_array().unwrap().is_empty(), "{shown:#?}");
    }
}

/// Proves T9: a loop that decisions control is entered before the first one, goes on while told to,
/// stops when told to, and at its bound with a warning.
#[test]
fn decisions_control_a_loop() {
    let shop = Shop::on(Path::new(GIVEN));
    let mut agent = shop.agent();
    let decision = |word: &str| {
        let artifact = json!({ "kind": "wr.loop_control", "decision": word });
        json!({ "output": { "artifacts": [artifact] } })
    };
    let start = agent.start_run("test-artifact-loop-control", json!({}));
    assert_eq!(start.step(), "init-loop");
    let mut work = agent.advance(&start, decision("continue"));
    for round in 0..3 {
        assert_eq!(work.step(), "do-work", "round {round}");
        let decide = agent.advance(&work, json!({}));
        assert_eq!(decide.step(), "decide-continue");
        assert_eq!(decide.json["pending"]["requireConfirmation"], true);
        if round == 0 {
            let stopped = agent.advance(&decide, decision("stop"));
            assert_eq!(stopped.step(), "complete");
            assert_eq!(stopped.json["warnings"], json!([]));
        }
        work = agent.advance(&decide, decision("continue"));
    }
    assert_eq!(work.step(), "complete");
    assert_eq!(work.warnings().len(), 1, "the bound was reached: {work:#?}");
    let low = assessment("low");
    let blocked = agent.advance(&work, low);
    assert!(!blocked.json["blocked"].is_null(), "a low level asks for more: {blocked:#?}");
    let end = agent.advance(&blocked, assessment("high"));
    assert!(end.is_complete(), "{end:#?}");
}

fn assessment(level: &str) -> Value {
    let artifact = json!({
        "kind": "wr.assessment", "assessmentId": "readiness_gate",
        "dimensions": { "confidence": level },
    });
    json!({ "output": { "artifacts": [artifact] } })
}
