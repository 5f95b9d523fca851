//! First answers as a program receives them, in any order in the log: checked against logs that this test
//! builds.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use trackway_domain::{
    CallChain, Caller, ChildFirstAnswer, ChildOutcome, Event, Message, MessageId, MessageRole, Op, Part,
    RunId, RunSubmission, SessionId, StateName, StepOutcome, Timestamp, WorkflowRef,
};
use trackway_runtime::{
    Program, ProgramFuture, ProgramInfo, ProgramKind, ReplayVerdict, RetryPolicy, Stage,
    replay_program_on_log,
};
use uuid::Uuid;

const PARENT: RunId = RunId::new(Uuid::from_u128(1));
const CHILD: RunId = RunId::new(Uuid::from_u128(2));
const OTHER: RunId = RunId::new(Uuid::from_u128(3));

/// Dispatches a child, sends an answer to it and to another run, and records what it receives.
#[derive(Debug)]
struct ListeningProgram {
    info: ProgramInfo,
    heard: Arc<Mutex<Vec<String>>>,
}

impl Program for ListeningProgram {
    fn info(&self) -> &ProgramInfo {
        &self.info
    }

    fn run(&self, stage: Stage, _: Value) -> ProgramFuture {
        let heard = self.heard.clone();
        Box::pin(async move {
            let note = |answer: ChildFirstAnswer| {
                let text = answer.parts[0].as_text().unwrap().to_owned();
                heard.lock().unwrap().push(text);
            };
            let (op, run) = stage.dispatch_child_run("child", "child", Value::Null).await.unwrap();
            note(stage.wait_for_child_first_answer(&op).await);
            assert_eq!(run, CHILD);
            for message in ["to-child", "to-other", "again"] {
                let mut work =
                    |_| -> futures_util::future::BoxFuture<'_, _> { Box::pin(async { Ok(Value::Null) }) };
                let (_, sent) = stage.step("send", RetryPolicy::default(), &mut work).await;
                if matches!(sent, StepOutcome::Ok(_)) {
                    let op = stage.claim_reply_op(&MessageId::new(message).unwrap());
                    note(stage.wait_for_child_first_answer(&op).await);
                }
            }
            Ok(Value::Null)
        })
    }
}

fn program() -> (Arc<dyn Program>, Arc<Mutex<Vec<String>>>) {
    let info = ProgramInfo {
        name: "listens".to_owned(),
        kind: ProgramKind::Workflow,
        version: "1".to_owned(),
        description: String::new(),
        tags: Vec::new(),
        examples: Vec::new(),
        skills: Vec::new(),
        input_schema: json!({}),
        output_schema: Value::Null,
        input_modes: Vec::new(),
        output_modes: Vec::new(),
        extensions: Vec::new(),
        deadline: None,
    };
    let heard: Arc<Mutex<Vec<String>>> = Arc::default();
    (Arc::new(ListeningProgram { info, heard: heard.clone() }), heard)
}

fn op(name: &str) -> Op {
    name.parse().unwrap()
}

fn submitted_events(message: Option<Message>) -> Vec<Event> {
    let workflow = |name: &str| WorkflowRef { name: name.to_owned(), version: "1".to_owned() };
    let submission = RunSubmission {
        run: PARENT,
        session: SessionId::new("s").unwrap(),
        workflow: workflow("listens"),
        caller: Caller::local_without_auth(),
        input: Value::Null,
        message: None,
        parent: None,
        deadline: None::<Timestamp>,
        guided: false,
        exit: None,
        forked_from: None,
        awaited: false,
        call_chain: CallChain::default(),
        linked_session: None,
    };
    let started = Event::ChildStarted {
        op: op("child:child#0"),
        child: CHILD,
        workflow: workflow("child"),
        input: Value::Null,
        state: StateName::Working,
        awaited: message.is_none(),
        message,
    };
    vec![Event::Submitted(Box::new(submission)), Event::Started, started]
}

fn run_answered(run: RunId, reply_to: Option<&str>, text: &str) -> Event {
    let reply_to = reply_to.map(|message| MessageId::new(message).unwrap());
    Event::RunAnswered {
        run,
        reply_to,
        answer: ChildFirstAnswer::answered_with_parts(vec![Part::text(text)]),
    }
}

/// The child's first answer after its start.
fn first_answer_event() -> Event {
    run_answered(CHILD, None, "first")
}

/// The answer of a run to a message.
fn reply_event(run: RunId, to: &str, text: &str) -> Event {
    run_answered(run, Some(to), text)
}

fn reply_sent(number: u32) -> Event {
    let op = op(&format!("step:send#{number}"));
    Event::StepDone { op, outcome: StepOutcome::Ok(Value::Null) }
}

fn reply_refused(number: u32) -> Event {
    let op = op(&format!("step:send#{number}"));
    Event::StepDone { op, outcome: StepOutcome::Err(trackway_domain::Failure::new("no")) }
}

fn child_ended() -> Event {
    let outcome = ChildOutcome { state: StateName::Completed, output: Value::Null, message: None };
    Event::ChildEnded { child: CHILD, outcome }
}

async fn received_answers(rest: Vec<Event>) -> Vec<String> {
    let (program, heard) = program();
    let log = [submitted_events(None), rest].concat();
    assert_eq!(replay_program_on_log(&program, &log).await, ReplayVerdict::Matches);
    let heard = heard.lock().unwrap();
    heard.clone()
}

/// Proves D3: the end of a child may be recorded before its first answer, and is not mistaken for it.
#[tokio::test]
async fn end_of_a_child_is_not_a_first_answer() {
    assert_eq!(received_answers(vec![first_answer_event(), child_ended()]).await, ["first"]);
    assert_eq!(received_answers(vec![child_ended(), first_answer_event()]).await, ["first"]);
    assert_eq!(received_answers(vec![child_ended()]).await, Vec::<String>::new());
}

/// Proves D3, D6: each answer reaches the op it belongs to, even if it is recorded before the message that
/// caused it, or if the run did not accept that message.
#[tokio::test]
async fn answers_go_to_whoever_waits_for_them() {
    let all = ["first", "child again", "other", "other again"];
    let log = vec![
        first_answer_event(),
        reply_sent(0),
        reply_event(CHILD, "to-child", "child again"),
        reply_sent(1),
        reply_event(OTHER, "to-other", "other"),
        reply_sent(2),
        reply_event(OTHER, "again", "other again"),
    ];
    assert_eq!(received_answers(log).await, all);
    let log = vec![
        first_answer_event(),
        reply_event(CHILD, "to-child", "child again"),
        reply_sent(0),
        reply_event(OTHER, "to-other", "other"),
        reply_sent(1),
        reply_event(OTHER, "again", "other again"),
        reply_sent(2),
    ];
    assert_eq!(received_answers(log).await, all, "said before it is known that it was sent");
    let log = vec![
        first_answer_event(),
        reply_refused(0),
        reply_refused(1),
        reply_sent(2),
        reply_event(OTHER, "again", "other again"),
    ];
    assert_eq!(received_answers(log).await, ["first", "other again"], "what was not taken has no answer");
}

/// Proves D3, D6: an older answer that is recorded after a newer one reaches its op, and so does the newer
/// one.
#[tokio::test]
async fn answers_may_be_told_in_another_order() {
    let log = vec![reply_event(CHILD, "to-child", "child again"), first_answer_event(), reply_sent(0)];
    assert_eq!(received_answers(log).await, ["first", "child again"]);
    let log = vec![
        first_answer_event(),
        reply_sent(0),
        reply_event(CHILD, "to-child", "child again"),
        reply_event(OTHER, "again", "other again"),
        reply_sent(1),
        reply_event(OTHER, "to-other", "other"),
        reply_sent(2),
    ];
    assert_eq!(received_answers(log).await, ["first", "child again", "other", "other again"]);
}

/// Proves D3: an answer that the program has not requested yet does not make a log unfit.
#[tokio::test]
async fn early_answer_matches_replay() {
    let log = vec![first_answer_event(), reply_event(CHILD, "to-child", "child again")];
    assert_eq!(received_answers(log).await, ["first"]);
}

/// Proves L17: a child that was started with a message is not waited for, and its first answer is not an
/// answer to its start.
#[tokio::test]
async fn child_started_with_a_message_owes_no_first_answer() {
    let (program, heard) = program();
    let message = Message::new(MessageId::new("m").unwrap(), MessageRole::Agent, Vec::new());
    let log = [submitted_events(Some(message)), vec![reply_event(CHILD, "to-child", "later")]].concat();
    assert_eq!(replay_program_on_log(&program, &log).await, ReplayVerdict::Matches);
    assert_eq!(*heard.lock().unwrap(), Vec::<String>::new());
}
