//! Tables: the known node and the interpreter's result, against the recorded events and the reply.

use std::cell::Cell;

use serde_json::json;
use trackway_domain::{
    AckId, AttemptInputs, Caller, DocumentChange, DocumentKind, GuidedRunWarning, Object, ReplyRenderStamp,
    RunCommand, RunId, SessionId, Timestamp, WorkflowRef,
};
use uuid::Uuid;

use super::*;
use crate::fixture::FakeSchemaChecker;

const HASH: &str = "sha256-0";
const NOW: Timestamp = Timestamp::from_millis(7);

/// The position of the node when it was made.
const SECOND: BranchPosition = BranchPosition { forked: true, index: 1, siblings: 2 };

fn id(number: u128) -> Uuid {
    Uuid::from_u128(number)
}

fn pending(confirm: bool) -> PendingStep {
    let text = |text: &str| text.to_owned();
    PendingStep {
        step: text("s"),
        title: text("S"),
        prompt: text("Do."),
        confirm,
        output: None,
        facts: Vec::new(),
    }
}

fn node(pending: Option<PendingStep>) -> GuidedNode {
    GuidedNode {
        id: NodeId::new(id(1)),
        parent: None,
        definition: HASH.into(),
        position: json!(1),
        context: Object::new(),
        context_refs: BTreeMap::new(),
        pending,
    }
}

fn submission() -> Box<RunSubmission> {
    let session = SessionId::new("s").expect("a session id");
    let workflow = WorkflowRef { name: "w".into(), version: HASH.into() };
    let submission =
        RunSubmission::new(RunId::new(id(2)), session, workflow, Caller::local_without_auth(), json!({}));
    Box::new(RunSubmission { guided: true, ..submission })
}

fn run_in(state: StateName) -> Run {
    Run::from_index_row(submission(), Timestamp::from_millis(1), state, 4, false)
}

fn step(pending: Option<PendingStep>) -> GuidedStepState {
    let change = DocumentChange { name: "d".into(), kind: DocumentKind::Log, key: None, value: json!(1) };
    GuidedStepState {
        position: json!(2),
        context: Object::new(),
        pending,
        documents: vec![change],
        warnings: vec![warning("loop-bound")],
    }
}

fn warning(code: &str) -> GuidedRunWarning {
    GuidedRunWarning::new(code, code)
}

fn block() -> BlockReason {
    BlockReason { code: "output-invalid".into(), message: "no".into(), needs: Vec::new() }
}

/// The outcome of an answer to a node with some branches, in a run in some state.
struct Case {
    confirm: bool,
    consent: ConsentStatus,
    branches: u32,
    blocked: u32,
    state: StateName,
    result: Result<GuidedStepState, BlockReason>,
}

impl Case {
    fn plain_case(result: Result<GuidedStepState, BlockReason>) -> Self {
        let (consent, state) = (ConsentStatus::Implied, StateName::Working);
        Self { confirm: false, consent, branches: 0, blocked: 0, state, result }
    }

    fn decide(self) -> Result<(Vec<Event>, GuidedCommandReply), CommandRefusal> {
        let at = AnsweredNode {
            node: node(Some(pending(self.confirm))),
            context: Object::new(),
            seq: 3,
            branches: self.branches,
            blocked: self.blocked,
            branch: SECOND,
        };
        let answer = NodeAnswer {
            at,
            ack: AckId::new(id(3)),
            digest: "digest".into(),
            inputs: AttemptInputs { output: Some(json!("done")), ..AttemptInputs::default() },
            consent: self.consent,
            stamp: ReplyRenderStamp { key: "k".into(), text_version: 1 },
            result: self.result,
            warning: Some(warning("definition-changed")),
        };
        decided(Some(&run_in(self.state)), GuidedRunCommand::Answer(Box::new(answer)))
    }

    fn recorded_events(self) -> (Vec<Event>, NodeAttempt) {
        match self.decide() {
            Ok((events, GuidedCommandReply::Attempted(attempt))) => (events, attempt),
            other => panic!("it is recorded: {other:?}"),
        }
    }
}

/// Calls the public entry point of all decisions.
fn decided(
    run: Option<&Run>,
    command: GuidedRunCommand,
) -> Result<(Vec<Event>, GuidedCommandReply), CommandRefusal> {
    let next = Cell::new(100);
    let ids = || {
        next.set(next.get() + 1);
        id(next.get())
    };
    let env = DecisionEnv { now: NOW, ids: &ids, schemas: &FakeSchemaChecker };
    let decision = crate::decide(run, RunCommand::Guided(Box::new(command)), env)?;
    assert!(decision.effects.is_empty(), "nothing drives a guided run");
    match decision.reply {
        CommandReply::Guided(reply) => Ok((decision.events, *reply)),
        reply => panic!("{reply:?}"),
    }
}

fn names(events: &[Event]) -> Vec<&'static str> {
    events.iter().map(Event::event_name).collect()
}

/// Proves T6: the first answer makes no fork, each later one does, and all of them advance.
#[test]
fn branches_are_numbered_in_the_order_of_their_answers() {
    for branches in 0..4 {
        let case = Case { branches, ..Case::plain_case(Ok(step(Some(pending(false))))) };
        let reply = case.recorded_events().1.reply;
        let expected = BranchPosition { forked: branches > 0, index: branches, siblings: branches + 1 };
        assert_eq!(reply.branch, expected);
    }
}

#[test]
fn an_advance_records_the_node_with_its_parent_its_documents_and_its_warnings() {
    let (events, attempt) = Case::plain_case(Ok(step(Some(pending(false))))).recorded_events();
    assert_eq!(names(&events), ["attempted"]);
    let AttemptOutcome::Advanced(next) = &attempt.outcome else { panic!("it advances") };
    assert_eq!((next.id, next.parent), (NodeId::new(id(101)), Some(NodeId::new(id(1)))));
    assert_eq!(next.definition, HASH);
    assert_eq!((&next.position, attempt.documents.len()), (&json!(2), 1));
    assert_eq!(attempt.reply.ack, Some(AckId::compact_from_uuid(id(102))));
    let codes: Vec<_> = attempt.reply.warnings.iter().map(|one| one.code.as_str()).collect();
    assert_eq!(codes, ["definition-changed", "loop-bound"]);
    assert_eq!((attempt.ack, attempt.digest.as_str()), (AckId::new(id(3)), "digest"));
    assert_eq!(attempt.reply.stamp, ReplyRenderStamp { key: "k".into(), text_version: 1 });
}

#[test]
fn blocked_answer_makes_no_node_and_no_fork() {
    for branches in [0, 1, 3] {
        let (events, attempt) = Case { branches, ..Case::plain_case(Err(block())) }.recorded_events();
        assert_eq!(names(&events), ["attempted"]);
        assert_eq!(attempt.outcome, AttemptOutcome::Blocked(block()));
        assert!(attempt.documents.is_empty());
        let reply = attempt.reply;
        assert_eq!(reply.branch, SECOND, "the node stays what it was");
        assert_eq!(reply.ack, Some(AckId::compact_from_uuid(id(101))), "a fresh one");
    }
}

#[test]
fn the_first_branch_to_end_completes_the_run_and_later_ones_do_not() {
    let ends = |state| Case { state, ..Case::plain_case(Ok(step(None))) }.recorded_events();
    let (events, first) = ends(StateName::Working);
    assert_eq!(names(&events), ["attempted", "completed"]);
    assert_eq!(first.reply.ack, None, "nothing is pending");
    assert_eq!(events[1], completed_event(json!("done")));
    let (events, _) = ends(StateName::Completed);
    assert_eq!(names(&events), ["attempted"]);
}

#[test]
fn agreement_is_asked_for_only_where_the_answer_would_advance() {
    let asks = |confirm, consent, result| {
        let case = Case { confirm, consent, ..Case::plain_case(result) };
        let (events, reply) = case.decide().unwrap();
        let asks = matches!(reply, GuidedCommandReply::ConsentNeeded(_));
        assert_eq!(events.is_empty(), asks, "nothing is recorded before a person agreed");
        asks
    };
    let fine = || Ok(step(None));
    assert!(asks(true, ConsentStatus::NotAskedYet, fine()));
    assert!(!asks(false, ConsentStatus::NotAskedYet, fine()), "the step wants none");
    assert!(!asks(true, ConsentStatus::NotAskedYet, Err(block())), "it would be blocked anyway");
    assert!(!asks(true, ConsentStatus::Implied, fine()));
    assert!(!asks(true, ConsentStatus::Answered(true), fine()));
    assert!(!asks(true, ConsentStatus::Answered(false), fine()));
}

#[test]
fn declined_step_is_blocked_with_a_hint() {
    let outcome = |consent, result| {
        let case = Case { confirm: true, consent, ..Case::plain_case(result) };
        case.recorded_events().1.outcome
    };
    let AttemptOutcome::Blocked(declined) = outcome(ConsentStatus::Answered(false), Ok(step(None))) else {
        panic!("it does not advance")
    };
    assert_eq!(declined.code, "confirmation-declined");
    assert_eq!(declined.needs[0].pointer, "/ackToken");
    for consent in [ConsentStatus::Answered(true), ConsentStatus::Implied] {
        assert!(completes_branch(&outcome(consent, Ok(step(None)))), "{consent:?}");
    }
    let still = outcome(ConsentStatus::Answered(false), Err(block()));
    assert_eq!(still, AttemptOutcome::Blocked(block()), "what is wrong comes first");
}

/// Proves T6: a completed run accepts answers, a cancelled one does not, and an imported one must be
/// adopted first.
#[test]
fn a_run_that_somebody_ended_takes_no_answer_and_a_completed_one_does() {
    let decide =
        |state| Case { state, ..Case::plain_case(Ok(step(Some(pending(false))))) }.decide().map(drop);
    for state in [StateName::Working, StateName::Completed] {
        assert_eq!(decide(state), Ok(()));
    }
    for state in [StateName::Canceled, StateName::Failed, StateName::Rejected] {
        assert_eq!(decide(state), Err(CommandRefusal::Ended { state }));
    }
    let imported = Run { imported: true, ..run_in(StateName::Working) };
    let notes = GuidedRunCommand::Checkpoint { node: None, notes: "n".into() };
    assert_eq!(decided(Some(&imported), notes), Err(CommandRefusal::NotAdopted));
}

/// Proves X5: an agent that does not learn from its replies cannot fill the log.
#[test]
fn blocked_answers_to_one_node_are_recorded_up_to_a_number() {
    let of = |blocked, result| Case { blocked, ..Case::plain_case(result) }.decide().map(drop);
    assert_eq!(of(BLOCKED_ATTEMPTS_MAX - 1, Err(block())), Ok(()));
    let refused = Err(CommandRefusal::TooManyAttempts(Box::new(block())));
    assert_eq!(of(BLOCKED_ATTEMPTS_MAX, Err(block())), refused);
    assert_eq!(of(BLOCKED_ATTEMPTS_MAX, Ok(step(None))), Ok(()), "what fits is taken");
}

#[test]
fn a_run_opens_with_its_first_node_and_without_one_is_complete() {
    let open = |pending| {
        let (submission, step) = (submission(), Box::new(step(pending)));
        decided(None, GuidedRunCommand::Open { submission, step, stamp: ReplyRenderStamp::default() })
            .unwrap()
    };
    let (events, GuidedCommandReply::Opened { node, reply }) = open(Some(pending(false))) else {
        panic!("it opens")
    };
    assert_eq!(names(&events), ["submitted", "started", "opened"]);
    assert_eq!(reply.branch, BranchPosition::FIRST);
    assert_eq!(reply.ack, Some(AckId::compact_from_uuid(id(102))));
    assert_eq!((node.parent, node.definition.as_str()), (None, HASH));
    let (events, GuidedCommandReply::Opened { reply, .. }) = open(None) else { panic!("it opens") };
    assert_eq!(names(&events), ["submitted", "started", "opened", "completed"]);
    assert_eq!(reply.ack, None);
}

/// The node at an event of number `seq`, with its whole context.
fn answered(node: &GuidedNode, context: &Object, seq: Seq) -> AnsweredNode {
    let (node, context, branch) = (node.clone(), context.clone(), BranchPosition::FIRST);
    AnsweredNode { node, context, seq, branches: 0, blocked: 0, branch }
}

fn with_context(context: &Value) -> GuidedNode {
    GuidedNode { context: context.as_object().cloned().unwrap_or_default(), ..node(None) }
}

#[test]
fn large_facts_that_did_not_change_are_kept_where_they_are() {
    let large = "x".repeat(1_000);
    let first = with_context(&json!({ "a": large, "b": large, "c": 1 }));
    let whole = first.context.clone();
    let mut second = with_context(&json!({ "a": large, "b": format!("{large}y"), "c": 1, "d": large }));
    let second_whole = second.context.clone();
    replace_large_facts_by_references(&mut second, &answered(&first, &whole, 3));
    assert_eq!(second.context_refs, BTreeMap::from([("a".to_owned(), 3)]));
    assert_eq!(second.context["a"], Value::Null);
    assert_eq!((&second.context["c"], second.context["d"].is_string()), (&json!(1), true));
    let mut third = with_context(&Value::Object(second_whole.clone()));
    replace_large_facts_by_references(&mut third, &answered(&second, &second_whole, 4));
    let expected = [("a", 3), ("b", 4), ("d", 4)].map(|(name, seq)| (name.to_owned(), seq));
    assert_eq!(third.context_refs, BTreeMap::from(expected), "a points to where it is, not further");
}

#[test]
fn a_node_refers_to_few_events() {
    let large = json!("x".repeat(1_000));
    let names: Vec<String> = (0..6).map(|number| format!("k{number}")).collect();
    let context = Value::Object(names.iter().map(|name| (name.clone(), large.clone())).collect());
    let mut before = with_context(&context);
    let whole = before.context.clone();
    before.context_refs = names.iter().cloned().zip(10..).collect();
    let mut after = with_context(&context);
    replace_large_facts_by_references(&mut after, &answered(&before, &whole, 20));
    assert!(after.context_refs.is_empty() && after.context == whole, "it is whole again");
}
