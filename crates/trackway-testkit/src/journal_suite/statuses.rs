//! Listings by the time of the status: order, pages, filters, totals.

use std::sync::Arc;

use trackway_domain::{Access, Caller, StateName, Timestamp};
use trackway_ports::{Journal, RunPlace, RunQuery, RunRow, WorkClaim};

use super::samples::*;

/// A run of `tenant` whose status was published at that moment.
async fn publish(journal: &dyn Journal, number: u128, status_at: i64) {
    let mut row = row(number);
    row.status_at = at(status_at);
    write(journal, writing_row(row)).await;
}

fn of(tenant: &str, limit: usize) -> RunQuery {
    RunQuery::new(Access::own(Caller::new(tenant, "user")), limit)
}

fn all() -> RunQuery {
    of("tenant", ALL)
}

/// The ids on the page, in its order, and the total.
async fn page(journal: &dyn Journal, query: RunQuery) -> (Vec<u128>, u64) {
    let page = journal.runs_by_status(query).await.unwrap();
    (page.rows.iter().map(|row| row.id.uuid().as_u128()).collect(), page.total)
}

/// Proves L18.
pub async fn runs_are_listed_by_the_time_of_their_status(journal: Arc<dyn Journal>) {
    assert_eq!(page(&*journal, all()).await, (vec![], 0));
    // At the same moment the greater id comes first.
    for (number, moment) in [(1, 30), (2, 10), (3, 20), (4, 20), (5, i64::MIN), (6, i64::MAX)] {
        publish(&*journal, number, moment).await;
    }
    assert_eq!(page(&*journal, all()).await, (vec![6, 1, 4, 3, 2, 5], 6));
    let rows = journal.runs_by_status(all()).await.unwrap().rows;
    assert_eq!(rows[1], RunRow { status_at: at(30), ..row(1) });
}

/// Proves L18.
pub async fn pages_by_status_have_no_gap_and_no_repetition(journal: Arc<dyn Journal>) {
    // Three runs at each moment, so that pages end between runs of the same moment.
    for number in 1..=25_u128 {
        publish(&*journal, number << 90, i64::try_from(number / 3).unwrap()).await;
    }
    let expected: Vec<u128> = (1..=25).rev().map(|number| number << 90).collect();
    for limit in [1, 2, 10, 25, 100] {
        let mut found = Vec::new();
        let mut after = None;
        loop {
            let query = RunQuery { after, limit, ..all() };
            let page = journal.runs_by_status(query).await.unwrap();
            assert!(page.rows.len() <= limit);
            assert_eq!(page.total, 25);
            let Some(last) = page.rows.last() else { break };
            after = Some(last.place());
            found.extend(page.rows.iter().map(|row| row.id.uuid().as_u128()));
        }
        assert_eq!(found, expected, "in pages of {limit}");
    }
    assert_eq!(page(&*journal, RunQuery { limit: 0, ..all() }).await, (vec![], 25));
    // A cursor does not need to be the position of a run.
    let between = Some(RunPlace { status_at: at(1), id: run(0) });
    let rest = page(&*journal, RunQuery { after: between, ..all() }).await.0;
    assert_eq!(rest, [2_u128 << 90, 1 << 90]);
}

/// Runs 1 to 32: every combination of two tenants, sessions, workflows, states and moments.
async fn write_thirty_two(journal: &dyn Journal) {
    for number in 0..32_u128 {
        let bit = |place: u32| number >> place & 1 == 1;
        let mut row = row(number + 1);
        row.caller = Caller::new(if bit(0) { "t1" } else { "t0" }, "user");
        row.session = session(if bit(1) { "s1" } else { "s0" });
        row.workflow.name = if bit(2) { "w1" } else { "w0" }.to_owned();
        row.state = [StateName::Failed, StateName::Completed][usize::from(bit(3))];
        row.status_at = at(if bit(4) { 2_000 } else { 1_000 });
        write(journal, writing_row(row)).await;
    }
}

/// Proves L18, X6: no query returns runs of another tenant.
pub async fn every_part_of_a_query_selects(journal: Arc<dyn Journal>) {
    write_thirty_two(&*journal).await;
    for asked in 0..16_u128 {
        let bit = |place: u32| asked >> place & 1 == 1;
        let mut query = of("t1", ALL);
        query.session = bit(0).then(|| session("s1"));
        query.workflow = bit(1).then(|| "w1".to_owned());
        query.state = bit(2).then_some(StateName::Completed);
        query.since = bit(3).then_some(at(2_000));
        let wanted = asked << 1 | 1;
        let matching = (0..32_u128).filter(|number| number & wanted == wanted);
        let expected: Vec<u128> = matching.map(|number| number + 1).rev().collect();
        let total = expected.len() as u64;
        assert_eq!(page(&*journal, query.clone()).await, (expected, total), "for {query:?}");
    }
    let nobody = of("nobody", ALL);
    assert_eq!(page(&*journal, nobody).await, (vec![], 0));
    for (since, total) in [(i64::MIN, 16), (1_000, 16), (1_001, 8), (2_001, 0)] {
        let query = RunQuery { since: Some(at(since)), ..of("t0", ALL) };
        assert_eq!(page(&*journal, query).await.1, total, "since {since}");
    }
}

/// Proves L18.
pub async fn a_run_moves_to_the_front_with_its_status(journal: Arc<dyn Journal>) {
    for number in 1..=3 {
        publish(&*journal, number, 100).await;
    }
    publish(&*journal, 2, 101).await;
    assert_eq!(page(&*journal, all()).await, (vec![2, 3, 1], 3));
    // An unparked run shows its earlier status again.
    publish(&*journal, 2, 100).await;
    assert_eq!(page(&*journal, all()).await, (vec![3, 2, 1], 3));
}

/// Proves L18.
pub async fn the_total_counts_what_matches_on_any_page(journal: Arc<dyn Journal>) {
    write_thirty_two(&*journal).await;
    let mut query = of("t1", 3);
    query.state = Some(StateName::Failed);
    assert_eq!(page(&*journal, query.clone()).await, (vec![24, 22, 20], 8));
    query.after = Some(RunPlace { status_at: Timestamp(2_000), id: run(20) });
    assert_eq!(page(&*journal, query.clone()).await, (vec![18, 8, 6], 8));
    query.after = Some(RunPlace { status_at: Timestamp(1_000), id: run(2) });
    assert_eq!(page(&*journal, query).await, (vec![], 8));
}

/// Proves X2: every change of an append (a status time, a state, a mark) is stored.
pub async fn a_row_changes_in_any_of_its_parts(journal: Arc<dyn Journal>) {
    let mut expected = row(1);
    for (seq, change) in (0..).zip([
        |_: &mut RunRow| {},
        |row: &mut RunRow| row.status_at = at(3_000),
        |row: &mut RunRow| row.runnable = false,
        |row: &mut RunRow| row.status_at = at(1_000),
        |row: &mut RunRow| row.state = StateName::InputRequired,
        |row: &mut RunRow| (row.parked, row.status_at) = (true, at(4_000)),
        |row: &mut RunRow| (row.parked, row.status_at) = (false, at(1_000)),
        |row: &mut RunRow| row.status_at = at(5_000),
    ]) {
        change(&mut expected);
        let mut append = appending(run(1), seq, [seq]);
        append.row = Some(expected.clone());
        write(&*journal, append).await;
        assert_eq!(journal.run(run(1)).await.unwrap(), Some(expected.clone()), "change {seq}");
        let page = journal.runs_by_status(all()).await.unwrap();
        assert_eq!((page.rows, page.total), (vec![expected.clone()], 1), "change {seq}");
        let waiting = journal.waiting(expected.caller.clone(), session("session"), None, ALL);
        assert_eq!(!waiting.await.unwrap().is_empty(), expected.state.is_interrupted());
        // Claimed again each time, because its worker has no lease.
        let free = WorkClaim { worker: worker(seq.into()), ..claim_at(0, ALL) };
        let driven = !journal.claim_runs(free).await.unwrap().is_empty();
        assert_eq!(driven, expected.runnable || expected.parked);
    }
}
