//! Which Tasks count as known.

use trackway_domain::{Artifact, ArtifactChunk, Message, MessageRole, Object, Part};

use super::*;
use crate::{ArtifactUpdate, StatusUpdate};

fn status(state: TaskState, at: i64, message: Option<&str>) -> TaskStatus {
    let message = message
        .map(|id| Message::new(MessageId::new(id).unwrap(), MessageRole::Agent, vec![Part::text("said")]));
    TaskStatus { state, message, timestamp: Some(Timestamp(at)) }
}

fn task(status: TaskStatus, artifacts: &[(&str, usize)]) -> Task {
    let artifact = |(id, parts): &(&str, usize)| {
        Artifact::new(ArtifactId::new(id).unwrap(), vec![Part::text("x"); *parts])
    };
    Task {
        id: "t".into(),
        context: None,
        status,
        artifacts: artifacts.iter().map(artifact).collect(),
        history: Vec::new(),
        metadata: Object::new(),
    }
}

fn artifact(id: &str, parts: usize, append: bool) -> TaskUpdate {
    let artifact = Artifact::new(ArtifactId::new(id).unwrap(), vec![Part::text("x"); parts]);
    let chunk = ArtifactChunk { artifact, append, last: false, joined: false };
    TaskUpdate::Artifact(ArtifactUpdate { task: "t".into(), context: None, chunk, metadata: Object::new() })
}

#[test]
fn a_task_is_known_by_its_status_and_the_parts_of_its_artifacts() {
    let working = |at| status(TaskState::Working, at, None);
    let mut seen = ReceivedTaskProgress::default();
    assert!(!seen.has_received_task_state(&task(working(1), &[])));
    seen.record_received_update(&TaskUpdate::Task(task(working(1), &[("a", 1)])));
    assert!(seen.has_received_task_state(&task(working(1), &[("a", 1)])));
    for other in [
        task(working(2), &[("a", 1)]),
        task(status(TaskState::Working, 1, Some("m")), &[("a", 1)]),
        task(status(TaskState::Completed, 1, None), &[("a", 1)]),
        task(working(1), &[("a", 2)]),
        task(working(1), &[("b", 1)]),
        task(working(1), &[("a", 1), ("b", 1)]),
        task(working(1), &[]),
    ] {
        assert!(!seen.has_received_task_state(&other), "{other:?}");
    }
    seen.record_received_update(&artifact("a", 2, true));
    seen.record_received_update(&artifact("b", 5, false));
    seen.record_received_update(&artifact("b", 1, false));
    let update = StatusUpdate {
        task: "t".into(),
        context: None,
        status: status(TaskState::Working, 3, Some("m")),
        metadata: Object::new(),
        last: false,
    };
    assert!(!seen.has_received_status(&update.status));
    seen.record_received_update(&TaskUpdate::Status(update));
    assert!(
        seen.has_received_task_state(&task(status(TaskState::Working, 3, Some("m")), &[("a", 3), ("b", 1)]))
    );
}

#[test]
fn the_account_is_bounded_and_then_claims_nothing() {
    let mut seen = ReceivedTaskProgress::default();
    seen.record_received_update(&TaskUpdate::Task(task(status(TaskState::Working, 1, None), &[])));
    for number in 0..=ARTIFACTS_MAX {
        seen.record_received_update(&artifact(&format!("a{number}"), 1, false));
    }
    assert_eq!(seen.artifacts.len(), ARTIFACTS_MAX);
    let names: Vec<String> = (0..ARTIFACTS_MAX).map(|number| format!("a{number}")).collect();
    let same: Vec<(&str, usize)> = names.iter().map(|name| (name.as_str(), 1)).collect();
    assert!(!seen.has_received_task_state(&task(status(TaskState::Working, 1, None), &same)));
}
