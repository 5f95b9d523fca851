//! Pages of the list.

use std::sync::Arc;

use trackway_definition::{Format, read};

use super::*;

fn known(id: &str, more: &str) -> Known {
    let text = format!(
        "id: {id}\nname: Name of {id}\nversion: '1'\n{more}\nsteps: [{{id: a, prompt: Do it.}}]\n"
    );
    let definition = read(&text, Format::Yaml).expect("a file").link(&|_| None).expect("whole");
    Known {
        definition: Arc::new(definition),
        hash: "sha256-0".into(),
        file: PathBuf::from(format!("{id}.yaml")),
    }
}

fn invalid(number: usize) -> Invalid {
    Invalid {
        file: PathBuf::from(format!("bad-{number:03}.yaml")),
        workflow: None,
        errors: (0..30).map(|at| Fault::new(format!("/steps/{at}"), "x".repeat(40))).collect(),
    }
}

fn listed(listing: &Listing, query: Option<&str>, cursor: Option<String>) -> (Value, String) {
    let wanted = Wanted { query: query.map(str::to_owned), cursor };
    let result = list(listing.clone(), &[PathBuf::from("somewhere")], &Scopes::all(), &wanted);
    let result = result.expect("a page");
    let text = result.content[0].as_text().expect("a text").text.clone();
    (result.structured_content.expect("JSON"), text)
}

/// Proves T1: the list comes in pages of a bounded size, and the pages are all of it, once.
#[test]
fn the_list_comes_in_pages() {
    let workflows = (0..300).map(|number| known(&format!("w{number:03}"), "")).collect();
    let listing = Listing { workflows, invalid: (0..40).map(invalid).collect() };
    let (mut cursor, mut found, mut pages) = (None, Vec::new(), 0);
    loop {
        let (json, text) = listed(&listing, None, cursor);
        assert!(
            json.to_string().len() < PAGE_BYTES_MAX + 1024 && text.len() < PAGE_BYTES_MAX + 1024
        );
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

/// Proves T1: words are looked for in id, name, description and tags, and all have to be there.
#[test]
fn words_filter_the_list() {
    let listing = Listing {
        workflows: vec![
            known("deploy", "description: Ships a release.\ntags: [ops]"),
            known("review", "description: Reads a change."),
        ],
        invalid: vec![invalid(1)],
    };
    for (query, expected) in [
        ("SHIPS", vec!["deploy"]),
        ("ops release", vec!["deploy"]),
        ("ops change", vec![]),
        ("name of", vec!["deploy", "review"]),
        ("", vec!["deploy", "review"]),
    ] {
        let (json, text) = listed(&listing, Some(query), None);
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

/// Proves T1: where there is nothing, the answer says where files are looked for and shows one.
#[test]
fn an_empty_list_says_how_to_begin() {
    let (json, text) = listed(&Listing::default(), None, None);
    assert!(json["folders"][0].as_str().is_some_and(|path| path.ends_with("somewhere")), "{json}");
    assert!(text.contains("somewhere") && text.contains("no such folder yet"), "{text}");
    let file = text.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next());
    read(file.expect("a file"), Format::Yaml).expect("what is shown is valid");
}

/// Proves T8.
#[test]
fn a_cursor_that_is_none_is_refused() {
    let wanted = Wanted { query: None, cursor: Some("page 2".to_owned()) };
    let refused = list(Listing::default(), &[], &Scopes::all(), &wanted).expect_err("no cursor");
    assert_eq!(refused.needs[0].pointer, "/cursor");
}
