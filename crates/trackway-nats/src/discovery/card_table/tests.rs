//! Which news follow from which announcements.

use serde_json::json;

use super::*;

const EXPIRY: Duration = Duration::from_secs(30);

fn announcement(started_millis: i64, version: u32) -> CardAnnouncement {
    let card = json!({ "version": version });
    CardAnnouncement { node: "ignored".to_owned(), started_millis, card }
}

fn arrived(agent: &str, version: u32) -> CardChange {
    CardChange::Arrived { agent: agent.to_owned(), card: Arc::new(json!({ "version": version })) }
}

fn left(agent: &str) -> CardChange {
    CardChange::Left { agent: agent.to_owned() }
}

#[tokio::test]
async fn nodes_that_offer_the_same_name_are_one_agent() {
    let now = Instant::now();
    let mut table = CardTable::new("me");
    assert_eq!(table.record("a", "n1", announcement(1, 1), now), [arrived("a", 1)]);
    assert_eq!(table.record("a", "n2", announcement(2, 1), now), []);
    assert_eq!(table.remove("a", "n1"), []);
    assert_eq!(table.remove("a", "n2"), [left("a")]);
    assert_eq!(table.remove("a", "n2"), []);
}

#[tokio::test]
async fn the_card_of_the_node_that_started_last_counts() {
    let now = Instant::now();
    let mut table = CardTable::new("me");
    table.record("a", "old", announcement(1, 1), now);
    assert_eq!(table.record("a", "new", announcement(2, 2), now), [arrived("a", 2)]);
    assert_eq!(table.record("a", "old", announcement(1, 1), now), [], "heartbeats do not take turns");
    assert_eq!(table.record("a", "new", announcement(2, 3), now), [arrived("a", 3)]);
    assert_eq!(table.remove("a", "new"), [arrived("a", 1)]);
}

#[tokio::test]
async fn what_only_this_node_offers_is_no_peer() {
    let now = Instant::now();
    let mut table = CardTable::new("me");
    assert_eq!(table.record("a", "me", announcement(1, 1), now), []);
    assert_eq!(table.record("a", "n1", announcement(2, 1), now), [arrived("a", 1)]);
    assert_eq!(table.remove("a", "n1"), [left("a")]);
}

#[tokio::test]
async fn a_card_that_is_not_renewed_expires() {
    let start = Instant::now();
    let mut table = CardTable::new("me");
    assert_eq!(table.next_expiry(EXPIRY), None);
    table.record("a", "n1", announcement(1, 1), start);
    table.record("b", "n1", announcement(1, 1), start + EXPIRY / 2);
    assert_eq!(table.next_expiry(EXPIRY), Some(start + EXPIRY));
    assert_eq!(table.expire(start + EXPIRY / 2, EXPIRY), []);
    assert_eq!(table.expire(start + EXPIRY, EXPIRY), [left("a")]);
    table.record("b", "n1", announcement(1, 1), start + EXPIRY);
    assert_eq!(table.expire(start + EXPIRY * 3 / 2, EXPIRY), [], "it was renewed");
    assert_eq!(table.expire(start + EXPIRY * 2, EXPIRY), [left("b")]);
    assert_eq!((table.next_expiry(EXPIRY), table.count), (None, 0));
}

#[tokio::test]
async fn there_is_a_limit_to_what_is_kept() {
    let now = Instant::now();
    let mut table = CardTable::new("me");
    for number in 0..CARDS_MAX {
        table.record(&format!("a{number}"), "n", announcement(1, 1), now);
    }
    assert_eq!(table.record("one-more", "n", announcement(1, 1), now), []);
    assert_eq!(table.record("a0", "n", announcement(1, 2), now), [arrived("a0", 2)], "known ones change");
    table.remove("a1", "n");
    assert_eq!(table.record("one-more", "n", announcement(1, 1), now), [arrived("one-more", 1)]);
}
