//! Pages of the list.

use std::sync::Arc;

use trackway_definition::{FileFormat, parse_definition_draft};

use super::*;

fn sample_workflow(id: &str, more: &str) -> CatalogueEntry {
    let text =
        format!("id: {id}\nname: Name of {id}\nversion: '1'\n{more}\nsteps: [{{id: a, prompt: Do it.}}]\n");
    let definition = parse_definition_draft(&text, FileFormat::Yaml)
        .expect("a file")
        .link_references(&|_| None)
        .expect("whole");
    CatalogueEntry {
        definition: Arc::new(definition),
        hash: "sha256-0".into(),
        file: PathBuf::from(format!("{id}.yaml")),
    }
}

fn sample_invalid_file(number: usize) -> InvalidDefinitionFile {
    InvalidDefinitionFile {
        file: PathBuf::from(format!("bad-{number:03}.yaml")),
        workflow: None,
        errors: (0..30).map(|at| Finding::new(format!("/steps/{at}"), "x".repeat(40))).collect(),
    }
}

fn list_page(listing: &CatalogueListing, query: Option<&str>, cursor: Option<String>) -> (Value, String) {
    let wanted = WorkflowListQuery { query: query.map(str::to_owned), cursor };
    let result = workflow_list_result(
        listing.clone(),
        &[PathBuf::from("somewhere")],
        &Scopes::all_workflows_and_agents(),
        &wanted,
    );
    let result = result.expect("a page");
    let text = result.content[0].as_text().expect("a text").text.clone();
    (result.structured_content.expect("JSON"), text)
}

/// Proves T1: the list comes in pages of a limited size, and the pages contain every entry once.
#[test]
fn the_list_comes_in_pages() {
    let workflows = (0..300).map(|number| sample_workflow(&format!("w{number:03}"), "")).collect();
    let listing = CatalogueListing { workflows, invalid: (0..40).map(sample_invalid_file).collect() };
    let (mut cursor, mut found, mut pages) = (None, Vec::new(), 0);
    loop {
        let (json, text) = list_page(&listing, None, cursor);
        assert!(json.to_string().len() < PAGE_BYTES_MAX + 1024 && text.len() < PAGE_BYTES_MAX + 1024);
        for (list, name) in [("workflows", "workflowId"), ("invalid", "file")] {
            let entries = json[list].as_array().expect("a list");
            found.extend(entries.iter().map(|entry| entry[name].as_str().unwrap().to_owned()));
        }
        pages += 1;
        let Some(next) = json["nextCursor"].as_str() else { break };
        assert!(text.contains(next), "{text}");
        cursor = Some(next.to_owned());
    }
    assert!(pages > 3);
    let expected: Vec<String> = (0..300)
        .map(|number| format!("w{number:03}"))
        .chain((0..40).map(|number| format!("bad-{number:03}.yaml")))
        .collect();
    assert_eq!(found, expected);
}

/// Proves T1: words are searched in id, name, description and tags, and all must match.
#[test]
fn words_filter_the_list() {
    let listing = CatalogueListing {
        workflows: vec![
            sample_workflow("deploy", "description: Ships a release.\ntags: [ops]"),
            sample_workflow("review", "description: Reads a change."),
        ],
        invalid: vec![sample_invalid_file(1)],
    };
    for (query, expected) in [
        ("SHIPS", vec!["deploy"]),
        ("ops release", vec!["deploy"]),
        ("ops change", vec![]),
        ("name of", vec!["deploy", "review"]),
        ("", vec!["deploy", "review"]),
    ] {
        let (json, text) = list_page(&listing, Some(query), None);
        let ids: Vec<&str> = json["workflows"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|entry| entry["workflowId"].as_str().unwrap())
            .collect();
        assert_eq!(ids, expected, "{query}");
        assert_eq!(text.contains("Without `query`, there are 2"), expected.is_empty(), "{text}");
    }
}

/// Proves T1: an empty list says where the server looks for files, and shows an example.
#[test]
fn an_empty_list_says_how_to_begin() {
    let (json, text) = list_page(&CatalogueListing::default(), None, None);
    assert!(json["folders"][0].as_str().is_some_and(|path| path.ends_with("somewhere")), "{json}");
    assert!(text.contains("somewhere") && text.contains("no such folder yet"), "{text}");
    let file = text.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next());
    parse_definition_draft(file.expect("a file"), FileFormat::Yaml).expect("what is shown is valid");
}

/// Proves T8.
#[test]
fn invalid_cursor_is_refused() {
    let wanted = WorkflowListQuery { query: None, cursor: Some("page 2".to_owned()) };
    let refused =
        workflow_list_result(CatalogueListing::default(), &[], &Scopes::all_workflows_and_agents(), &wanted)
            .expect_err("no cursor");
    assert_eq!(refused.needs[0].pointer, "/cursor");
}
