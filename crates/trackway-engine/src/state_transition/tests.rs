//! The table, pair by pair.

use serde_json::json;
use trackway_domain::{
    AnswerRequest, Failure, InterruptReason, Message, MessageId, MessageRole, Op, OpKind, Question,
    QuestionId,
};
use uuid::Uuid;

use super::*;

fn question(reason: InterruptReason) -> Question {
    Question {
        id: QuestionId::new(Uuid::from_u128(1)),
        reason,
        prompt: vec![],
        schema: json!({}),
        answer_type: None,
    }
}

fn states() -> Vec<State> {
    vec![
        State::Submitted,
        State::Working,
        State::interrupted_by_question(question(InterruptReason::InputRequired)),
        State::interrupted_by_question(question(InterruptReason::AuthRequired)),
        State::Completed { output: json!(1) },
        State::Failed { failure: Failure::new("f") },
        State::Canceled,
        State::Rejected { reason: "r".into() },
        State::Unknown,
    ]
}

/// Every event that moves a run, with the state it moves to.
fn moving() -> Vec<(Event, StateName)> {
    let message_id = MessageId::new("m").unwrap();
    let op = Op { kind: OpKind::Ask, key: "".into(), occurrence: 0 };
    let message = Message::new(message_id.clone(), MessageRole::User, vec![]);
    let asked =
        |reason| Event::Asked { op: op.clone(), question: question(reason), message_id: message_id.clone() };
    let request = AnswerRequest {
        question: question(InterruptReason::InputRequired).id,
        message,
        order: 1,
        concurrent: false,
    };
    vec![
        (Event::Started, Working),
        (asked(InterruptReason::InputRequired), InputRequired),
        (asked(InterruptReason::AuthRequired), AuthRequired),
        (
            Event::Resumed { request: request.clone(), input: json!({}), awaited_by: None, replaces: false },
            Working,
        ),
        (Event::Withdrawn { question: request.question }, Working),
        (Event::Completed { output: json!(1), message_id: None }, Completed),
        (Event::Failed { failure: Failure::new("f"), message_id: message_id.clone() }, Failed),
        (Event::Canceled, Canceled),
        (Event::Rejected { reason: "r".into(), message_id }, Rejected),
    ]
}

/// The table of the specification, repeated by hand.
const EXPECTED: &str = "\
submitted -> working failed canceled rejected
working -> input-required auth-required completed failed canceled rejected
input-required -> working canceled rejected
auth-required -> working canceled rejected
completed ->
failed ->
canceled ->
rejected ->
unknown ->
";

/// Proves L12.
#[test]
fn the_table_is_exactly_the_documents() {
    let mut text = String::new();
    for (from, next) in TRANSITIONS {
        text += &format!("{from} ->");
        next.iter().for_each(|to| text += &format!(" {to}"));
        text.push('\n');
    }
    assert_eq!(text, EXPECTED);
}

/// Proves L11, L12.
#[test]
fn events_move_along_the_table_and_nowhere_else() {
    let mut reached = std::collections::BTreeSet::new();
    for state in states() {
        for (event, to) in moving() {
            let allowed = TRANSITIONS.iter().any(|(from, next)| *from == state.name() && next.contains(&to));
            match transition(&state, &event) {
                Ok(next) => {
                    let next = next.expect("these events move").name();
                    assert!(allowed, "{} -> {next} by {}", state.name(), event.event_name());
                    assert_eq!(next, to);
                    reached.insert((state.name(), next));
                }
                Err(illegal) => {
                    assert_eq!((illegal.from, illegal.to), (state.name(), to));
                    assert!(illegal.to_string().contains(state.name().as_str()));
                }
            }
        }
    }
    let all: usize = TRANSITIONS.iter().map(|(_, next)| next.len()).sum();
    assert_eq!(reached.len(), all, "every transition of the table is reached by some event");
    assert!(reached.iter().all(|(_, to)| *to != Unknown), "nothing enters `unknown`");
}

/// Proves L12: the wrong event is illegal even if the table has the transition.
#[test]
fn a_resume_needs_the_open_question() {
    let [.., (withdrawn, _), _, _, _, _] = &moving()[..] else { panic!() };
    assert!(matches!(withdrawn, Event::Withdrawn { .. }));
    assert!(transition(&State::Submitted, withdrawn).is_err());
    let other = Event::Withdrawn { question: QuestionId::new(Uuid::from_u128(2)) };
    assert!(
        transition(&State::interrupted_by_question(question(InterruptReason::InputRequired)), &other)
            .is_err()
    );
}
