//! The examples in the documentation are valid: every YAML block of its pages, and every example file.

use std::{fs, path::Path};

use serde_json::json;
use trackway_domain::AttemptInputs;

use super::{format_findings, link_among};
use crate::{
    DefinitionDraft, FileFormat, advance_guided_run, begin_guided_run, parse_definition_draft,
    test_support::expect_object,
};

/// Pages whose YAML blocks are definitions, or parts of one.
const PAGES: [&str; 4] = ["docs/definitions.md", "docs/contracts.md", "docs/mcp.md", "README.md"];

const HEADER: &str = "id: shown\nname: Shown\ndescription: Shown.\nversion: '1'\n";

fn text(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    fs::read_to_string(root.join(path)).expect("a file of the repository")
}

fn blocks(page: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut open: Option<String> = None;
    for line in page.lines() {
        match (&mut open, line) {
            (None, "```yaml") => open = Some(String::new()),
            (Some(_), "```") => blocks.extend(open.take()),
            (Some(block), line) => {
                block.push_str(line);
                block.push('\n');
            }
            (None, _) => {}
        }
    }
    blocks
}

/// A block as a whole file: a list becomes its steps, and other keys become its header.
fn as_whole_file(block: &str) -> String {
    let is_whole = block.lines().any(|line| line.starts_with("id: "));
    let one_step = "steps:\n- { id: only, prompt: Do it. }\n";
    match block {
        _ if is_whole => block.to_owned(),
        _ if block.starts_with("- ") => format!("{HEADER}steps:\n{block}"),
        _ => format!("{HEADER}{block}{one_step}"),
    }
}

fn draft(text: &str) -> DefinitionDraft {
    match parse_definition_draft(text, FileFormat::Yaml) {
        Ok(draft) => draft,
        Err(unreadable) => panic!("{:#?}\n{text}", unreadable.findings),
    }
}

/// Proves T9: a definition that is copied from a page is never refused.
#[test]
fn every_definition_of_the_pages_is_valid() {
    for page in PAGES {
        let drafts: Vec<DefinitionDraft> =
            blocks(&text(page)).iter().map(|block| draft(&as_whole_file(block))).collect();
        assert!(!drafts.is_empty(), "{page} shows definitions");
        for (number, one) in drafts.iter().enumerate() {
            let find = |id: &str| drafts.iter().find(|draft| draft.id == id);
            let linked = one.link_references(&find);
            assert_eq!(format_findings(linked), Vec::<String>::new(), "block {number} of {page}");
        }
    }
}

/// Proves T9: the loops on the page are entered and left as it says, driven with its examples: the step
/// before an `until` loop is not asked for the fact that the loop's own steps set.
#[test]
fn the_loops_of_the_page_run_as_it_says() {
    let page = text("docs/definitions.md");
    let loops = blocks(&page).into_iter().find(|block| block.contains("until-green"));
    let definition = draft(&as_whole_file(&loops.expect("the page shows an until loop")));
    let definition = definition.link_references(&|_| None).expect("it is whole");
    let start = expect_object(json!({"files": ["a.rs", "b.rs"]}));
    let mut at = begin_guided_run(&definition, &start).expect("it opens");
    let mut greens = [false, true].into_iter();
    let mut steps = Vec::new();
    while let Some(pending) = at.pending.clone() {
        steps.push(pending.step.clone());
        let output = match pending.step.as_str() {
            "repair" => Some(json!({"green": greens.next().expect("two rounds")})),
            "improve-once" => Some(json!({
                "artifacts": [{"kind": "wr.loop_control", "decision": "stop"}],
            })),
            _ => None,
        };
        let inputs = AttemptInputs { output, ..AttemptInputs::default() };
        at = advance_guided_run(&definition, &at.position, &at.context, &inputs).expect("it goes on");
        assert_eq!(at.warnings, [], "after {}", pending.step);
    }
    let expected = ["read-file", "read-file", "guess", "guess", "guess", "repair", "repair", "improve-once"];
    assert_eq!(steps, expected);
}

/// Proves T9: the example files load.
#[test]
fn every_example_is_valid() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/workflows");
    let files = fs::read_dir(folder).expect("the examples");
    let paths = files.map(|file| file.expect("an example").path());
    let yaml = paths.filter(|path| path.extension().is_some_and(|kind| kind == "yaml"));
    let drafts: Vec<DefinitionDraft> =
        yaml.map(|path| draft(&fs::read_to_string(path).expect("an example"))).collect();
    assert!(!drafts.is_empty());
    for one in &drafts {
        assert_eq!(format_findings(link_among(&drafts, &one.id)), Vec::<String>::new(), "{}", one.id);
    }
}
