//! The feed: everything that a caller may see, in pages.

use std::sync::Arc;

use trackway_domain::{Access, Caller};
use trackway_ports::{FeedCursor, FeedPage, Journal, ReadError, RunRow};

use super::{StoreUnderTest, fresh, sample_appends::*};

/// The numbers of the events on all pages, with their runs, and the last cursor.
async fn load_feed(journal: &dyn Journal, access: &Access, limit: usize) -> (Vec<String>, FeedCursor) {
    load_feed_after(journal, access, FeedCursor::default(), limit).await
}

async fn load_feed_after(
    journal: &dyn Journal,
    access: &Access,
    mut cursor: FeedCursor,
    limit: usize,
) -> (Vec<String>, FeedCursor) {
    let mut seen = Vec::new();
    loop {
        let FeedPage { events, next, has_more: more } =
            journal.list_feed_events(access.clone(), cursor, limit).await.unwrap();
        assert!(events.len() <= limit);
        seen.extend(events.iter().map(|it| format!("{} of {}", event_number(&it.stored), it.run)));
        cursor = next;
        if !more {
            return (seen, cursor);
        }
    }
}

async fn append_first_event(journal: &dyn Journal, id: u128, caller: Caller) {
    let mut first = numbered_append(run_id(id), 0, [1]);
    first.row = Some(RunRow { caller, ..run_row(id) });
    append_accepted(journal, first).await;
}

/// Proves X1, X6: a tenant's page has the covered events, complete and in the order of each run.
pub async fn the_feed_has_everything_that_is_covered<S: StoreUnderTest>() {
    let (store, journal) = fresh::<S>().await;
    let callers = [("a", "ann"), ("a", "bob"), ("b", "ann")];
    for (id, (tenant, user)) in (1..).zip(callers) {
        append_first_event(&*journal, id, Caller::new(tenant, user)).await;
    }
    for seq in 1..5 {
        for id in 1..=3 {
            append_accepted(&*journal, numbered_append(run_id(id), seq, [seq + 1])).await;
        }
    }
    let of_run = |id: u128| (1..=5).map(move |number| format!("{number} of {}", run_id(id)));
    let table = [
        (Access::own_only(Caller::new("a", "ann")), vec![1]),
        (Access::own_only(Caller::new("a", "bob")), vec![2]),
        (Access::tenant_wide(Caller::new("a", "ann")), vec![1, 2]),
        (Access::own_only(Caller::new("b", "ann")), vec![3]),
        (Access::own_only(Caller::new("b", "bob")), vec![]),
    ];
    for (access, runs) in table {
        for limit in [1, 3, ALL] {
            let (seen, _) = load_feed(&*journal, &access, limit).await;
            assert_eq!(seen.len(), 5 * runs.len(), "{access:?}, {limit} at once");
            for id in &runs {
                let name = run_id(*id).to_string();
                let own = seen.iter().filter(|line| line.ends_with(&name)).cloned();
                assert!(own.eq(of_run(*id)), "{access:?}, {limit} at once: {seen:?}");
            }
        }
    }
    // A stored cursor continues in another process.
    let access = Access::own_only(Caller::new("a", "ann"));
    let (_, cursor) = load_feed(&*journal, &access, 2).await;
    append_accepted(&*journal, numbered_append(run_id(1), 5, [6])).await;
    append_accepted(&*journal, numbered_append(run_id(2), 5, [6])).await;
    let other = store.open_journal().await;
    let (seen, _) = load_feed_after(&*other, &access, cursor, ALL).await;
    assert_eq!(seen, [format!("6 of {}", run_id(1))]);
}

/// Proves X6: a cursor comes from a client, so it is checked.
pub async fn a_foreign_cursor_is_refused(journal: Arc<dyn Journal>) {
    append_first_event(&*journal, 1, Caller::new("a", "ann")).await;
    for text in ["x", "-1", "1.0", "99999999999999999999999", "1; DROP TABLE events", " "] {
        let access = Access::own_only(Caller::new("a", "ann"));
        let page = journal.list_feed_events(access, FeedCursor(text.to_owned()), 9).await;
        assert!(matches!(page, Err(ReadError::Broken { .. })), "{text}: {page:?}");
    }
}
