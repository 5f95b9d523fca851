//! Reads that must be fast in a large store use an index, in its order.

use std::time::Duration;

use rusqlite::Connection;
use trackway_domain::{Access, SessionId, StateName};
use trackway_ports::{RunFilter, StatusTimeQuery};

use super::{
    guided_index_reads::{ATTEMPT, ATTEMPTS_AT, HEAD, KIND, select_node_index_sql},
    hook_reads::NEXT,
    index_row_reads::{WAITING, WAITING_OF_WORKFLOW, list_runs_sql},
    lease_reads::{select_claimable_runs_sql, select_due_hooks_sql, select_due_timers_sql},
    session_reads::{RUNS_OF_SESSION, RUNS_OF_TENANT},
    status_time_listing::{
        AFTER_CURSOR, count_matching_runs_sql, select_runs_page_sql, status_time_condition_sql,
    },
};
use crate::database::DatabaseFolder;

/// The query plan of SQLite, one line per step.
fn plan(conn: &Connection, sql: &str) -> Vec<String> {
    let mut statement = conn.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
    let steps = statement.raw_query().mapped(|row| row.get(3));
    steps.collect::<Result<_, _>>().unwrap()
}

#[track_caller]
fn check(conn: &Connection, sql: &str, expected: &[&str]) {
    assert_eq!(plan(conn, sql), expected, "for {sql}");
}

#[test]
fn frequent_reads_use_their_index() {
    let folder = tempfile::tempdir().unwrap();
    let conn = DatabaseFolder::create_database_folder(folder.path(), Duration::from_secs(1))
        .unwrap()
        .open_writer_connection()
        .unwrap();
    let free = &plan(&conn, &select_claimable_runs_sql())[0];
    assert!(free.starts_with("SCAN runs USING INDEX runs_to_drive"), "{free}");
    check(
        &conn,
        WAITING,
        &[
            "SEARCH runs USING INDEX runs_waiting (tenant=? AND user=? AND session=?)",
            "USE TEMP B-TREE FOR ORDER BY",
        ],
    );
    check(
        &conn,
        WAITING_OF_WORKFLOW,
        &["SEARCH runs USING INDEX runs_waiting (tenant=? AND user=? AND session=? AND workflow=?)"],
    );
    // The tenant is found by the key of its run, and nothing is sorted.
    let due = plan(&conn, &select_due_hooks_sql());
    assert_eq!(due[0], "SEARCH hooks USING INDEX hooks_by_due (due<?)", "{due:?}");
    assert!(due.iter().all(|step| !step.contains("TEMP B-TREE FOR ORDER")), "{due:?}");
    assert!(due.iter().any(|step| step.starts_with("SEARCH runs USING")), "{due:?}");
    check(&conn, NEXT, &["SEARCH hooks USING COVERING INDEX hooks_by_due (due>?)"]);
    let due = plan(&conn, &select_due_timers_sql());
    assert_eq!(due[0], "SEARCH timers USING INDEX timers_by_due (due<?)", "{due:?}");
    assert!(due.iter().all(|step| !step.contains("FOR ORDER BY")), "{due:?}");
}

/// Proves T4: finding a node costs the same in a run of any length.
#[test]
fn guided_runs_are_read_through_their_keys() {
    let folder = tempfile::tempdir().unwrap();
    let conn = DatabaseFolder::create_database_folder(folder.path(), Duration::from_secs(1))
        .unwrap()
        .open_writer_connection()
        .unwrap();
    check(
        &conn,
        &select_node_index_sql(),
        &["SEARCH nodes USING INDEX sqlite_autoindex_nodes_1 (run=? AND node=?)"],
    );
    let at_node = "SEARCH attempts USING INDEX sqlite_autoindex_attempts_1 (run=? AND node=?)";
    check(&conn, ATTEMPTS_AT, &[at_node]);
    let attempt = "SEARCH attempts USING INDEX sqlite_autoindex_attempts_1 \
                   (run=? AND node=? AND ack=? AND digest=?)";
    check(&conn, ATTEMPT, &[attempt]);
    let newest = "SEARCH events USING COVERING INDEX sqlite_autoindex_events_1 (run=?)";
    check(&conn, HEAD, &[newest]);
    let kind = "SEARCH events USING INDEX sqlite_autoindex_events_1 (run=? AND seq=?)";
    check(&conn, KIND, &[kind]);
    for runs in [RUNS_OF_TENANT, RUNS_OF_SESSION] {
        let runs = &plan(&conn, runs)[0];
        assert!(runs.starts_with("SEARCH runs USING COVERING INDEX"), "{runs}");
    }
}

#[test]
fn listings_walk_an_index_from_its_new_end() {
    let folder = tempfile::tempdir().unwrap();
    let conn = DatabaseFolder::create_database_folder(folder.path(), Duration::from_secs(1))
        .unwrap()
        .open_writer_connection()
        .unwrap();
    let any = RunFilter::default;
    let own = RunFilter { access: Some(Access::local_without_auth()), ..any() };
    let of_session = RunFilter { session: Some(SessionId::new("s").unwrap()), ..own.clone() };
    let by_id = "SEARCH runs USING PRIMARY KEY (id<?)";
    check(&conn, &list_runs_sql(&any()).0, &[by_id]);
    check(
        &conn,
        &list_runs_sql(&own).0,
        &["SEARCH runs USING INDEX runs_by_user (tenant=? AND user=? AND id<?)"],
    );
    check(
        &conn,
        &list_runs_sql(&of_session).0,
        &["SEARCH runs USING INDEX runs_by_session (session=? AND id<?)"],
    );
    let failed = RunFilter { states: vec![StateName::Failed], ..any() };
    assert_eq!(plan(&conn, &list_runs_sql(&failed).0)[0], by_id);
}

#[test]
fn listings_by_status_walk_their_index_and_count_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let conn = DatabaseFolder::create_database_folder(folder.path(), Duration::from_secs(1))
        .unwrap()
        .open_writer_connection()
        .unwrap();
    let own = StatusTimeQuery::new(Access::local_without_auth(), 9);
    let of_state =
        StatusTimeQuery { workflow: Some("w".to_owned()), state: Some(StateName::Failed), ..own.clone() };
    for query in [&own, &of_state] {
        let (all, _) = status_time_condition_sql(query);
        let (page, next) =
            (select_runs_page_sql(&all), select_runs_page_sql(&format!("{all}{AFTER_CURSOR}")));
        check(&conn, &page, &["SEARCH runs USING INDEX runs_by_status (tenant=? AND user=?)"]);
        let behind = "SEARCH runs USING INDEX runs_by_status \
                      (tenant=? AND user=? AND (status_at,id)<(?,?))";
        check(&conn, &next, &[behind]);
        let counted = &plan(&conn, &count_matching_runs_sql(&all))[0];
        assert!(counted.starts_with("SEARCH runs USING COVERING INDEX"), "{counted}");
    }
    let of_session = StatusTimeQuery { session: Some(SessionId::new("s").unwrap()), ..own };
    let (all, _) = status_time_condition_sql(&of_session);
    let searched = &plan(&conn, &select_runs_page_sql(&all))[0];
    assert_eq!(searched, "SEARCH runs USING INDEX runs_by_session (session=?)");
}
