//! The dispatch results that a model receives, of any size.

use serde_json::json;

use super::*;
use crate::content_pieces::{MESSAGE_BYTES_MAX, PART_BYTES_MAX};

fn run() -> RunId {
    "run_01890a5dac96774bbcceb302099a8057".parse().unwrap()
}

fn result_and_record(answer: ChildFirstAnswer) -> (Value, ToolCallRecord) {
    let told =
        WorkflowDispatchResult { run: run(), workflow: "echo", description: "Echoes.", answer: Some(answer) };
    let record = told.to_tool_call_record();
    let Some(ContentPiece::Text(text)) = record.pieces.first() else { panic!("{record:?}") };
    (serde_json::from_str(text).unwrap(), record)
}

fn answer(kind: ChildFirstAnswerKind, parts: Vec<Part>) -> ChildFirstAnswer {
    ChildFirstAnswer { kind, parts, schema: None, reason: None }
}

/// A child may return more than a model can read; the result still keeps its form. Proves D3.
#[test]
fn a_long_answer_is_cut_and_stays_json() {
    let long = "x".repeat(5 * 1024 * 1024);
    let (result, record) = result_and_record(answer(ChildFirstAnswerKind::Answered, vec![Part::text(&long)]));
    assert_eq!(result["outcome"], "answered");
    assert_eq!(result["taskId"], run().to_string());
    let text = result["result"][0]["text"].as_str().unwrap();
    assert!(text.ends_with(" bytes are shown)") && text.len() < PART_BYTES_MAX + 100);
    assert!(record.to_value().unwrap().to_string().len() < MESSAGE_BYTES_MAX);

    let reason = Some(long.clone());
    let (result, record) =
        result_and_record(ChildFirstAnswer { reason, ..answer(ChildFirstAnswerKind::Failed, Vec::new()) });
    assert!(result["message"].as_str().unwrap().ends_with(" bytes are shown)"));
    assert!(record.to_value().unwrap().to_string().len() < MESSAGE_BYTES_MAX);

    let schema = Some(json!({"type": "object", "description": long}));
    let (result, _) = result_and_record(ChildFirstAnswer {
        schema,
        ..answer(ChildFirstAnswerKind::InputRequired, Vec::new())
    });
    assert!(result.get("schema").is_none());
    assert!(result["schemaLeftOut"].as_str().unwrap().ends_with(" bytes"));
}

/// A child's data may be as deep as records allow; the result adds some levels around it.
#[test]
fn deep_data_is_shown_as_text() {
    let nested = |levels: usize| (1..levels).fold(json!(1), |inner, _| json!([inner]));
    let shallow = answer(ChildFirstAnswerKind::Answered, vec![Part::data(nested(90))]);
    let (result, record) = result_and_record(shallow);
    assert_eq!(call_record_to_parts(&record), [Part::data(result)]);
    let deep = answer(ChildFirstAnswerKind::Answered, vec![Part::data(nested(100))]);
    let ContentPiece::Text(text) = result_and_record(deep).1.pieces.remove(0) else { panic!("it is text") };
    assert_eq!(
        call_record_to_parts(&ToolCallRecord::new(vec![ContentPiece::Text(text.clone())])),
        [Part::text(text)]
    );
}
