//! The index of runs: listings, waiting runs, runs to be driven.

use std::sync::Arc;

use trackway_domain::{Access, Caller, RunId, StateName, WorkflowRef};
use trackway_ports::{Journal, RunFilter, RunQuery, RunRow};

use super::samples::*;

fn ids(rows: &[RunRow]) -> Vec<u128> {
    rows.iter().map(|row| row.id.uuid().as_u128()).collect()
}

async fn listed(journal: &dyn Journal, filter: RunFilter) -> Vec<u128> {
    ids(&journal.runs(filter, None, ALL).await.unwrap())
}

fn numbers(runs: &[RunId]) -> Vec<u128> {
    let mut numbers: Vec<u128> = runs.iter().map(|run| run.uuid().as_u128()).collect();
    numbers.sort_unstable();
    numbers
}

/// Proves X2.
pub async fn a_row_reads_back_and_is_replaced(journal: Arc<dyn Journal>) {
    for (number, state) in (1..).zip(StateName::ALL) {
        let mut first = row(number);
        first.parent = (number % 2 == 0).then(|| run(number + 100));
        first.created_at = at(-5);
        write(&*journal, writing_row(first.clone())).await;
        assert_eq!(journal.run(first.id).await.unwrap(), Some(first.clone()));

        let mut then = first;
        then.state = state;
        then.runnable = false;
        then.parked = true;
        then.status_at = at(i64::MAX);
        write(&*journal, writing_row(then.clone())).await;
        assert_eq!(journal.run(then.id).await.unwrap(), Some(then));
    }
}

/// Proves X1: a run stays with the caller and session that started it.
pub async fn what_a_run_is_called_never_changes(journal: Arc<dyn Journal>) {
    write(&*journal, writing_row(row(1))).await;
    let mut other = row(1);
    other.caller = Caller::new("another", "another");
    other.session = session("another");
    other.workflow.name = "another".to_owned();
    other.workflow.version = "another".to_owned();
    other.parent = Some(run(9));
    other.created_at = at(9);
    other.status_at = at(10);
    write(&*journal, writing_row(other)).await;
    let mut expected = row(1);
    expected.status_at = at(10);
    assert_eq!(journal.run(run(1)).await.unwrap(), Some(expected));
}

/// Proves X2.
pub async fn an_unknown_run_has_no_row(journal: Arc<dyn Journal>) {
    assert_eq!(journal.run(run(1)).await.unwrap(), None);
    assert!(listed(&*journal, RunFilter::default()).await.is_empty());
}

/// Proves X2.
pub async fn runs_are_listed_newest_first_in_pages(journal: Arc<dyn Journal>) {
    let expected: Vec<u128> = (1..=25).map(|number| number << 90).rev().collect();
    for number in &expected {
        write(&*journal, writing_row(row(*number))).await;
    }
    let mut found = Vec::new();
    let mut before = None;
    loop {
        let page = journal.runs(RunFilter::default(), before, 10).await.unwrap();
        assert!(page.len() <= 10);
        let Some(last) = page.last() else { break };
        before = Some(last.id);
        found.extend(ids(&page));
    }
    assert_eq!(found, expected);
    let none = journal.runs(RunFilter::default(), None, 0).await.unwrap();
    assert!(none.is_empty());
}

/// Runs 1 to 16: every combination of two tenants, sessions, workflows and states.
async fn write_sixteen(journal: &dyn Journal) {
    for number in 0..16_u128 {
        let bit = |place: u32| number >> place & 1 == 1;
        let mut row = row(number + 1);
        row.caller = Caller::new(if bit(0) { "t1" } else { "t0" }, "user");
        row.session = session(if bit(1) { "s1" } else { "s0" });
        row.workflow.name = if bit(2) { "w1" } else { "w0" }.to_owned();
        row.state = [StateName::Failed, StateName::Completed][usize::from(bit(3))];
        write(journal, writing_row(row)).await;
    }
}

/// The owner of the runs in that tenant.
fn owner(tenant: &str) -> Access {
    Access::own(Caller::new(tenant, "user"))
}

/// Proves X2.
pub async fn filters_work_together(journal: Arc<dyn Journal>) {
    write_sixteen(&*journal).await;
    // Each of the sixteen combinations of omitted filters.
    for left_out in 0..16_u128 {
        let used = |place: u32| left_out >> place & 1 == 0;
        let filter = RunFilter {
            access: used(0).then(|| owner("t1")),
            session: used(1).then(|| session("s1")),
            workflow: used(2).then(|| "w1".to_owned()),
            states: if used(3) { vec![StateName::Completed] } else { vec![] },
        };
        let expected: Vec<u128> = (0..16_u128)
            .filter(|number| number | left_out == 15)
            .map(|number| number + 1)
            .rev()
            .collect();
        assert_eq!(listed(&*journal, filter.clone()).await, expected, "{filter:?}");
        let page = journal.runs(filter, Some(run(16)), 2).await.unwrap();
        let rest: Vec<u128> = expected.into_iter().filter(|n| *n < 16).take(2).collect();
        assert_eq!(ids(&page), rest);
    }
    let every_state = RunFilter { states: StateName::ALL.to_vec(), ..RunFilter::default() };
    assert_eq!(listed(&*journal, every_state).await.len(), 16);
    let unknown = RunFilter { access: Some(owner("t")), ..RunFilter::default() };
    assert!(listed(&*journal, unknown).await.is_empty());
}

/// Proves X6: a listing has what the access covers, in its order, for every owner.
pub async fn listings_show_what_the_access_covers(journal: Arc<dyn Journal>) {
    let owners = [("t", "ann"), ("t", "bob"), ("other", "ann"), ("t", "ann"), ("t", "bob")];
    for (number, (tenant, user)) in (1..).zip(owners) {
        let mut row = row(number);
        row.caller = Caller::new(tenant, user);
        row.status_at = at(i64::try_from(number).unwrap());
        write(&*journal, writing_row(row)).await;
    }
    let ann = || Caller::new("t", "ann");
    let eve = || Caller::new("t", "eve");
    let table = [
        (Access::own(ann()), vec![4, 1]),
        (Access::tenant(ann()), vec![5, 4, 2, 1]),
        (Access::own(eve()), vec![]),
        (Access::tenant(eve()), vec![5, 4, 2, 1]),
        (Access::own(Caller::new("other", "ann")), vec![3]),
        (Access::tenant(Caller::new("nobody", "ann")), vec![]),
    ];
    for (access, expected) in table {
        let filter =
            |session| RunFilter { access: Some(access.clone()), session, ..RunFilter::default() };
        for filter in [filter(None), filter(Some(session("session")))] {
            assert_eq!(listed(&*journal, filter.clone()).await, expected, "{filter:?}");
            let page = journal.runs(filter, Some(run(5)), 2).await.unwrap();
            let rest: Vec<u128> = expected.iter().copied().filter(|n| *n < 5).take(2).collect();
            assert_eq!(ids(&page), rest, "{access:?}");
        }
        for session in [None, Some(session("session"))] {
            let query = RunQuery { session, ..RunQuery::new(access.clone(), 2) };
            let page = journal.runs_by_status(query.clone()).await.unwrap();
            assert_eq!(page.total, expected.len() as u64, "{access:?}");
            assert_eq!(ids(&page.rows), expected[..expected.len().min(2)], "{access:?}");
            let after = page.rows.last().map(RunRow::place);
            let rest = journal.runs_by_status(RunQuery { after, ..query }).await.unwrap().rows;
            assert_eq!(ids(&rest), expected[page.rows.len()..], "{access:?}");
        }
        let runs = journal.session_runs(access.clone(), session("session")).await.unwrap();
        assert_eq!(ids(&runs), expected, "{access:?}");
        let sessions = journal.sessions(access.clone(), ALL).await.unwrap();
        assert_eq!(sessions.len(), usize::from(!expected.is_empty()), "{access:?}");
    }
}

/// Proves L8: an answer goes only to a run of the caller that sends it.
pub async fn waiting_runs_are_found_by_caller_session_and_workflow(journal: Arc<dyn Journal>) {
    let rows = [
        ("t", "u", "s", "w", StateName::InputRequired),
        ("t", "u", "s", "v", StateName::AuthRequired),
        ("t", "u", "s", "w", StateName::Working),
        ("t", "u", "other", "w", StateName::InputRequired),
        ("t", "other", "s", "w", StateName::InputRequired),
        ("other", "u", "s", "w", StateName::InputRequired),
        ("t", "u", "s", "w", StateName::AuthRequired),
        ("t", "u", "s", "w", StateName::Completed),
    ];
    for (number, (tenant, user, name, workflow, state)) in (1..).zip(rows) {
        let mut row = row(number);
        row.caller = Caller::new(tenant, user);
        row.session = session(name);
        row.workflow = WorkflowRef { name: workflow.to_owned(), version: "1".to_owned() };
        row.state = state;
        write(&*journal, writing_row(row)).await;
    }
    let find = async |tenant: &str, workflow: Option<&str>, limit: usize| {
        let caller = Caller::new(tenant, "u");
        let workflow = workflow.map(str::to_owned);
        let found = journal.waiting(caller, session("s"), workflow, limit).await;
        numbers(&found.unwrap())
    };
    assert_eq!(find("t", None, ALL).await, [1, 2, 7]);
    assert_eq!(find("t", Some("w"), ALL).await, [1, 7]);
    assert_eq!(find("t", Some("v"), ALL).await, [2]);
    assert_eq!(find("t", None, 2).await.len(), 2);
    assert!(find("t", Some("none"), ALL).await.is_empty());
    assert_eq!(find("other", None, ALL).await, [6]);
    assert!(find("nobody", None, ALL).await.is_empty());
}

/// Proves X2.
pub async fn a_run_that_no_longer_waits_is_not_found(journal: Arc<dyn Journal>) {
    let mut row = row(1);
    row.state = StateName::InputRequired;
    let find = || journal.waiting(row.caller.clone(), row.session.clone(), None, ALL);
    write(&*journal, writing_row(row.clone())).await;
    assert_eq!(find().await.unwrap(), [row.id]);
    let mut working = row.clone();
    working.state = StateName::Working;
    write(&*journal, writing_row(working)).await;
    assert!(find().await.unwrap().is_empty());
}

/// Proves X2: every unfinished run is found after a crash.
pub async fn runnable_and_parked_runs_are_found_in_pages(journal: Arc<dyn Journal>) {
    for number in 1..=40_u128 {
        let mut row = row(number);
        row.runnable = number % 4 == 1;
        row.parked = number % 4 == 2;
        write(&*journal, writing_row(row)).await;
    }
    // A run that waits or has ended leaves the list.
    let ended = RunRow { runnable: false, ..row(1) };
    write(&*journal, writing_row(ended)).await;
    let expected: Vec<u128> = (2..=40).filter(|n| matches!(n % 4, 1 | 2)).collect();
    let mut found = Vec::new();
    loop {
        let page = journal.claim_runs(claim_at(0, 7)).await.unwrap();
        assert!(page.len() <= 7);
        if page.is_empty() {
            break;
        }
        found.extend(page.iter().map(|claimed| claimed.run.uuid().as_u128()));
    }
    assert_eq!(found, expected);
}
