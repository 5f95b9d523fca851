//! Tables: what is known of a node and what the interpreter says, against what is written and said.

use std::{cell::Cell, collections::BTreeMap};

use serde_json::json;
use trackway_domain::{
    AckId, Caller, DocumentChange, DocumentKind, Inputs, Object, RunId, Seal, SessionId,
    WorkflowRef,
};

use super::*;

const HASH: &str = "sha256-0";
const NOW: Timestamp = Timestamp::from_millis(7);

/// What the node was when it was made.
const SECOND: Branch = Branch { forked: true, index: 1, siblings: 2 };

fn id(number: u128) -> Uuid {
    Uuid::from_u128(number)
}

fn pending(confirm: bool) -> Pending {
    let text = |text: &str| text.to_owned();
    Pending {
        step: text("s"),
        title: text("S"),
        prompt: text("Do."),
        confirm,
        output: None,
        facts: Vec::new(),
    }
}

fn node(pending: Option<Pending>) -> Node {
    Node {
        id: NodeId::new(id(1)),
        parent: None,
        definition: HASH.into(),
        walk: json!(1),
        context: Object::new(),
        kept: BTreeMap::new(),
        pending,
    }
}

fn submission() -> Submission {
    Submission {
        run: RunId::new(id(2)),
        session: SessionId::new("s").expect("a session id"),
        workflow: WorkflowRef { name: "w".into(), version: HASH.into() },
        caller: Caller::local(),
        input: json!({}),
        message: None,
        parent: None,
        deadline: None,
        guided: true,
        exit: None,
        forked_from: None,
        awaited: false,
    }
}

fn row_in(state: StateName) -> RunRow {
    row(&submission(), state, Timestamp::from_millis(1))
}

fn standing(pending: Option<Pending>) -> Standing {
    let change =
        DocumentChange { name: "d".into(), kind: DocumentKind::Log, key: None, value: json!(1) };
    Standing {
        walk: json!(2),
        context: Object::new(),
        pending,
        documents: vec![change],
        warnings: vec![warning("loop-bound")],
    }
}

fn warning(code: &str) -> Warning {
    Warning::new(code, code)
}

fn block() -> Block {
    Block { code: "output-invalid".into(), message: "no".into(), needs: Vec::new() }
}

fn answer_with(consent: Consent) -> Advance {
    Advance {
        run: RunId::new(id(2)),
        node: NodeId::new(id(1)),
        ack: AckId::new(id(3)),
        inputs: Inputs { output: Some(json!("done")), ..Inputs::default() },
        consent,
        seal: Seal { key: "k".into(), text: 1 },
    }
}

/// What becomes of an answer at a node with so many branches, in a run of that state.
struct Case {
    confirm: bool,
    consent: Consent,
    branches: u32,
    state: StateName,
    came_to: Result<Standing, Block>,
}

impl Case {
    fn plain(came_to: Result<Standing, Block>) -> Self {
        let (consent, state) = (Consent::Implied, StateName::Working);
        Self { confirm: false, consent, branches: 0, state, came_to }
    }

    fn verdict(self) -> Verdict {
        let (node, row) = (node(Some(pending(self.confirm))), row_in(self.state));
        let asked = Asked { node: &node, branches: self.branches, came_as: SECOND, row: &row };
        let next = Cell::new(100);
        let ids = || {
            next.set(next.get() + 1);
            id(next.get())
        };
        let world = World { now: NOW, ids: &ids, node: NodeId::new(id(100)) };
        let advance = answer_with(self.consent);
        let drift = Some(warning("definition-changed"));
        answered(asked, &advance, "digest".into(), self.came_to, drift, world)
    }

    fn recorded(self) -> Recorded {
        match self.verdict() {
            Verdict::Record(recorded) => *recorded,
            Verdict::AskFirst(_) => panic!("it is recorded"),
        }
    }
}

fn names(events: &[Event]) -> Vec<&'static str> {
    events.iter().map(Event::name).collect()
}

/// Proves T6: the first answer is no fork, each later one is, and all of them go on.
#[test]
fn branches_are_numbered_in_the_order_of_their_answers() {
    for branches in 0..4 {
        let case = Case { branches, ..Case::plain(Ok(standing(Some(pending(false))))) };
        let answer = case.recorded().attempt.answer;
        let expected = Branch { forked: branches > 0, index: branches, siblings: branches + 1 };
        assert_eq!(answer.branch, expected);
    }
}

#[test]
fn an_advance_records_the_node_with_its_parent_its_documents_and_its_warnings() {
    let recorded = Case::plain(Ok(standing(Some(pending(false))))).recorded();
    assert_eq!(names(&recorded.events()), ["attempted"]);
    assert_eq!(recorded.completes, None, "the row stays");
    let attempt = recorded.attempt;
    let AttemptOutcome::Advanced(next) = &attempt.outcome else { panic!("it advances") };
    assert_eq!((next.id, next.parent), (NodeId::new(id(100)), Some(NodeId::new(id(1)))));
    assert_eq!(next.definition, HASH);
    assert_eq!((&next.walk, attempt.documents.len()), (&json!(2), 1));
    assert_eq!(attempt.answer.ack, Some(AckId::compact(id(101))));
    let codes: Vec<_> = attempt.answer.warnings.iter().map(|one| one.code.as_str()).collect();
    assert_eq!(codes, ["definition-changed", "loop-bound"]);
    assert_eq!((attempt.ack, attempt.digest.as_str()), (AckId::new(id(3)), "digest"));
    assert_eq!(attempt.answer.seal, Seal { key: "k".into(), text: 1 });
}

#[test]
fn what_is_blocked_makes_no_node_and_is_no_fork() {
    for branches in [0, 1, 3] {
        let recorded = Case { branches, ..Case::plain(Err(block())) }.recorded();
        assert_eq!(names(&recorded.events()), ["attempted"]);
        assert_eq!(recorded.attempt.outcome, AttemptOutcome::Blocked(block()));
        assert!(recorded.attempt.documents.is_empty());
        let answer = recorded.attempt.answer;
        assert_eq!(answer.branch, SECOND, "the node stays what it was");
        assert_eq!(answer.ack, Some(AckId::compact(id(101))), "a fresh one");
    }
}

#[test]
fn the_first_branch_to_end_completes_the_run_and_later_ones_do_not() {
    let ends = |state| Case { state, ..Case::plain(Ok(standing(None))) }.recorded();
    let first = ends(StateName::Working);
    assert_eq!(names(&first.events()), ["attempted", "completed"]);
    assert_eq!(first.attempt.answer.ack, None, "nothing is pending");
    let completion = first.completes.expect("it completes");
    assert_eq!(completion.output, json!("done"));
    let mut expected = row_in(StateName::Completed);
    expected.status_at = NOW;
    assert_eq!(completion.row, expected);
    let later = ends(StateName::Completed);
    assert_eq!((names(&later.events()), later.completes), (vec!["attempted"], None));
}

#[test]
fn agreement_is_asked_for_only_where_the_answer_would_advance() {
    let asks = |confirm, consent, came_to| {
        let case = Case { confirm, consent, ..Case::plain(came_to) };
        matches!(case.verdict(), Verdict::AskFirst(_))
    };
    let fine = || Ok(standing(None));
    assert!(asks(true, Consent::ToBeAsked, fine()));
    assert!(!asks(false, Consent::ToBeAsked, fine()), "the step wants none");
    assert!(!asks(true, Consent::ToBeAsked, Err(block())), "it would be blocked anyway");
    assert!(!asks(true, Consent::Implied, fine()));
    assert!(!asks(true, Consent::Given(true), fine()));
    assert!(!asks(true, Consent::Given(false), fine()));
}

#[test]
fn what_a_person_declines_is_blocked_and_says_what_to_do() {
    let outcome = |consent, came_to| {
        let case = Case { confirm: true, consent, ..Case::plain(came_to) };
        case.recorded().attempt.outcome
    };
    let AttemptOutcome::Blocked(declined) = outcome(Consent::Given(false), Ok(standing(None)))
    else {
        panic!("it does not advance")
    };
    assert_eq!(declined.code, "confirmation-declined");
    assert_eq!(declined.needs[0].pointer, "/ackToken");
    for consent in [Consent::Given(true), Consent::Implied] {
        assert!(is_complete(&outcome(consent, Ok(standing(None)))), "{consent:?}");
    }
    let still = outcome(Consent::Given(false), Err(block()));
    assert_eq!(still, AttemptOutcome::Blocked(block()), "what is wrong comes first");
}

#[test]
fn a_run_that_somebody_ended_takes_no_answer_and_a_completed_one_does() {
    let closed = |state, pending| {
        let (node, row) = (node(pending), row_in(state));
        closed(Asked { node: &node, branches: 0, came_as: ONLY_BRANCH, row: &row })
    };
    let open = || Some(pending(false));
    assert_eq!(closed(StateName::Working, open()), None);
    assert_eq!(closed(StateName::Completed, open()), None);
    assert_eq!(closed(StateName::Completed, None), Some(Closed::Complete));
    for state in [StateName::Canceled, StateName::Failed, StateName::Rejected] {
        assert_eq!(closed(state, open()), Some(Closed::Ended(state)));
        assert_eq!(closed(state, None), Some(Closed::Ended(state)));
    }
}

#[test]
fn a_run_opens_with_its_first_node_and_without_one_is_complete() {
    let open = |first| {
        let ids = || id(9);
        let world = World { now: NOW, ids: &ids, node: NodeId::new(id(100)) };
        opened(submission(), standing(first), Seal::default(), world)
    };
    let opening = open(Some(pending(false)));
    assert_eq!(names(&opening.events), ["submitted", "started", "opened"]);
    assert_eq!(opening.row.state, StateName::Working);
    assert!(!opening.row.runnable && !opening.row.parked, "the engine never drives it");
    assert_eq!(opening.answer.branch, ONLY_BRANCH);
    assert_eq!(opening.answer.ack, Some(AckId::compact(id(9))));
    assert_eq!((opening.node.parent, opening.node.definition.as_str()), (None, HASH));
    let opening = open(None);
    assert_eq!(names(&opening.events), ["submitted", "started", "opened", "completed"]);
    assert_eq!(opening.row.state, StateName::Completed);
    assert_eq!(opening.answer.ack, None);
}
