//! Pages of the log: long ones of small events, short ones of large events.

use trackway_ports::Journal as _;
use trackway_testkit::load_full_log;

use crate::helpers::*;

/// Proves X2: a reader that reads page by page never needs much memory, and misses nothing.
#[tokio::test]
async fn a_page_of_large_events_is_short_and_the_next_goes_on() {
    let (_folder, journal) = fresh_store();
    // Small bodies are in rows, the larger ones in blobs.
    for (number, (size, most)) in (1..).zip([(50_000, 6), (100_000, 3), (1_000_000, 1)]) {
        let run = run_id(number);
        let events = (0..20).map(|_| event(&"x".repeat(size)));
        append(&journal, appending(run, 0, events)).await.unwrap();
        let page = journal.list_events(run, 0, 20).await.unwrap();
        assert!((1..=most).contains(&page.len()), "{} of {size} bytes", page.len());
        let after = page.last().unwrap();
        assert_eq!(journal.list_events(run, after.seq, 20).await.unwrap()[0].seq, after.seq + 1);
        assert_eq!(
            journal.list_events_after_position(run, after.pos, 20).await.unwrap()[0].seq,
            after.seq + 1
        );
        assert_eq!(load_full_log(&journal, run).await.unwrap().len(), 20);
    }
    let small = run_id(9);
    append(&journal, appending(small, 0, (0..500).map(|_| event("small")))).await.unwrap();
    assert_eq!(journal.list_events(small, 0, 500).await.unwrap().len(), 500);
}
