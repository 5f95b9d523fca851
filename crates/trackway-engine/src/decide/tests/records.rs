//! Every event, written as JSON and read back, is the same event.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Value, json};
use trackway_domain::{
    AnswerRequest, Artifact, ArtifactId, CallChain, Caller, ChildFirstAnswer, ChildOutcome, Event, Failure,
    File, FileSource, InterruptReason, LateAnswer, Message, MessageId, MessageRole, Object, Op, Part,
    Question, QuestionId, ReplayMismatch, RunId, RunSubmission, SessionId, StateName, StepOutcome, StepRetry,
    Timestamp, ValidationError, WaitingRun, WorkflowRef,
};
use uuid::Uuid;

use super::properties::seeded_config;

/// An event of every kind, with `value` and `text` in every field that a program or a caller fills.
fn events(value: &Value, text: &str) -> Vec<Event> {
    let op: Op = format!("step:{text}#3").parse().unwrap();
    let run = RunId::new(Uuid::from_u128(1));
    let question = question(value, text);
    let message_id = MessageId::new("m").unwrap();
    let message = message(value, text);
    let request =
        AnswerRequest { question: question.id, message: message.clone(), order: 2, concurrent: true };
    let problems = vec![problem(value, text)];
    let failure = Failure::new(text);
    let due = Timestamp::from_millis(5);
    let state = StateName::Working;
    let input = value.clone();
    let mut artifact = Artifact::new(ArtifactId::new("a").unwrap(), parts(value, text));
    artifact.name = Some(text.into());
    artifact.metadata = object(value);
    vec![
        Event::Submitted(Box::new(submission(value, text))),
        Event::Started,
        Event::Status { op: op.clone(), state, message: message.clone() },
        Event::Artifact { op: op.clone(), chunk: artifact.into() },
        Event::Asked { op: op.clone(), question: question.clone(), message_id: message_id.clone() },
        Event::Refused {
            request: request.clone(),
            problems: problems.clone(),
            question,
            message_id: message_id.clone(),
        },
        Event::Resumed {
            request: request.clone(),
            input: input.clone(),
            awaited_by: Some(run),
            replaces: true,
        },
        Event::LateAnswer(LateAnswer { request, problems }),
        Event::Noted { message: message.clone() },
        Event::Withdrawn { question: QuestionId::new(Uuid::from_u128(2)) },
        Event::StepDone { op: op.clone(), outcome: StepOutcome::Ok(value.clone()) },
        Event::StepDone { op: op.clone(), outcome: StepOutcome::Err(failure.clone()) },
        Event::StepAttemptFailed(StepRetry {
            op: op.clone(),
            attempt: 1,
            since: due,
            failure: failure.clone(),
            due,
        }),
        Event::StepNoted { op: op.clone(), note: value.clone() },
        Event::ValueRecorded { op: op.clone(), value: value.clone() },
        Event::Slept { op: op.clone(), due },
        Event::Woke { op: op.clone() },
        Event::Answered { op: op.clone(), parts: message.parts.clone() },
        Event::RunAnswered {
            run,
            reply_to: Some(message.id.clone()),
            answer: ChildFirstAnswer::answered_with_parts(message.parts.clone()),
        },
        Event::ChildStarted {
            op: op.clone(),
            child: run,
            workflow: workflow(text),
            input: input.clone(),
            state,
            message: None,
            awaited: true,
        },
        Event::ChildStarted {
            op,
            child: run,
            workflow: workflow(text),
            input,
            state,
            message: Some(message),
            awaited: false,
        },
        Event::ChildEnded { child: run, outcome: outcome(value, text) },
        Event::Parked {
            evidence: ReplayMismatch { message: text.into(), asked: Some(text.into()), recorded: None },
            state,
            message_id: message_id.clone(),
        },
        Event::Unparked,
        Event::Completed { output: value.clone(), message_id: Some(message_id.clone()) },
        Event::ChildWaits {
            waiting: WaitingRun { run, workflow: text.into(), state, text: text.into() },
            report_seq: 7,
            state,
            message_id: message_id.clone(),
        },
        Event::ChildResumed { run, report_seq: 8 },
        Event::Imported,
        Event::Adopted,
        Event::Failed { failure, message_id: message_id.clone() },
        Event::Canceled,
        Event::Rejected { reason: text.into(), message_id },
    ]
}

fn submission(value: &Value, text: &str) -> RunSubmission {
    RunSubmission {
        run: RunId::new(Uuid::from_u128(1)),
        session: SessionId::new("s").unwrap(),
        workflow: workflow(text),
        caller: Caller::new(text, text),
        input: value.clone(),
        message: Some(message(value, text)),
        parent: Some(RunId::new(Uuid::from_u128(9))),
        deadline: Some(Timestamp::from_millis(7)),
        guided: false,
        exit: None,
        forked_from: None,
        awaited: false,
        call_chain: CallChain { depth: 2, ancestors: vec![text.into()] },
        linked_session: Some(SessionId::new("l").unwrap()),
    }
}

fn workflow(text: &str) -> WorkflowRef {
    WorkflowRef { name: text.into(), version: text.into() }
}

fn question(value: &Value, text: &str) -> Question {
    Question {
        id: QuestionId::new(Uuid::from_u128(2)),
        reason: InterruptReason::AuthRequired,
        prompt: parts(value, text),
        schema: value.clone(),
        answer_type: Some(text.into()),
    }
}

fn outcome(value: &Value, text: &str) -> ChildOutcome {
    ChildOutcome { state: StateName::Failed, output: value.clone(), message: Some(text.into()) }
}

fn problem(value: &Value, text: &str) -> ValidationError {
    ValidationError {
        path: text.into(),
        code: "type".into(),
        message: text.into(),
        expected: value.clone(),
        got: Some(value.clone()),
        hint: Some(text.into()),
    }
}

fn message(value: &Value, text: &str) -> Message {
    let id = MessageId::new("user").unwrap();
    let mut message = Message::new(id, MessageRole::User, parts(value, text));
    message.metadata = object(value);
    message.references = vec![text.into()];
    message.extensions = vec![text.into()];
    message
}

fn parts(value: &Value, text: &str) -> Vec<Part> {
    let file = |source| Part::file(File { name: Some(text.into()), mime_type: None, source });
    vec![
        Part::text(text).with_metadata(text, value.clone()),
        Part::data(value.clone()),
        file(FileSource::Base64(text.into())),
        file(FileSource::Uri(text.into())),
    ]
}

fn object(value: &Value) -> Object {
    Object::from_iter([("key".to_owned(), value.clone())])
}

fn round_trip(event: &Event) {
    let stored = serde_json::to_string(event).unwrap();
    let read: Event = serde_json::from_str(&stored).unwrap();
    assert_eq!(&read, event, "{stored}");
}

/// Values of every type, some levels deep.
fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(any::<String>(), inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// Proves L13, X2: every kind, with the values that formats tend to lose.
#[test]
fn every_kind_of_event_is_read_as_it_was_written() {
    let hard = [json!(null), json!([]), json!({}), json!(31.245_270_191_439_438), json!(u64::MAX)];
    let mut kinds = BTreeSet::new();
    for value in hard {
        for event in events(&value, "a:b#c \"ü\" \n \u{0}") {
            kinds.insert(event.event_name());
            round_trip(&event);
        }
    }
    assert_eq!(kinds.len(), 30, "all kinds: {kinds:?}");
}

proptest! {
    #![proptest_config(seeded_config())]

    /// Proves X2: whatever a program or a caller puts into an event.
    #[test]
    fn any_value_is_read_as_it_was_written(value in values(), text in any::<String>()) {
        for event in events(&value, &text) {
            round_trip(&event);
        }
    }
}

/// Proves X2: records from before first answers existed are read with their old meaning.
#[test]
fn records_from_before_first_answers_are_read() {
    let mut events = events(&json!(1), "old");
    let mut changed = 0;
    for event in &mut events {
        let mut stored = serde_json::to_value(&*event).unwrap();
        let inside = stored.as_object_mut().and_then(|event| event.values_mut().next());
        let Some(inside) = inside.and_then(Value::as_object_mut) else { continue };
        let mut without = false;
        for field in ["awaited", "awaited-by", "awaited_by"] {
            without |= inside.remove(field).is_some();
        }
        if let Some(chunk) = inside.get_mut("chunk").and_then(Value::as_object_mut) {
            without |= chunk.remove("joined").is_some();
        }
        changed += usize::from(without);
        let read: Event = serde_json::from_value(stored).unwrap();
        match event {
            Event::Resumed { awaited_by, .. } => *awaited_by = None,
            Event::ChildStarted { awaited, .. } => *awaited = false,
            _ => {}
        }
        assert_eq!(read, *event);
    }
    assert!(changed > 0, "there are such fields");
}
