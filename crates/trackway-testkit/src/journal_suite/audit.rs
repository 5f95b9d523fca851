//! The audit log: what was refused, per tenant, newest first, and not more than a tenant may keep.

use std::sync::Arc;

use futures_util::future::join_all;
use trackway_domain::{Caller, Timestamp};
use trackway_ports::{
    AUDIT_EVENTS_PER_TENANT_MAX, AuditCursor, AuditEvent, AuditLog, AuditPage, RefusedAction,
};

use super::StoreUnderTest;

fn refused(tenant: &str, object: &str) -> AuditEvent {
    let caller = Caller::new(tenant, "ann");
    let refused = RefusedAction { action: "artifact:read", object, reason: "unknown-artifact" };
    AuditEvent::new(Timestamp::from_millis(7), &caller, &refused)
}

fn objects(page: &AuditPage) -> Vec<&str> {
    page.events.iter().map(|event| event.object.as_str()).collect()
}

async fn list(audit: &Arc<dyn AuditLog>, tenant: &str) -> AuditPage {
    audit.list_audit_events(tenant.to_owned(), None, 100).await.unwrap()
}

/// Proves X6 and I10: an event is there for the next process, whatever its texts are, and only its tenant
/// reads it.
pub async fn audit_events_read_back<S: StoreUnderTest>() {
    let store = S::create_empty().await;
    let audit = store.open_audit().await;
    assert_eq!(list(&audit, "acme").await, AuditPage::default());
    let texts = ["", "r\u{e9}sum\u{e9}.pdf", "it's \"quoted\"", "\u{1f980}", "a\nb"];
    let events: Vec<_> = texts.iter().map(|text| refused("acme", text)).collect();
    audit.record_audit_events(events.clone()).await.unwrap();
    audit.record_audit_events(vec![refused("umbrella", "theirs")]).await.unwrap();
    audit.record_audit_events(Vec::new()).await.unwrap();
    for audit in [audit, store.open_audit().await] {
        let mut page = list(&audit, "acme").await;
        page.events.reverse();
        assert_eq!(page, AuditPage { events: events.clone(), next: None });
        assert_eq!(objects(&list(&audit, "umbrella").await), ["theirs"]);
        assert_eq!(list(&audit, "nobody").await, AuditPage::default());
    }
}

/// Proves X5: pages have no gap and no repetition, also while others record.
pub async fn audit_events_are_listed_in_pages<S: StoreUnderTest>() {
    let store = S::create_empty().await;
    let audit = store.open_audit().await;
    for number in 0..7 {
        audit.record_audit_events(vec![refused("acme", &format!("f{number}"))]).await.unwrap();
        audit.record_audit_events(vec![refused("umbrella", "theirs")]).await.unwrap();
    }
    let page = |before| audit.list_audit_events("acme".to_owned(), before, 3);
    let first = page(None).await.unwrap();
    assert_eq!(objects(&first), ["f6", "f5", "f4"]);
    audit.record_audit_events(vec![refused("acme", "meanwhile")]).await.unwrap();
    let second = page(first.next).await.unwrap();
    assert_eq!(objects(&second), ["f3", "f2", "f1"]);
    let third = page(second.next).await.unwrap();
    assert_eq!((objects(&third), third.next), (vec!["f0"], None));
    assert_eq!(page(Some(AuditCursor(0))).await.unwrap(), AuditPage::default());
    assert_eq!(objects(&page(Some(AuditCursor(u64::MAX))).await.unwrap()), ["meanwhile", "f6", "f5"]);
}

/// Proves X5: a tenant keeps its newest events, and does not push out those of another.
pub async fn the_oldest_audit_events_of_a_tenant_go<S: StoreUnderTest>() {
    let store = S::create_empty().await;
    let audit = store.open_audit().await;
    audit.record_audit_events(vec![refused("umbrella", "theirs"), refused("acme", "oldest")]).await.unwrap();
    let many = (1..AUDIT_EVENTS_PER_TENANT_MAX).map(|number| refused("acme", &format!("f{number}")));
    audit.record_audit_events(many.collect()).await.unwrap();
    let everything = AUDIT_EVENTS_PER_TENANT_MAX * 2;
    let all = audit.list_audit_events("acme".to_owned(), None, everything).await.unwrap();
    assert_eq!((all.events.len(), objects(&all).last()), (AUDIT_EVENTS_PER_TENANT_MAX, Some(&"oldest")));
    audit.record_audit_events(vec![refused("acme", "newer"), refused("acme", "newest")]).await.unwrap();
    let all = audit.list_audit_events("acme".to_owned(), None, everything).await.unwrap();
    assert_eq!((all.events.len(), all.next), (AUDIT_EVENTS_PER_TENANT_MAX, None));
    assert_eq!((objects(&all)[..2].to_vec(), objects(&all).last()), (vec!["newest", "newer"], Some(&"f2")));
    assert_eq!(objects(&list(&audit, "umbrella").await), ["theirs"]);
}

/// Proves X6: refusals that happen at once are all recorded.
pub async fn audit_events_at_once_are_all_there<S: StoreUnderTest>() {
    let store = S::create_empty().await;
    let audit = store.open_audit().await;
    let recorded = (0..16).map(|number| {
        let audit = audit.clone();
        tokio::spawn(async move {
            audit.record_audit_events(vec![refused("acme", &format!("f{number:02}"))]).await.unwrap();
        })
    });
    join_all(recorded).await.into_iter().for_each(|joined| joined.unwrap());
    let page = list(&audit, "acme").await;
    let mut found = objects(&page);
    found.sort_unstable();
    assert_eq!(found, (0..16).map(|number| format!("f{number:02}")).collect::<Vec<_>>());
}
