//! Files with faults, and their findings.

use serde_json::{Value, json};

use super::{findings_of_steps, format_findings, link_alone, rows, with_steps};
use crate::{FileFormat, parse_definition_draft};

/// Proves T9: every fault of a file is named at once, with its line.
#[test]
fn all_findings_have_lines() {
    let text = "{\n  \"id\": \"Upper\",\n  \"nmae\": \"x\",\n  \"description\": 3,\n  \"steps\": [\n    {\n      \"id\": \"a b\"\n    },\n    7\n  ]\n}";
    let unreadable = parse_definition_draft(text, FileFormat::Json).expect_err("faults");
    assert_eq!(unreadable.id.as_deref(), Some("Upper"));
    let lines: Vec<(Option<u32>, &str)> =
        unreadable.findings.iter().map(|fault| (fault.line, fault.path.as_str())).collect();
    assert_eq!(
        lines,
        [
            (Some(2), "/id"),
            (Some(1), ""),
            (Some(4), "/description"),
            (Some(7), "/steps/0/id"),
            (Some(9), "/steps/1"),
            (Some(3), "/nmae"),
        ]
    );
}

/// Proves T9: a finding says what was expected, what was found, and what the author probably meant.
#[test]
fn faults_of_steps() {
    for (more, expected) in rows(include_str!("faults_of_steps.txt")) {
        let steps = match serde_json::from_str(more).expect("JSON") {
            Value::Object(more) if !more.is_empty() => {
                let mut step = json!({ "id": "one", "title": "One" });
                step.as_object_mut().expect("an object").extend(more);
                json!([step])
            }
            steps => steps,
        };
        assert_eq!(findings_of_steps(&steps), [expected], "{steps}");
    }
}

/// Proves T9 and T13: a strict file contains nothing that is ignored.
#[test]
fn faults_of_strict_files() {
    for (step, expected) in rows(include_str!("faults_of_strict_files.txt")) {
        let text =
            format!("id: mine\nname: n\ndescription: d\nversion: '1'\nsteps:\n  - {{ id: one, {step} }}\n");
        let faults = format_findings(link_alone(&text, FileFormat::Yaml));
        assert!(faults.len() == 1 && faults[0].starts_with(expected), "{step}: {faults:#?}");
    }
}

/// Proves T9: expressions and templates of a strict file are checked when the file is read.
#[test]
fn expressions_and_templates_are_read_early() {
    for step in [
        "prompt: '{{ a', ",
        "prompt: x, runCondition: 'a +', ",
        "prompt: x, set: { a: '(' }, ",
        "tool: { name: t, args: { a: '=)' } }, ",
    ] {
        let text =
            format!("id: mine\nname: n\ndescription: d\nversion: '1'\nsteps:\n  - {{ {step} id: one }}\n");
        assert_eq!(format_findings(link_alone(&text, FileFormat::Yaml)).len(), 1, "{step}");
    }
}

/// Proves T9: a file names the version of our format that it uses.
#[test]
fn another_version_of_the_format_is_refused() {
    let mut text: Value =
        serde_json::from_str(&with_steps(&json!([{ "id": "a", "prompt": "x" }]))).expect("JSON");
    text["trackway"] = json!(1);
    assert!(link_alone(&text.to_string(), FileFormat::Json).is_ok());
    text["trackway"] = json!(2);
    assert_eq!(
        format_findings(link_alone(&text.to_string(), FileFormat::Json)),
        ["/trackway: this program reads version 1 of the format"]
    );
}
