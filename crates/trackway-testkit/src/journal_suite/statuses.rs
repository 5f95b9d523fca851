//! Listings by the time of the status: order, pages, filters, totals.

use std::sync::Arc;

use trackway_domain::{Access, Caller, StateName, Timestamp};
use trackway_ports::{Journal, RunRow, StatusTimeCursor, StatusTimeQuery, WorkClaim};

use super::sample_appends::*;

/// A run of `tenant` whose status was published at that moment.
async fn append_status(journal: &dyn Journal, number: u128, status_at: i64) {
    let mut row = run_row(number);
    row.status_at = timestamp(status_at);
    append_accepted(journal, row_append(row)).await;
}

fn tenant_query(tenant: &str, limit: usize) -> StatusTimeQuery {
    StatusTimeQuery::new(Access::own_only(Caller::new(tenant, "user")), limit)
}

fn all_runs_query() -> StatusTimeQuery {
    tenant_query("tenant", ALL)
}

/// The ids on the page, in its order, and the total.
async fn list_page_numbers(journal: &dyn Journal, query: StatusTimeQuery) -> (Vec<u128>, u64) {
    let page = journal.list_runs_by_status_time(query).await.unwrap();
    (page.rows.iter().map(|row| row.id.uuid().as_u128()).collect(), page.total)
}

/// Proves L18.
pub async fn runs_are_listed_by_the_time_of_their_status(journal: Arc<dyn Journal>) {
    assert_eq!(list_page_numbers(&*journal, all_runs_query()).await, (vec![], 0));
    // At the same moment the greater id comes first.
    for (number, moment) in [(1, 30), (2, 10), (3, 20), (4, 20), (5, i64::MIN), (6, i64::MAX)] {
        append_status(&*journal, number, moment).await;
    }
    assert_eq!(list_page_numbers(&*journal, all_runs_query()).await, (vec![6, 1, 4, 3, 2, 5], 6));
    let rows = journal.list_runs_by_status_time(all_runs_query()).await.unwrap().rows;
    assert_eq!(rows[1], RunRow { status_at: timestamp(30), ..run_row(1) });
}

/// Proves L18.
pub async fn pages_by_status_have_no_gap_and_no_repetition(journal: Arc<dyn Journal>) {
    // Three runs at each moment, so that pages end between runs of the same moment.
    for number in 1..=25_u128 {
        append_status(&*journal, number << 90, i64::try_from(number / 3).unwrap()).await;
    }
    let expected: Vec<u128> = (1..=25).rev().map(|number| number << 90).collect();
    for limit in [1, 2, 10, 25, 100] {
        let mut found = Vec::new();
        let mut after = None;
        loop {
            let query = StatusTimeQuery { after, limit, ..all_runs_query() };
            let page = journal.list_runs_by_status_time(query).await.unwrap();
            assert!(page.rows.len() <= limit);
            assert_eq!(page.total, 25);
            let Some(last) = page.rows.last() else { break };
            after = Some(last.status_time_cursor());
            found.extend(page.rows.iter().map(|row| row.id.uuid().as_u128()));
        }
        assert_eq!(found, expected, "in pages of {limit}");
    }
    assert_eq!(
        list_page_numbers(&*journal, StatusTimeQuery { limit: 0, ..all_runs_query() }).await,
        (vec![], 25)
    );
    // A cursor does not need to be the position of a run.
    let between = Some(StatusTimeCursor { status_at: timestamp(1), id: run_id(0) });
    let rest = list_page_numbers(&*journal, StatusTimeQuery { after: between, ..all_runs_query() }).await.0;
    assert_eq!(rest, [2_u128 << 90, 1 << 90]);
}

/// Runs 1 to 32: every combination of two tenants, sessions, workflows, states and moments.
async fn write_thirty_two(journal: &dyn Journal) {
    for number in 0..32_u128 {
        let bit = |place: u32| number >> place & 1 == 1;
        let mut row = run_row(number + 1);
        row.caller = Caller::new(if bit(0) { "t1" } else { "t0" }, "user");
        row.session = session_id(if bit(1) { "s1" } else { "s0" });
        row.workflow.name = if bit(2) { "w1" } else { "w0" }.to_owned();
        row.state = [StateName::Failed, StateName::Completed][usize::from(bit(3))];
        row.status_at = timestamp(if bit(4) { 2_000 } else { 1_000 });
        append_accepted(journal, row_append(row)).await;
    }
}

/// Proves L18, X6: no query returns runs of another tenant.
pub async fn every_part_of_a_query_selects(journal: Arc<dyn Journal>) {
    write_thirty_two(&*journal).await;
    for asked in 0..16_u128 {
        let bit = |place: u32| asked >> place & 1 == 1;
        let mut query = tenant_query("t1", ALL);
        query.session = bit(0).then(|| session_id("s1"));
        query.workflow = bit(1).then(|| "w1".to_owned());
        query.state = bit(2).then_some(StateName::Completed);
        query.since = bit(3).then_some(timestamp(2_000));
        let wanted = asked << 1 | 1;
        let matching = (0..32_u128).filter(|number| number & wanted == wanted);
        let expected: Vec<u128> = matching.map(|number| number + 1).rev().collect();
        let total = expected.len() as u64;
        assert_eq!(list_page_numbers(&*journal, query.clone()).await, (expected, total), "for {query:?}");
    }
    let nobody = tenant_query("nobody", ALL);
    assert_eq!(list_page_numbers(&*journal, nobody).await, (vec![], 0));
    for (since, total) in [(i64::MIN, 16), (1_000, 16), (1_001, 8), (2_001, 0)] {
        let query = StatusTimeQuery { since: Some(timestamp(since)), ..tenant_query("t0", ALL) };
        assert_eq!(list_page_numbers(&*journal, query).await.1, total, "since {since}");
    }
}

/// Proves L18.
pub async fn a_run_moves_to_the_front_with_its_status(journal: Arc<dyn Journal>) {
    for number in 1..=3 {
        append_status(&*journal, number, 100).await;
    }
    append_status(&*journal, 2, 101).await;
    assert_eq!(list_page_numbers(&*journal, all_runs_query()).await, (vec![2, 3, 1], 3));
    // An unparked run shows its earlier status again.
    append_status(&*journal, 2, 100).await;
    assert_eq!(list_page_numbers(&*journal, all_runs_query()).await, (vec![3, 2, 1], 3));
}

/// Proves L18.
pub async fn the_total_counts_what_matches_on_any_page(journal: Arc<dyn Journal>) {
    write_thirty_two(&*journal).await;
    let mut query = tenant_query("t1", 3);
    query.state = Some(StateName::Failed);
    assert_eq!(list_page_numbers(&*journal, query.clone()).await, (vec![24, 22, 20], 8));
    query.after = Some(StatusTimeCursor { status_at: Timestamp(2_000), id: run_id(20) });
    assert_eq!(list_page_numbers(&*journal, query.clone()).await, (vec![18, 8, 6], 8));
    query.after = Some(StatusTimeCursor { status_at: Timestamp(1_000), id: run_id(2) });
    assert_eq!(list_page_numbers(&*journal, query).await, (vec![], 8));
}

/// Proves X2: every change of an append (a status time, a state, a mark) is stored.
pub async fn a_row_changes_in_any_of_its_parts(journal: Arc<dyn Journal>) {
    let mut expected = run_row(1);
    for (seq, change) in (0..).zip([
        |_: &mut RunRow| {},
        |row: &mut RunRow| row.status_at = timestamp(3_000),
        |row: &mut RunRow| row.runnable = false,
        |row: &mut RunRow| row.status_at = timestamp(1_000),
        |row: &mut RunRow| row.state = StateName::InputRequired,
        |row: &mut RunRow| (row.parked, row.status_at) = (true, timestamp(4_000)),
        |row: &mut RunRow| (row.parked, row.status_at) = (false, timestamp(1_000)),
        |row: &mut RunRow| row.status_at = timestamp(5_000),
    ]) {
        change(&mut expected);
        let mut append = numbered_append(run_id(1), seq, [seq]);
        append.row = Some(expected.clone());
        append_accepted(&*journal, append).await;
        assert_eq!(journal.find_run(run_id(1)).await.unwrap(), Some(expected.clone()), "change {seq}");
        let page = journal.list_runs_by_status_time(all_runs_query()).await.unwrap();
        assert_eq!((page.rows, page.total), (vec![expected.clone()], 1), "change {seq}");
        let waiting = journal.list_waiting_runs(expected.caller.clone(), session_id("session"), None, ALL);
        assert_eq!(!waiting.await.unwrap().is_empty(), expected.state.is_interrupted());
        // Claimed again each time, because its worker has no lease.
        let free = WorkClaim { worker: worker_id(seq.into()), ..work_claim_at(0, ALL) };
        let driven = !journal.claim_abandoned_runs(free).await.unwrap().is_empty();
        assert_eq!(driven, expected.runnable || expected.parked);
    }
}
