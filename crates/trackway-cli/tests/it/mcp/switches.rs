//! What a server offers, as its arguments and its `trackway.toml` say.

use std::{fs, path::Path};

use serde_json::{Value, json};

use super::{
    bare::Bare,
    shop::{Shop, three},
};
use crate::support::trackway;

const TOOL: &str = "workflow_checkpoint";

fn on_session(session: &str) -> Value {
    json!({ "sessionId": session, "notesMarkdown": "Ask Ada first." })
}

/// A project with this `trackway.toml` and a workflow in `written/deep`.
fn project(shop: &Shop, config: &str) -> String {
    let folder = shop.path().join("project");
    let written = folder.join("written/deep");
    fs::create_dir_all(&written).unwrap();
    fs::write(written.join("three.json"), three().to_string()).unwrap();
    fs::write(folder.join("trackway.toml"), config).unwrap();
    folder.to_str().unwrap().to_owned()
}

fn listed(server: &mut Bare) -> Vec<String> {
    let list = server.call("workflow_list", json!({}));
    let workflows = list.json["workflows"].as_array().unwrap();
    workflows.iter().map(|it| it["workflowId"].as_str().unwrap().to_owned()).collect()
}

/// Proves T7: notes on a whole session have a switch of their own; they are recorded once, shown with the
/// session, and are no run of anybody.
#[test]
fn a_session_has_checkpoints_of_its_own() {
    let shop = Shop::with(&[three()]);
    let flags = ["--checkpoints", "on", "--session-checkpoints", "on"];
    let flags = [&["--workflows", shop.workflows()], &flags[..]].concat();
    let mut server = Bare::greeted_with(&shop, &flags);
    let parameters = server.parameters(TOOL).unwrap();
    assert_eq!(parameters, ["notesMarkdown", "sessionId", "stateToken"]);
    let told = server.call(TOOL, on_session("S"));
    let same = (&told.json["recorded"], &told.json["repeated"], &told.json["session"]["sessionId"]);
    assert_eq!(same, (&json!(true), &json!(false), &json!("S")), "{told:#?}");
    assert_eq!(server.call(TOOL, on_session("S")).json["repeated"], true);

    let start = json!({ "workflowId": "three", "context": { "sessionId": "S" } });
    let start = server.call("workflow_start", start);
    let mut both = on_session("S");
    both["stateToken"] = start.state().into();
    assert_eq!(server.call(TOOL, both).error(), "invalid-request");
    let neither = json!({ "notesMarkdown": "Where?" });
    assert_eq!(server.call(TOOL, neither).error(), "invalid-request");
    let on_step = json!({ "stateToken": start.state(), "notesMarkdown": "Half way." });
    assert_eq!(server.call(TOOL, on_step).json["recorded"], true);

    let notes = shop.cli(&["sessions", "notes", "S"]).expect(0);
    assert!(notes.stdout.contains("Ask Ada first.") && !notes.stdout.contains("Half way."));
    assert_eq!(notes.stdout.matches("Ask Ada first.").count(), 1, "{notes:?}");
    let shown = shop.json(&["sessions", "show", "S"]);
    assert_eq!(shown["runs"].as_array().unwrap().len(), 1, "{shown:#}");
    let documents = shown["documents"].as_array().unwrap();
    let own = documents.iter().filter(|it| it["name"] == "session-notes");
    assert_eq!(own.map(|it| &it["value"]).collect::<Vec<_>>(), ["Ask Ada first."], "{shown:#}");
    for args in [&["runs", "list"][..], &["runs", "list", "--session", "S", "--limit", "1"]] {
        let runs = shop.json(args)["runs"].clone();
        let workflows: Vec<&Value> =
            runs.as_array().unwrap().iter().map(|run| &run["workflow"]).collect();
        assert_eq!(workflows, ["three"], "{runs:#}");
    }
    let asked = shop.json(&["runs", "list", "--workflow", "session-notes"]);
    assert_eq!(asked["runs"].as_array().unwrap().len(), 1, "asked for, it is shown: {asked:#}");
}

/// Proves T7: each switch is off unless it is set, and a call says how it is set.
#[test]
fn what_is_switched_off_is_not_offered() {
    let shop = Shop::with(&[three()]);
    let workflows = ["--workflows", shop.workflows()];
    let cases: [(&[&str], Option<&[&str]>); 4] = [
        (&[], None),
        (&["--checkpoints", "off", "--session-checkpoints", "on"], None),
        (&["--checkpoints", "on"], Some(&["notesMarkdown", "stateToken"])),
        (
            &["--checkpoints", "on", "--session-checkpoints", "off"],
            Some(&["notesMarkdown", "stateToken"]),
        ),
    ];
    for (flags, offered) in cases {
        let mut server = Bare::greeted_with(&shop, &[&workflows, flags].concat());
        let parameters = server.parameters(TOOL);
        let offered = offered.map(|names| names.iter().map(|&name| name.to_owned()).collect());
        assert_eq!(parameters, offered, "{flags:?}");
        let refused = server.call(TOOL, on_session("S"));
        assert_eq!(refused.error(), "switched-off", "{flags:?}");
        let switch =
            if parameters.is_some() { "session_checkpoints" } else { "checkpoints = true" };
        assert!(refused.text.contains(switch), "{refused:#?}");
    }
    assert_eq!(shop.json(&["sessions", "list"]), json!([]), "nothing was recorded");
}

/// Proves X5: `[mcp]` and `[workflows]` of `trackway.toml` are heeded, the folders are beside the file,
/// and the command line has the last word.
#[test]
fn a_configuration_is_heeded() {
    let shop = Shop::with(&[]);
    let config = "[workflows]\nfolders = [\"written\"]\n\n\
                  [mcp]\ncheckpoints = true\nsession_checkpoints = true\n";
    let project = project(&shop, config);
    let mut server = Bare::greeted_with(&shop, &["--workspace", &project]);
    assert_eq!(listed(&mut server), ["three"]);
    assert_eq!(server.call(TOOL, on_session("S")).json["recorded"], true);

    let flags = ["--workspace", &project, "--session-checkpoints", "off"];
    let mut server = Bare::greeted_with(&shop, &flags);
    assert_eq!(server.call(TOOL, on_session("S")).error(), "switched-off");
    let flags = ["--workspace", &project, "--checkpoints", "off", "--workflows", shop.workflows()];
    let mut server = Bare::greeted_with(&shop, &flags);
    assert_eq!(server.parameters(TOOL), None);
    assert_eq!(listed(&mut server), [""; 0], "the named folders replace those of the file");

    for (config, says) in [
        ("[mcp]\ncheckpoint = true\n", "checkpoint"),
        ("[mcp]\ncheckpoints = \"yes\"\n", "boolean"),
        ("[workflows]\nfolders = \"written\"\n", "sequence"),
    ] {
        fs::write(Path::new(&project).join("trackway.toml"), config).unwrap();
        let refused = trackway(&["mcp", "--workspace", &project]).finish("");
        assert_eq!(refused.code, 2, "{refused:?}");
        let place = refused.stderr.contains("trackway.toml, line 2");
        assert!(place && refused.stderr.contains(says), "{refused:?}");
        assert_eq!(refused.stdout, "", "nothing but the protocol is written there");
    }
}

/// Proves X5: what `trackway init` writes has checkpoints on, and they work.
#[test]
fn a_new_project_has_checkpoints() {
    let shop = Shop::with(&[]);
    let folder = shop.path().join("new");
    let dir = folder.to_str().unwrap();
    let checkout = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    trackway(&["init", dir, "--trackway", checkout]).finish("").expect(0);
    fs::create_dir_all(folder.join("workflows")).unwrap();
    fs::write(folder.join("workflows/three.json"), three().to_string()).unwrap();
    let mut server = Bare::greeted_with(&shop, &["--workspace", dir]);
    assert_eq!(server.parameters(TOOL).unwrap(), ["notesMarkdown", "stateToken"]);
    let start = server.call("workflow_start", json!({ "workflowId": "three" }));
    let note = json!({ "stateToken": start.state(), "notesMarkdown": "Half way." });
    assert_eq!(server.call(TOOL, note).json["recorded"], true);
    assert_eq!(server.call(TOOL, on_session("S")).error(), "switched-off", "its own switch is off");
}
