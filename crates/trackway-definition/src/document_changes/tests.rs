//! Tests of what an answer adds to documents.

use serde_json::json;

use super::*;
use crate::model::OutputContract;

fn rule(name: &str, kind: DocumentKind, from: &str, key: Option<&str>) -> OutputDocumentRule {
    OutputDocumentRule { name: name.to_owned(), kind, from: from.to_owned(), key: key.map(str::to_owned) }
}

/// Proves T12: declared parts of an output go into the documents that the contract names.
#[test]
fn outputs_go_into_their_documents() {
    let prompt = PromptStep {
        output: Some(OutputContract {
            form: OutputContractForm::WholeOutput { schema: json!({}), example: json!({}) },
            required: true,
            documents: vec![
                rule("summary", DocumentKind::Header, "/summary", None),
                rule("log", DocumentKind::Log, "/events", None),
                rule("files", DocumentKind::Table, "/files", Some("/path")),
                rule("one", DocumentKind::Log, "/summary/title", None),
                rule("absent", DocumentKind::Log, "/nothing", None),
                rule("all", DocumentKind::Header, "", None),
            ],
        }),
        ..PromptStep::default()
    };
    let output = json!({"summary": {"title": "T"}, "events": [1, 2], "files": [{"path": "a"}]});
    let inputs = AttemptInputs {
        output: Some(output.clone()),
        notes: Some("N".to_owned()),
        ..AttemptInputs::default()
    };
    let found: Vec<_> = document_changes(&prompt, "review", &inputs)
        .into_iter()
        .map(|change| (change.name, change.kind, change.key, change.value))
        .collect();
    let change =
        |name: &str, kind, key: Option<&str>, value| (name.to_owned(), kind, key.map(str::to_owned), value);
    assert_eq!(
        found,
        [
            change("summary", DocumentKind::Header, None, json!({"title": "T"})),
            change("log", DocumentKind::Log, None, json!(1)),
            change("log", DocumentKind::Log, None, json!(2)),
            change("files", DocumentKind::Table, Some("/path"), json!({"path": "a"})),
            change("one", DocumentKind::Log, None, json!("T")),
            change("all", DocumentKind::Header, None, output),
            change("review", DocumentKind::Notes, None, json!("N")),
        ]
    );
}

/// Proves T12: required artifacts are kept by their kind; others are ignored.
#[test]
fn artifacts_go_into_a_log_of_their_kind() {
    let contract = OutputContract {
        form: OutputContractForm::Artifact {
            kind: "wr.loop_control".to_owned(),
            schema: json!({}),
            example: json!({}),
        },
        required: true,
        documents: vec![],
    };
    let prompt = PromptStep { output: Some(contract), ..PromptStep::default() };
    let artifact = json!({"kind": "wr.loop_control", "decision": "stop"});
    let inputs = AttemptInputs {
        output: Some(json!({"artifacts": [artifact, {"kind": "other"}, 3]})),
        ..AttemptInputs::default()
    };
    let found = document_changes(&prompt, "s", &inputs);
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].name.as_str(), &found[0].value), ("wr.loop_control", &artifact));
    assert!(document_changes(&PromptStep::default(), "s", &inputs).is_empty());
    assert!(document_changes(&prompt, "s", &AttemptInputs::default()).is_empty());
}
