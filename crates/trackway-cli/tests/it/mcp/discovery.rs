//! Discovery: the tools, the workflows, and the invalid files.

use serde_json::{Value, json};

use super::{
    client::{ConfirmationReply, ProtocolRevision},
    mcp_workspace::{McpWorkspace, prompt_step, three_step_workflow, workflow_definition},
};

fn names(tools: &[Value]) -> Vec<&str> {
    tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

/// Proves T1: the six tools with the schemas of the interface, in both revisions; the checkpoint is
/// behind its switch.
#[test]
fn the_tools_are_those_of_the_interface() {
    let shop = McpWorkspace::with_workflows(&[three_step_workflow()]);
    for era in [ProtocolRevision::Newest, ProtocolRevision::Legacy] {
        let mut agent = shop.connect_as(era, ConfirmationReply::Unasked);
        let tools = agent.tools();
        let parameters = [
            ("workflow_list", vec!["cursor", "query"]),
            ("workflow_inspect", vec!["workflowId"]),
            ("workflow_start", vec!["context", "workflowId"]),
            ("workflow_advance", vec!["ackToken", "context", "notesMarkdown", "output", "stateToken"]),
            ("workflow_checkpoint", vec!["notesMarkdown", "stateToken"]),
            ("workflow_resume", vec!["query"]),
        ];
        assert_eq!(names(&tools), parameters.clone().map(|(name, _)| name));
        for (tool, (name, expected)) in tools.iter().zip(parameters) {
            let properties = tool["inputSchema"]["properties"].as_object().unwrap();
            let mut found: Vec<&str> = properties.keys().map(String::as_str).collect();
            found.sort_unstable();
            assert_eq!(found, expected, "{name}");
            assert_eq!(tool["outputSchema"]["type"], "object", "{name}");
            assert!(tool["description"].as_str().unwrap().len() > 40, "{name}");
            let reads = ["workflow_list", "workflow_inspect", "workflow_resume"].contains(&name);
            assert_eq!(tool["annotations"]["readOnlyHint"], reads, "{name}");
        }
        assert_eq!(tools, agent.tools(), "always the same");
    }
    for more in [&[][..], &["--checkpoints", "off"]] {
        let mut agent = shop.connect_with(ProtocolRevision::Newest, ConfirmationReply::Unasked, more);
        assert_eq!(names(&agent.tools()).len(), 5);
        let start = agent.start_run("three", json!({}));
        let refused = agent.checkpoint(&start.state_token(), "notes");
        assert_eq!(refused.error_code(), "switched-off");
    }
}

/// Proves T1, T3: a named folder that does not exist is reported, and found once it exists.
#[test]
fn a_folder_that_is_not_there_is_listed() {
    let shop = McpWorkspace::with_workflows(&[three_step_workflow()]);
    let absent = shop.path().join("mistyped");
    let more = ["--workflows", absent.to_str().unwrap()];
    let mut agent = shop.connect_with(ProtocolRevision::Newest, ConfirmationReply::Unasked, &more);
    let list = agent.list();
    assert_eq!(list.json["workflows"].as_array().unwrap().len(), 1, "{list:#?}");
    assert_eq!(list.json["invalid"][0]["file"], absent.to_str().unwrap());
    assert!(list.text.contains("there is no such folder"), "{list:#?}");
    std::fs::create_dir(&absent).unwrap();
    assert_eq!(agent.list().json["invalid"], json!([]));
}

/// Proves T1: a listed workflow is described, and inspected with the ids of its steps.
#[test]
fn workflows_are_listed_and_inspected() {
    let shop = McpWorkspace::with_workflows(&[
        three_step_workflow(),
        workflow_definition("another", json!([prompt_step("only")])),
    ]);
    let mut agent = shop.connect();
    let list = agent.list();
    let workflows = list.json["workflows"].as_array().unwrap();
    assert_eq!(workflows.len(), 2);
    let three = workflows.iter().find(|workflow| workflow["workflowId"] == "three").unwrap();
    assert_eq!(three["name"], "The three");
    assert_eq!(three["description"], "A workflow of a test.");
    assert_eq!(three["version"], "1.0.0");
    assert!(list.text.contains("three") && list.text.contains("another"), "{list:#?}");
    let shown = agent.inspect("three");
    let steps = shown.json["steps"].as_array().unwrap();
    let ids: Vec<&str> = steps.iter().map(|step| step["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["first", "second", "third"]);
    // Folders are searched recursively, and a new file is found without a restart.
    std::fs::create_dir_all(std::path::Path::new(shop.workflows()).join("a/b")).unwrap();
    let deep = workflow_definition("deep", json!([prompt_step("only")]));
    shop.write_text("a/b/deep.json", &deep.to_string());
    assert_eq!(agent.start_run("deep", json!({})).step_id(), "only");
}

/// Proves T1: invalid files are listed with the reason, also by inspect and start, and the others are
/// there.
#[test]
fn an_invalid_file_is_listed_with_its_reason() {
    let shop = McpWorkspace::with_workflows(&[three_step_workflow()]);
    shop.write_text("broken.json", "{ \"id\": \"broken\", ");
    let mut wrong = workflow_definition("wrong", json!([prompt_step("only")]));
    wrong["steps"][0]["promt"] = wrong["steps"][0]["prompt"].take();
    wrong["steps"][0].as_object_mut().unwrap().remove("prompt");
    shop.write_workflow(&wrong);
    shop.write_text("odd.yaml", "id: odd\nname: Odd\nsteps: 7\n");
    let mut agent = shop.connect();
    let list = agent.list();
    assert_eq!(list.json["workflows"].as_array().unwrap().len(), 1);
    let invalid = list.json["invalid"].as_array().unwrap();
    assert_eq!(invalid.len(), 3, "{list:#?}");
    for (file, says) in [("broken.json", ""), ("wrong.json", "prompt"), ("odd.yaml", "steps")] {
        let found = invalid.iter().find(|it| it["file"].as_str().unwrap().ends_with(file));
        let found = found.unwrap_or_else(|| panic!("{file}: {list:#?}"));
        assert!(found["errors"].to_string().contains(says), "{found}");
        assert!(!found["errors"].as_array().unwrap().is_empty(), "{found}");
        assert!(list.text.contains(file), "{list:#?}");
    }
    for refused in [agent.inspect("wrong"), agent.start_run("wrong", json!({}))] {
        assert_eq!(refused.error_code(), "invalid-workflow");
        assert!(refused.text.contains("prompt"), "the reason is told: {refused:#?}");
    }
    let unknown = agent.start_run("thre", json!({}));
    assert_eq!(unknown.error_code(), "unknown-workflow");
    assert!(unknown.text.contains("three"), "did you mean: {unknown:#?}");
    // Once fixed, it is listed.
    shop.write_workflow(&workflow_definition("wrong", json!([prompt_step("only")])));
    assert_eq!(agent.start_run("wrong", json!({})).step_id(), "only");
}

/// Proves T9: a reference to a missing file is marked and must not be followed; ignored keys take one line.
#[test]
fn what_is_not_here_and_not_acted_on_is_said_briefly() {
    let mut definition = workflow_definition("foreign", json!([prompt_step("only")]));
    let reference = |title: &str, source: &str| {
        json!({
            "id": title, "title": title, "source": source, "purpose": "Says how.", "authoritative": true,
        })
    };
    definition["references"] = json!([reference("Gone", "./spec/gone.md"), reference("There", "there.md")]);
    for key in ["about", "examples", "metricsProfile", "modelTier", "author", "license"] {
        definition[key] = json!("x");
    }
    let shop = McpWorkspace::with_workflows(&[definition]);
    shop.write_text("there.md", "It is here.");
    let mut agent = shop.connect();
    let start = agent.start_run("foreign", json!({}));
    let gone = start.json["guidance"].as_array().unwrap().iter().map(|rule| rule.as_str().unwrap());
    let rules: Vec<&str> = gone.collect();
    assert!(rules[0].contains("[unresolved]") && !rules[0].contains("strictly"), "{rules:?}");
    assert!(rules[1].contains("Follow it strictly"), "{rules:?}");
    let shown = agent.inspect("foreign");
    let lines = shown.text.lines().filter(|line| line.contains("Not acted on"));
    assert_eq!(lines.count(), 1, "{shown:#?}");
    assert!(shown.text.contains("`/about`") && shown.json["unheeded"].as_array().unwrap().len() >= 6);
}
