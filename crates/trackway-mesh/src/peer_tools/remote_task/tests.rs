//! What is kept of a remote task.

use trackway_a2a_client::{ArtifactId, ArtifactUpdate, MessageId, MessageRole, StatusUpdate, Task};
use trackway_domain::{ArtifactChunk, Object};

use super::*;

fn agent_message(id: &str, text: &str) -> Message {
    Message::new(MessageId::new(id).unwrap(), MessageRole::Agent, vec![Part::text(text)])
}

fn status(state: TaskState, message: Option<Message>) -> TaskUpdate {
    let status = TaskStatus { state, message, timestamp: None };
    TaskUpdate::Status(StatusUpdate {
        task: "t".to_owned(),
        context: None,
        status,
        metadata: Object::new(),
        last: false,
    })
}

fn chunk(id: &str, text: &str, append: bool) -> TaskUpdate {
    let artifact = Artifact::new(ArtifactId::new(id).unwrap(), vec![Part::text(text)]);
    let chunk = ArtifactChunk { artifact, append, last: false, joined: false };
    TaskUpdate::Artifact(ArtifactUpdate {
        task: "t".to_owned(),
        context: None,
        chunk,
        metadata: Object::new(),
    })
}

fn contents(task: &RemoteTask) -> Vec<String> {
    task.result_artifacts()
        .map(|artifact| format!("{}={}", artifact.id, parts_text(&artifact.parts)))
        .collect()
}

/// Chunks are joined, a whole emission replaces, and a snapshot replaces everything. What shows only how an
/// agent works is left out.
#[test]
fn artifacts_are_collected() {
    let mut task = RemoteTask::default();
    for update in
        [chunk("a.txt", "one", false), chunk("a.txt", " two", true), chunk("tool-call-1", "x", false)]
    {
        assert_eq!(task.apply_update(&update), None);
    }
    assert_eq!(contents(&task), ["a.txt=one two"]);
    task.apply_update(&chunk("a.txt", "new", false));
    task.apply_update(&chunk("text-response", "Done.", false));
    assert_eq!(contents(&task), ["a.txt=new"]);
    assert_eq!(task.last_message_text(), "Done.", "the answer of an agent is what it said");
    task.apply_update(&TaskUpdate::Task(Task {
        id: "t".to_owned(),
        context: None,
        status: TaskStatus {
            state: TaskState::Completed,
            message: Some(agent_message("m", "Ready.")),
            timestamp: None,
        },
        artifacts: Vec::new(),
        history: Vec::new(),
        metadata: Object::new(),
    }));
    assert!(contents(&task).is_empty());
    assert_eq!(task.last_message_text(), "Ready.");
}

/// A peer with too many or too large artifacts cannot fill this process.
#[test]
fn artifacts_are_bounded() {
    let mut task = RemoteTask::default();
    for number in 0..=ARTIFACTS_MAX {
        task.apply_update(&chunk(&format!("a{number}"), "x", false));
    }
    assert_eq!(task.result_artifacts().count(), ARTIFACTS_MAX);
    assert!(task.is_truncated);
    let mut task = RemoteTask::default();
    let half = "x".repeat(ARTIFACT_BYTES_MAX / 2);
    for _ in 0..3 {
        task.apply_update(&chunk("a", &half, false));
    }
    assert!(!task.is_truncated, "a replaced content does not count");
    for _ in 0..3 {
        task.apply_update(&chunk("a", &half, true));
    }
    assert!(task.is_truncated);
    assert_eq!(content_bytes(&task.result_artifacts().next().unwrap().parts), ARTIFACT_BYTES_MAX / 2 * 2);
}

/// Progress is shown once, and bounded by its number.
#[test]
fn progress_is_throttled_by_count() {
    let mut task = RemoteTask::default();
    let mut show =
        |state, id: &str| task.apply_update(&status(state, Some(agent_message(id, "x")))).is_some();
    assert!(show(TaskState::Working, "m1"));
    assert!(!show(TaskState::Working, "m1"), "a repeated message");
    assert!(!show(TaskState::InputRequired, "m2"), "a question is asked, not shown");
    assert!(!show(TaskState::Completed, "m3"), "the end is the result");
    let shown = (0..100_000).filter(|number| show(TaskState::Working, &format!("n{number}"))).count();
    assert!(shown < 300, "{shown}");
}
