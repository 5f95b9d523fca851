//! Tables of events and the entries that follow from them.

use serde_json::json;
use trackway_domain::{
    AnswerRequest, ArtifactId, LateAnswer, MessageId, Op, QuestionId, RunId, RunSubmission, WorkflowRef,
};
use uuid::Uuid;

use super::*;

fn op() -> Op {
    "yield:out#0".parse().unwrap_or_else(|_| "step:out#0".parse().unwrap())
}

fn yielded(chunk: impl Into<ArtifactChunk>) -> Event {
    Event::Artifact { op: op(), chunk: chunk.into() }
}

fn file(name: Option<&str>, mime_type: Option<&str>, base64: &str) -> Part {
    Part::file(File {
        name: name.map(str::to_owned),
        mime_type: mime_type.map(str::to_owned),
        source: FileSource::Base64(base64.to_owned()),
    })
}

fn message(role: MessageRole, parts: Vec<Part>) -> Message {
    Message::new(MessageId::new("m").unwrap(), role, parts)
}

fn request(message: Message) -> AnswerRequest {
    AnswerRequest { question: QuestionId::new(Uuid::from_u128(1)), message, order: 1, concurrent: false }
}

fn submitted(message: Option<Message>) -> Event {
    let workflow = WorkflowRef { name: "w".to_owned(), version: "1".to_owned() };
    let (run, session) = (RunId::new(Uuid::from_u128(1)), SessionId::new("s").unwrap());
    let submission = RunSubmission::new(run, session, workflow, Caller::new("t", "u"), json!({}));
    Event::Submitted(Box::new(RunSubmission { message, ..submission }))
}

/// Each entry as one line: number of the event, name, type, size, source.
fn check(events: &[Event], expected: &[&str]) {
    let (owner, session) = (Caller::new("t", "u"), SessionId::new("s").unwrap());
    let entries = artifact_index_entries(&owner, &session, 10, events);
    let lines: Vec<String> = entries
        .iter()
        .map(|entry| {
            assert_eq!((&entry.owner, &entry.session), (&owner, &session));
            let source = match &entry.source {
                ArtifactEntrySource::Yielded { artifact, grows: false } => format!("new {artifact}"),
                ArtifactEntrySource::Yielded { artifact, grows: true } => format!("more {artifact}"),
                ArtifactEntrySource::Attachment { part } => format!("part {part}"),
            };
            format!("{} {} {} {} {source}", entry.seq, entry.filename, entry.media_type, entry.size_bytes)
        })
        .collect();
    assert_eq!(lines, expected);
}

/// Proves I10 and X1: each whole emission is a version, and pieces extend it. What is only the conversation is
/// not indexed.
#[test]
fn yields_become_entries() {
    let text = |id: &str, text: &str| Artifact::text(id, text).unwrap();
    check(
        &[
            Event::Started,
            yielded(text("note", "h\u{e9}")),
            yielded(Artifact::data("a/b", json!({"n": 1})).unwrap()),
            yielded(Artifact::data("x", json!([])).unwrap().named("Report.md")),
            yielded(text("log", "one").named("log.csv").begin()),
            yielded(text("log", "two").extend()),
            yielded(Artifact::data("rows", json!(1)).unwrap().begin()),
            yielded(Artifact::data("rows", json!(2)).unwrap().finish()),
            yielded(text("text-response", "hello")),
            yielded(text("tool-call-echo.2", "x")),
            yielded(text("tool-result-echo", "x")),
            yielded(text("reasoning", "x")),
            yielded(text("text-responses", "kept")),
        ],
        &[
            "12 note text/plain 3 new note",
            "13 a_b application/json 7 new a/b",
            "14 Report.md application/json 2 new x",
            "15 log.csv text/csv 3 new log",
            "16 log text/plain 3 more log",
            "17 rows application/json 1 new rows",
            "18 rows application/json 2 more rows",
            "23 text-responses text/plain 4 new text-responses",
        ],
    );
}

/// Several parts in one artifact, and files.
#[test]
fn parts_decide_type_and_size() {
    let artifact = |id: &str, parts| yielded(Artifact::new(ArtifactId::new(id).unwrap(), parts));
    check(
        &[
            artifact("lines", vec![Part::data(json!({"a": 1})), Part::data(json!([2]))]),
            artifact("texts", vec![Part::text("ab"), Part::text("c")]),
            artifact("mixed", vec![Part::text("ab"), Part::data(json!(1))]),
            artifact("pic.png", vec![file(None, None, "AAAA")]),
            artifact("pic", vec![file(Some("x.gif"), Some("image/webp"), "AAA=")]),
            artifact("empty", vec![]),
        ],
        &[
            // A line break is between the two.
            "11 lines application/x-ndjson 11 new lines",
            "12 texts text/plain 3 new texts",
            "13 mixed application/octet-stream 4 new mixed",
            "14 pic.png image/png 3 new pic.png",
            "15 pic image/webp 2 new pic",
            "16 empty text/plain 0 new empty",
        ],
    );
}

/// The source's second scenario: a file in any message of a user becomes an artifact of the session.
#[test]
fn files_of_users_become_entries() {
    let csv = || file(Some("data.csv"), Some("text/csv"), "YSxiCjEsMgo=");
    let from = |role, part| message(role, vec![Part::text("see"), part]);
    let user = |part| from(MessageRole::User, part);
    let uri =
        File { name: None, mime_type: None, source: FileSource::Uri("https://example.org/a".to_owned()) };
    let late = LateAnswer { request: request(user(csv())), problems: Vec::new() };
    check(
        &[
            submitted(Some(user(csv()))),
            submitted(None),
            Event::Resumed {
                request: request(user(file(Some("../x.PNG"), None, "AA=="))),
                input: json!(null),
                awaited_by: None,
                replaces: false,
            },
            Event::LateAnswer(late),
            Event::Noted { message: user(file(None, Some("image/jpeg; q=1"), "")) },
            Event::Noted { message: user(file(Some("  "), None, "AAA=")) },
            Event::Noted { message: user(Part::file(uri)) },
            Event::Noted { message: from(MessageRole::Agent, csv()) },
        ],
        &[
            "11 data.csv text/csv 8 part 1",
            "13 .._x.PNG image/png 1 part 1",
            "14 data.csv text/csv 8 part 1",
            "15 attachment-2.jpg image/jpeg; q=1 0 part 1",
            "16 attachment-2.bin application/octet-stream 2 part 1",
        ],
    );
}

#[test]
fn types_are_recognised_by_name_or_content() {
    let table: [(&str, &[u8], &str); 9] = [
        ("a.csv", b"{}", "text/csv"),
        ("a.YML", b"", "application/yaml"),
        ("a", b" {\"a\": 1}\n", "application/json"),
        ("a", b"[1, 2", "text/plain"),
        ("a", b"17", "text/plain"),
        ("a.unknown", b"\x89PNG\r\n\x1a\n123", "image/png"),
        ("a", b"%PDF-1.7", "application/pdf"),
        ("a", b"a\0b", "application/octet-stream"),
        ("a", b"\xff\xfe", "application/octet-stream"),
    ];
    for (name, bytes, expected) in table {
        let filename = ArtifactFilename::new(name).unwrap();
        assert_eq!(media_type_from_content(&filename, bytes), expected, "{name} {bytes:?}");
    }
}

/// A title is not a filename where the id is one.
#[test]
fn a_yielded_artifact_is_found_by_the_name_of_a_file() {
    for (id, name, expected) in [
        ("risk.json", None, "risk.json"),
        ("risk.json", Some("Risk analysis"), "risk.json"),
        ("a1", Some("Risk analysis"), "Risk analysis"),
        ("risk.json", Some("risk-2.json"), "risk-2.json"),
        ("a1", None, "a1"),
    ] {
        let filename = yielded_filename(&ArtifactId::new(id).unwrap(), name);
        assert_eq!(filename.as_str(), expected, "{id} {name:?}");
    }
}
