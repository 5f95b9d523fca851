//! What a server offers, as its arguments and its `trackway.toml` say.

use std::{fs, path::Path};

use serde_json::{Value, json};

use super::{
    mcp_workspace::{McpWorkspace, three_step_workflow},
    raw_stdio_client::RawStdioClient,
};
use crate::support::trackway_command;

const TOOL: &str = "workflow_checkpoint";

fn on_session(session: &str) -> Value {
    json!({ "sessionId": session, "notesMarkdown": "Ask Ada first." })
}

/// A project with this `trackway.toml` and a workflow in `written/deep`.
fn project(shop: &McpWorkspace, config: &str) -> String {
    let folder = shop.path().join("project");
    let written = folder.join("written/deep");
    fs::create_dir_all(&written).unwrap();
    fs::write(written.join("three.json"), three_step_workflow().to_string()).unwrap();
    fs::write(folder.join("trackway.toml"), config).unwrap();
    folder.to_str().unwrap().to_owned()
}

fn listed(server: &mut RawStdioClient) -> Vec<String> {
    let list = server.call_tool("workflow_list", json!({}));
    let workflows = list.json["workflows"].as_array().unwrap();
    workflows.iter().map(|it| it["workflowId"].as_str().unwrap().to_owned()).collect()
}

/// Proves T7: notes on a whole session have a separate switch; they are recorded once, shown with the
/// session, and are not listed as a run.
#[test]
fn a_session_has_checkpoints_of_its_own() {
    let shop = McpWorkspace::with_workflows(&[three_step_workflow()]);
    let flags = ["--checkpoints", "on", "--session-checkpoints", "on"];
    let flags = [&["--workflows", shop.workflows()], &flags[..]].concat();
    let mut server = RawStdioClient::start_and_greet_with(&shop, &flags);
    let parameters = server.tool_parameters(TOOL).unwrap();
    assert_eq!(parameters, ["notesMarkdown", "sessionId", "stateToken"]);
    let told = server.call_tool(TOOL, on_session("S"));
    let same = (&told.json["recorded"], &told.json["repeated"], &told.json["session"]["sessionId"]);
    assert_eq!(same, (&json!(true), &json!(false), &json!("S")), "{told:#?}");
    assert_eq!(server.call_tool(TOOL, on_session("S")).json["repeated"], true);

    let start = json!({ "workflowId": "three", "context": { "sessionId": "S" } });
    let start = server.call_tool("workflow_start", start);
    let mut both = on_session("S");
    both["stateToken"] = start.state_token().into();
    assert_eq!(server.call_tool(TOOL, both).error_code(), "invalid-request");
    let neither = json!({ "notesMarkdown": "Where?" });
    assert_eq!(server.call_tool(TOOL, neither).error_code(), "invalid-request");
    let on_step = json!({ "stateToken": start.state_token(), "notesMarkdown": "Half way." });
    assert_eq!(server.call_tool(TOOL, on_step).json["recorded"], true);

    let notes = shop.run_command(&["sessions", "notes", "S"]).expect(0);
    assert!(notes.stdout.contains("Ask Ada first.") && !notes.stdout.contains("Half way."));
    assert_eq!(notes.stdout.matches("Ask Ada first.").count(), 1, "{notes:?}");
    let shown = shop.run_json_command(&["sessions", "show", "S"]);
    assert_eq!(shown["runs"].as_array().unwrap().len(), 1, "{shown:#}");
    let documents = shown["documents"].as_array().unwrap();
    let own = documents.iter().filter(|it| it["name"] == "session-notes");
    assert_eq!(own.map(|it| &it["value"]).collect::<Vec<_>>(), ["Ask Ada first."], "{shown:#}");
    for args in [&["runs", "list"][..], &["runs", "list", "--session", "S", "--limit", "1"]] {
        let runs = shop.run_json_command(args)["runs"].clone();
        let workflows: Vec<&Value> = runs.as_array().unwrap().iter().map(|run| &run["workflow"]).collect();
        assert_eq!(workflows, ["three"], "{runs:#}");
    }
    let asked = shop.run_json_command(&["runs", "list", "--workflow", "session-notes"]);
    assert_eq!(asked["runs"].as_array().unwrap().len(), 1, "asked for, it is shown: {asked:#}");
}

/// Proves T7: each switch is off unless it is set, and a call says how it is set.
#[test]
fn what_is_switched_off_is_not_offered() {
    let shop = McpWorkspace::with_workflows(&[three_step_workflow()]);
    let workflows = ["--workflows", shop.workflows()];
    let cases: [(&[&str], Option<&[&str]>); 4] = [
        (&[], None),
        (&["--checkpoints", "off", "--session-checkpoints", "on"], None),
        (&["--checkpoints", "on"], Some(&["notesMarkdown", "stateToken"])),
        (&["--checkpoints", "on", "--session-checkpoints", "off"], Some(&["notesMarkdown", "stateToken"])),
    ];
    for (flags, offered) in cases {
        let mut server = RawStdioClient::start_and_greet_with(&shop, &[&workflows, flags].concat());
        let parameters = server.tool_parameters(TOOL);
        let offered = offered.map(|names| names.iter().map(|&name| name.to_owned()).collect());
        assert_eq!(parameters, offered, "{flags:?}");
        let refused = server.call_tool(TOOL, on_session("S"));
        assert_eq!(refused.error_code(), "switched-off", "{flags:?}");
        let switch = if parameters.is_some() { "session_checkpoints" } else { "checkpoints = true" };
        assert!(refused.text.contains(switch), "{refused:#?}");
    }
    assert_eq!(shop.run_json_command(&["sessions", "list"]), json!([]), "nothing was recorded");
}

/// Proves X5: `[mcp]` and `[workflows]` of `trackway.toml` take effect, the folders are relative to the
/// file, and the command line overrides them.
#[test]
fn a_configuration_is_heeded() {
    let shop = McpWorkspace::with_workflows(&[]);
    let config = "[workflows]\nfolders = [\"written\"]\n\n\
                  [mcp]\ncheckpoints = true\nsession_checkpoints = true\n";
    let project = project(&shop, config);
    let mut server = RawStdioClient::start_and_greet_with(&shop, &["--workspace", &project]);
    assert_eq!(listed(&mut server), ["three"]);
    assert_eq!(server.call_tool(TOOL, on_session("S")).json["recorded"], true);

    let flags = ["--workspace", &project, "--session-checkpoints", "off"];
    let mut server = RawStdioClient::start_and_greet_with(&shop, &flags);
    assert_eq!(server.call_tool(TOOL, on_session("S")).error_code(), "switched-off");
    let flags = ["--workspace", &project, "--checkpoints", "off", "--workflows", shop.workflows()];
    let mut server = RawStdioClient::start_and_greet_with(&shop, &flags);
    assert_eq!(server.tool_parameters(TOOL), None);
    assert_eq!(listed(&mut server), [""; 0], "the named folders replace those of the file");

    for (config, says) in [
        ("[mcp]\ncheckpoint = true\n", "checkpoint"),
        ("[mcp]\ncheckpoints = \"yes\"\n", "boolean"),
        ("[workflows]\nfolders = \"written\"\n", "sequence"),
    ] {
        fs::write(Path::new(&project).join("trackway.toml"), config).unwrap();
        let refused = trackway_command(&["mcp", "--workspace", &project]).run_to_end("");
        assert_eq!(refused.code, 2, "{refused:?}");
        let place = refused.stderr.contains("trackway.toml, line 2");
        assert!(place && refused.stderr.contains(says), "{refused:?}");
        assert_eq!(refused.stdout, "", "nothing but the protocol is written there");
    }
}

/// Proves X5: what `trackway init` writes has checkpoints on, and they work.
#[test]
fn a_new_project_has_checkpoints() {
    let shop = McpWorkspace::with_workflows(&[]);
    let folder = shop.path().join("new");
    let dir = folder.to_str().unwrap();
    let checkout = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    trackway_command(&["init", dir, "--trackway", checkout]).run_to_end("").expect(0);
    fs::create_dir_all(folder.join("workflows")).unwrap();
    fs::write(folder.join("workflows/three.json"), three_step_workflow().to_string()).unwrap();
    let mut server = RawStdioClient::start_and_greet_with(&shop, &["--workspace", dir]);
    assert_eq!(server.tool_parameters(TOOL).unwrap(), ["notesMarkdown", "stateToken"]);
    let start = server.call_tool("workflow_start", json!({ "workflowId": "three" }));
    let note = json!({ "stateToken": start.state_token(), "notesMarkdown": "Half way." });
    assert_eq!(server.call_tool(TOOL, note).json["recorded"], true);
    assert_eq!(server.call_tool(TOOL, on_session("S")).error_code(), "switched-off", "its own switch is off");
}
