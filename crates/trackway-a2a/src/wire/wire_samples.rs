//! A run for the tests, and its events: the same for every dialect.

use std::sync::Arc;

use serde_json::{Value, json};
use trackway_a2a_wire::JsonDialect;
use trackway_domain::{
    AnswerRequest, Artifact, ArtifactChunk, ArtifactId, CallChain, Caller, Event, InterruptReason, Message,
    MessageId, MessageRole, Op, OpKind, Part, Question, RunSubmission, SessionId, StateName, Timestamp,
    WorkflowRef,
};
use trackway_engine::{RunView, VisibleUpdate, visible_update};

use super::WireStreamItem;
use crate::operations::{TaskEvent, TaskEventContent, TaskRef, TaskSnapshot};

pub(crate) const RUN: &str = "run_0199a0b1c2d37e4f8a9b0c1d2e3f4a5b";
pub(crate) const QUESTION: &str = "qst_0199a0b1c2d37e4f8a9b0c1d2e3f4a5c";

pub(crate) fn sample_message_id(text: &str) -> MessageId {
    MessageId::new(text).unwrap()
}

pub(crate) fn sample_message(id: &str, role: MessageRole, text: &str) -> Message {
    Message::new(self::sample_message_id(id), role, vec![Part::text(text)])
}

pub(crate) fn sample_op(kind: OpKind) -> Op {
    Op { kind, key: "k".into(), occurrence: 0 }
}

pub(crate) fn sample_status_event() -> Event {
    let message = sample_message("a-1", MessageRole::Agent, "looking");
    Event::Status { op: sample_op(OpKind::Status), state: StateName::Working, message }
}

pub(crate) fn sample_artifact_event() -> Event {
    let id = ArtifactId::new("form.json").unwrap();
    let artifact =
        Artifact { name: Some("Form".into()), ..Artifact::new(id, vec![Part::data(json!({"a": 1}))]) };
    Event::Artifact { op: sample_op(OpKind::Ask), chunk: ArtifactChunk::from(artifact) }
}

pub(crate) fn sample_question_event() -> Event {
    let question = Question {
        id: QUESTION.parse().unwrap(),
        reason: InterruptReason::InputRequired,
        prompt: vec![Part::text("How much?")],
        schema: json!({"type": "object"}),
        answer_type: None,
    };
    Event::Asked { op: sample_op(OpKind::Ask), question, message_id: sample_message_id("a-2") }
}

/// The request with this number at the question.
pub(crate) fn sample_resume_request(order: u32) -> AnswerRequest {
    let message = sample_message("m-2", MessageRole::User, "5");
    AnswerRequest { question: QUESTION.parse().unwrap(), message, order, concurrent: order > 1 }
}

pub(crate) fn sample_resumed_event(order: u32) -> Event {
    Event::Resumed {
        request: sample_resume_request(order),
        input: json!(5),
        awaited_by: None,
        replaces: false,
    }
}

/// The run after these events, one per second.
pub(crate) fn sample_snapshot(events: &[Event]) -> TaskSnapshot {
    let submission = RunSubmission {
        run: RUN.parse().unwrap(),
        session: SessionId::new("ctx").unwrap(),
        workflow: WorkflowRef { name: "invest".into(), version: "1".into() },
        caller: Caller::local_without_auth(),
        input: json!({}),
        message: Some(sample_message("m-1", MessageRole::User, "go")),
        parent: None,
        awaited: false,
        deadline: None,
        guided: false,
        exit: None,
        forked_from: None,
        call_chain: CallChain::default(),
        linked_session: None,
    };
    let mut view = RunView::from_submission(Arc::new(submission), Timestamp(0), 10);
    for (index, event) in events.iter().enumerate() {
        view.apply_event(event, Timestamp(1_000 * (index as i64 + 1)), 11 + index as u64);
    }
    TaskSnapshot::snapshot_from_view(view)
}

/// An item of a stream.
pub(crate) fn render_item(content: TaskEventContent, dialect: JsonDialect) -> Value {
    let place = TaskRef { run: RUN.parse().unwrap(), session: SessionId::new("ctx").unwrap() };
    serde_json::to_value(WireStreamItem::new(
        &TaskEvent::complete_task_event(1, content),
        &place,
        10,
        dialect,
    ))
    .unwrap()
}

/// The stream item of an event.
pub(crate) fn render_event(event: &Event, dialect: JsonDialect) -> Value {
    let seen = match visible_update(event).expect("a visible event") {
        VisibleUpdate::Status(status) => TaskEventContent::Status(Box::new(status), Timestamp(0)),
        VisibleUpdate::Artifact(chunk) => TaskEventContent::Artifact(chunk),
        VisibleUpdate::Submitted => unreachable!("shown as the Task"),
    };
    render_item(seen, dialect)
}
