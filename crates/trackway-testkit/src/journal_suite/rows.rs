//! The index of runs: listings, waiting runs, runs to be driven.

use std::sync::Arc;

use trackway_domain::{Access, Caller, RunId, StateName, WorkflowRef};
use trackway_ports::{Journal, RunFilter, RunRow, StatusTimeQuery};

use super::sample_appends::*;

fn run_numbers(rows: &[RunRow]) -> Vec<u128> {
    rows.iter().map(|row| row.id.uuid().as_u128()).collect()
}

async fn list_run_numbers(journal: &dyn Journal, filter: RunFilter) -> Vec<u128> {
    run_numbers(&journal.list_runs(filter, None, ALL).await.unwrap())
}

fn sorted_run_numbers(runs: &[RunId]) -> Vec<u128> {
    let mut numbers: Vec<u128> = runs.iter().map(|run| run.uuid().as_u128()).collect();
    numbers.sort_unstable();
    numbers
}

/// Proves X2.
pub async fn a_row_reads_back_and_is_replaced(journal: Arc<dyn Journal>) {
    for (number, state) in (1..).zip(StateName::ALL) {
        let mut first = run_row(number);
        first.parent = (number % 2 == 0).then(|| run_id(number + 100));
        first.created_at = timestamp(-5);
        append_accepted(&*journal, row_append(first.clone())).await;
        assert_eq!(journal.find_run(first.id).await.unwrap(), Some(first.clone()));

        let mut then = first;
        then.state = state;
        then.runnable = false;
        then.parked = true;
        then.status_at = timestamp(i64::MAX);
        append_accepted(&*journal, row_append(then.clone())).await;
        assert_eq!(journal.find_run(then.id).await.unwrap(), Some(then));
    }
}

/// Proves X1: a run stays with the caller and session that started it.
pub async fn what_a_run_is_called_never_changes(journal: Arc<dyn Journal>) {
    append_accepted(&*journal, row_append(run_row(1))).await;
    let mut other = run_row(1);
    other.caller = Caller::new("another", "another");
    other.session = session_id("another");
    other.workflow.name = "another".to_owned();
    other.workflow.version = "another".to_owned();
    other.parent = Some(run_id(9));
    other.created_at = timestamp(9);
    other.status_at = timestamp(10);
    append_accepted(&*journal, row_append(other)).await;
    let mut expected = run_row(1);
    expected.status_at = timestamp(10);
    assert_eq!(journal.find_run(run_id(1)).await.unwrap(), Some(expected));
}

/// Proves X2.
pub async fn an_unknown_run_has_no_row(journal: Arc<dyn Journal>) {
    assert_eq!(journal.find_run(run_id(1)).await.unwrap(), None);
    assert!(list_run_numbers(&*journal, RunFilter::default()).await.is_empty());
}

/// Proves X2.
pub async fn runs_are_listed_newest_first_in_pages(journal: Arc<dyn Journal>) {
    let expected: Vec<u128> = (1..=25).map(|number| number << 90).rev().collect();
    for number in &expected {
        append_accepted(&*journal, row_append(run_row(*number))).await;
    }
    let mut found = Vec::new();
    let mut before = None;
    loop {
        let page = journal.list_runs(RunFilter::default(), before, 10).await.unwrap();
        assert!(page.len() <= 10);
        let Some(last) = page.last() else { break };
        before = Some(last.id);
        found.extend(run_numbers(&page));
    }
    assert_eq!(found, expected);
    let none = journal.list_runs(RunFilter::default(), None, 0).await.unwrap();
    assert!(none.is_empty());
}

/// Runs 1 to 16: every combination of two tenants, sessions, workflows and states.
async fn append_all_combinations(journal: &dyn Journal) {
    for number in 0..16_u128 {
        let bit = |place: u32| number >> place & 1 == 1;
        let mut row = run_row(number + 1);
        row.caller = Caller::new(if bit(0) { "t1" } else { "t0" }, "user");
        row.session = session_id(if bit(1) { "s1" } else { "s0" });
        row.workflow.name = if bit(2) { "w1" } else { "w0" }.to_owned();
        row.state = [StateName::Failed, StateName::Completed][usize::from(bit(3))];
        append_accepted(journal, row_append(row)).await;
    }
}

/// The owner of the runs in that tenant.
fn owner_access(tenant: &str) -> Access {
    Access::own_only(Caller::new(tenant, "user"))
}

/// Proves X2.
pub async fn filters_work_together(journal: Arc<dyn Journal>) {
    append_all_combinations(&*journal).await;
    // Each of the sixteen combinations of omitted filters.
    for left_out in 0..16_u128 {
        let used = |place: u32| left_out >> place & 1 == 0;
        let filter = RunFilter {
            access: used(0).then(|| owner_access("t1")),
            session: used(1).then(|| session_id("s1")),
            workflow: used(2).then(|| "w1".to_owned()),
            states: if used(3) { vec![StateName::Completed] } else { vec![] },
        };
        let expected: Vec<u128> =
            (0..16_u128).filter(|number| number | left_out == 15).map(|number| number + 1).rev().collect();
        assert_eq!(list_run_numbers(&*journal, filter.clone()).await, expected, "{filter:?}");
        let page = journal.list_runs(filter, Some(run_id(16)), 2).await.unwrap();
        let rest: Vec<u128> = expected.into_iter().filter(|n| *n < 16).take(2).collect();
        assert_eq!(run_numbers(&page), rest);
    }
    let every_state = RunFilter { states: StateName::ALL.to_vec(), ..RunFilter::default() };
    assert_eq!(list_run_numbers(&*journal, every_state).await.len(), 16);
    let unknown = RunFilter { access: Some(owner_access("t")), ..RunFilter::default() };
    assert!(list_run_numbers(&*journal, unknown).await.is_empty());
}

/// Proves X6: a listing has what the access covers, in its order, for every owner.
pub async fn listings_show_what_the_access_covers(journal: Arc<dyn Journal>) {
    let owners = [("t", "ann"), ("t", "bob"), ("other", "ann"), ("t", "ann"), ("t", "bob")];
    for (number, (tenant, user)) in (1..).zip(owners) {
        let mut row = run_row(number);
        row.caller = Caller::new(tenant, user);
        row.status_at = timestamp(i64::try_from(number).unwrap());
        append_accepted(&*journal, row_append(row)).await;
    }
    let ann = || Caller::new("t", "ann");
    let eve = || Caller::new("t", "eve");
    let table = [
        (Access::own_only(ann()), vec![4, 1]),
        (Access::tenant_wide(ann()), vec![5, 4, 2, 1]),
        (Access::own_only(eve()), vec![]),
        (Access::tenant_wide(eve()), vec![5, 4, 2, 1]),
        (Access::own_only(Caller::new("other", "ann")), vec![3]),
        (Access::tenant_wide(Caller::new("nobody", "ann")), vec![]),
    ];
    for (access, expected) in table {
        let filter = |session| RunFilter { access: Some(access.clone()), session, ..RunFilter::default() };
        for filter in [filter(None), filter(Some(session_id("session")))] {
            assert_eq!(list_run_numbers(&*journal, filter.clone()).await, expected, "{filter:?}");
            let page = journal.list_runs(filter, Some(run_id(5)), 2).await.unwrap();
            let rest: Vec<u128> = expected.iter().copied().filter(|n| *n < 5).take(2).collect();
            assert_eq!(run_numbers(&page), rest, "{access:?}");
        }
        for session in [None, Some(session_id("session"))] {
            let query = StatusTimeQuery { session, ..StatusTimeQuery::new(access.clone(), 2) };
            let page = journal.list_runs_by_status_time(query.clone()).await.unwrap();
            assert_eq!(page.total, expected.len() as u64, "{access:?}");
            assert_eq!(run_numbers(&page.rows), expected[..expected.len().min(2)], "{access:?}");
            let after = page.rows.last().map(RunRow::status_time_cursor);
            let rest =
                journal.list_runs_by_status_time(StatusTimeQuery { after, ..query }).await.unwrap().rows;
            assert_eq!(run_numbers(&rest), expected[page.rows.len()..], "{access:?}");
        }
        let runs = journal.list_session_runs(access.clone(), session_id("session")).await.unwrap();
        assert_eq!(run_numbers(&runs), expected, "{access:?}");
        let sessions = journal.list_sessions(access.clone(), ALL).await.unwrap();
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
        let mut row = run_row(number);
        row.caller = Caller::new(tenant, user);
        row.session = session_id(name);
        row.workflow = WorkflowRef { name: workflow.to_owned(), version: "1".to_owned() };
        row.state = state;
        append_accepted(&*journal, row_append(row)).await;
    }
    let find = async |tenant: &str, workflow: Option<&str>, limit: usize| {
        let caller = Caller::new(tenant, "u");
        let workflow = workflow.map(str::to_owned);
        let found = journal.list_waiting_runs(caller, session_id("s"), workflow, limit).await;
        sorted_run_numbers(&found.unwrap())
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
    let mut row = run_row(1);
    row.state = StateName::InputRequired;
    let find = || journal.list_waiting_runs(row.caller.clone(), row.session.clone(), None, ALL);
    append_accepted(&*journal, row_append(row.clone())).await;
    assert_eq!(find().await.unwrap(), [row.id]);
    let mut working = row.clone();
    working.state = StateName::Working;
    append_accepted(&*journal, row_append(working)).await;
    assert!(find().await.unwrap().is_empty());
}

/// Proves X2: every unfinished run is found after a crash.
pub async fn runnable_and_parked_runs_are_found_in_pages(journal: Arc<dyn Journal>) {
    for number in 1..=40_u128 {
        let mut row = run_row(number);
        row.runnable = number % 4 == 1;
        row.parked = number % 4 == 2;
        append_accepted(&*journal, row_append(row)).await;
    }
    // A run that waits or has ended leaves the list.
    let ended = RunRow { runnable: false, ..run_row(1) };
    append_accepted(&*journal, row_append(ended)).await;
    let expected: Vec<u128> = (2..=40).filter(|n| matches!(n % 4, 1 | 2)).collect();
    let mut found = Vec::new();
    loop {
        let page = journal.claim_abandoned_runs(work_claim_at(0, 7)).await.unwrap();
        assert!(page.len() <= 7);
        if page.is_empty() {
            break;
        }
        found.extend(page.iter().map(|claimed| claimed.run.uuid().as_u128()));
    }
    assert_eq!(found, expected);
}
