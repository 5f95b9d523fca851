//! Only recorded answers are replayed.

use std::{collections::BTreeSet, fs, path::Path, sync::Arc};

use futures_util::{StreamExt as _, TryStreamExt as _};

use super::{RecordingError, RecordingModelProvider, ReplayModelProvider};
use crate::{
    conversation::ModelRequest,
    provider::{Delta, ModelError, ModelProvider, scripted_model::ScriptedModel},
    samples::user,
};

fn request(text: &str) -> ModelRequest {
    let system = "A prompt that stays here.".to_owned();
    ModelRequest { system, entries: vec![user(text)], ..ModelRequest::default() }
}

async fn ask(model: &dyn ModelProvider, text: &str) -> Result<Vec<Delta>, ModelError> {
    model.stream_answer(&request(text)).try_collect().await
}

fn recorder(script: &str, file: &Path) -> RecordingModelProvider {
    RecordingModelProvider::new(
        Arc::new(ScriptedModel::parse_script("demo", script).expect("a script")),
        file,
    )
}

#[tokio::test]
async fn a_recording_answers_as_the_model_did() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("demo.jsonl");
    let script = r"
        answers:
          - user: hello
            reasoning: Hm.
            text: Hello there.
            calls: [{ tool: look, arguments: { at: sky } }]
            usage: { input_tokens: 3, output_tokens: 4 }
          - { user: again, text: One. }
          - { user: again, text: Two. }
    ";
    let model = recorder(script, &file);
    assert_eq!(model.model_label(), "scripted/demo");
    let hello = ask(&model, "hello").await.expect("an answer");
    let one = ask(&model, "again").await.expect("an answer");
    let two = ask(&model, "again").await.expect("an answer");

    let replay = ReplayModelProvider::open_recording(&file).expect("a recording");
    assert_eq!(replay.model_label(), "replay/demo");
    for _ in 0..2 {
        assert_eq!(ask(&replay, "hello").await.as_ref(), Ok(&hello));
    }
    assert_eq!(ask(&replay, "again").await, Ok(one));
    assert_eq!(ask(&replay, "again").await.as_ref(), Ok(&two));
    assert_eq!(ask(&replay, "again").await, Ok(two));
    let other = ask(&replay, "something else").await;
    assert!(matches!(other, Err(ModelError::Unscripted { .. })), "{other:?}");

    let text = fs::read_to_string(&file).expect("a file");
    assert_eq!(text.lines().count(), 3);
    assert!(!text.contains("A prompt that stays here."), "requests are not written");
}

/// Answers that broke off, or that the caller did not read to their end, are not in the recording.
#[tokio::test]
async fn only_whole_answers_are_recorded() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("demo.jsonl");
    let model = recorder("answers: [{ fault: cut, text: Half }, { text: Unheard. }]", &file);
    assert_eq!(ask(&model, "hello").await, Err(ModelError::Truncated));
    let mut stream = model.stream_answer(&request("hello"));
    assert!(stream.next().await.is_some());
    drop(stream);
    assert!(!file.exists());
}

/// An answer that cannot be written is not reported as recorded.
#[tokio::test]
async fn a_recording_that_cannot_be_written_fails() {
    let folder = tempfile::tempdir().expect("a folder");
    let model = recorder("answers: [{ text: Hello. }]", &folder.path().join("none/demo.jsonl"));
    let error = ask(&model, "hello").await.expect_err("there is no such folder");
    assert!(error.to_string().contains("cannot be written"), "{error}");
    assert!(!error.is_retryable());
}

#[test]
fn a_bad_recording_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("demo.jsonl");
    let missing = ReplayModelProvider::open_recording(&file);
    assert!(matches!(missing, Err(RecordingError::File { .. })), "{missing:?}");
    let line = r#"{"digest":"a","label":"b","deltas":["done"]}"#;
    fs::write(&file, format!("{line}\n{{torn\n")).expect("written");
    let bad = ReplayModelProvider::open_recording(&file);
    assert!(matches!(bad, Err(RecordingError::Line { number: 2, .. })), "{bad:?}");
    fs::write(&file, format!("{line}\n{{\"digest\":\"a")).expect("written");
    ReplayModelProvider::open_recording(&file).expect("the torn end is passed over");
}

/// Proves X4: a recording of format 1, which somebody keeps, answers the same request and keeps its form.
#[tokio::test]
async fn a_recording_of_format_1_is_readable_and_unchanged() {
    const FORMAT_1: &str = include_str!("format-1.jsonl");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("demo.jsonl");
    fs::write(&file, FORMAT_1).expect("a file");
    let replay = ReplayModelProvider::open_recording(&file).expect("a recording");
    let deltas = ask(&replay, "hello").await.expect("it answers");
    let recorded: super::RecordedAnswerLine = serde_json::from_str(FORMAT_1).expect("a line");
    assert_eq!(deltas, recorded.deltas);
    assert_eq!(serde_json::to_string(&recorded).expect("JSON"), FORMAT_1.trim_end());
    // A new kind of piece does not compile here: add it to the golden file too.
    let stored_name = |delta: &Delta| match delta {
        Delta::Start { .. } => "start",
        Delta::Text(_) => "text",
        Delta::Reasoning(_) => "reasoning",
        Delta::Call { .. } => "call",
        Delta::Arguments { .. } => "arguments",
        Delta::Echo { .. } => "echo",
        Delta::End(_) => "end",
        Delta::Usage(_) => "usage",
        Delta::Done => "done",
    };
    let names: BTreeSet<_> = deltas.iter().map(stored_name).collect();
    assert_eq!(names.len(), 9, "{names:?}");
}
