//! The outbox: what one run owes to another.

use std::sync::Arc;

use trackway_domain::{CallChain, Caller, ChildOutcome, RunId, StateName, WorkflowRef};
use trackway_ports::{Append, Journal, OutboxChange, OutboxItem, OutboxRow};

use super::sample_appends::*;

fn sample_item(number: u128) -> OutboxItem {
    OutboxItem::CancelChild { child: run_id(number) }
}

fn outbox_append(id: RunId, outbox: Vec<OutboxChange>) -> Append {
    let mut append = Append::new(id, 0, timestamp(0));
    append.outbox_changes = outbox;
    append
}

fn add_item(number: u128) -> OutboxChange {
    OutboxChange::Add(outbox_id(number), sample_item(number))
}

fn remove_item(number: u128) -> OutboxChange {
    OutboxChange::Remove(outbox_id(number))
}

async fn outbox_ids(journal: &dyn Journal) -> Vec<u128> {
    let rows = journal.list_outbox(None, ALL).await.unwrap();
    rows.iter().map(|row| row.id.0.as_u128()).collect()
}

/// Proves X2: an errand stays until the append that completed it.
pub async fn rows_are_added_and_removed(journal: Arc<dyn Journal>) {
    append_accepted(&*journal, outbox_append(run_id(1), vec![add_item(3), add_item(1), add_item(2)])).await;
    assert_eq!(outbox_ids(&*journal).await, [1, 2, 3]);
    // Removed by the other run, which did the work.
    append_accepted(&*journal, outbox_append(run_id(2), vec![remove_item(2)])).await;
    assert_eq!(outbox_ids(&*journal).await, [1, 3]);
}

/// Proves X2.
pub async fn rows_are_read_in_pages(journal: Arc<dyn Journal>) {
    let many = (1..=25).map(|number| add_item(number << 100)).collect();
    append_accepted(&*journal, outbox_append(run_id(1), many)).await;
    let mut found = Vec::new();
    let mut after = None;
    loop {
        let page = journal.list_outbox(after, 10).await.unwrap();
        assert!(page.len() <= 10);
        let Some(last) = page.last() else { break };
        after = Some(last.id);
        found.extend(page);
    }
    let expected: Vec<OutboxRow> = (1..=25)
        .map(|number| OutboxRow { id: outbox_id(number << 100), item: sample_item(number << 100) })
        .collect();
    assert_eq!(found, expected);
    assert!(journal.list_outbox(None, 0).await.unwrap().is_empty());
}

/// Proves X2: an attempt that is repeated after a crash may remove its row again.
pub async fn removing_what_is_gone_is_no_error(journal: Arc<dyn Journal>) {
    append_accepted(&*journal, outbox_append(run_id(1), vec![remove_item(9), add_item(1)])).await;
    append_accepted(&*journal, outbox_append(run_id(1), vec![remove_item(1)])).await;
    append_accepted(&*journal, outbox_append(run_id(1), vec![remove_item(1)])).await;
    assert!(outbox_ids(&*journal).await.is_empty());
}

/// Proves X2: the changes of one append are applied in order.
pub async fn one_append_may_add_and_remove(journal: Arc<dyn Journal>) {
    let changes = vec![add_item(1), add_item(2), remove_item(1), add_item(3), remove_item(3), add_item(3)];
    append_accepted(&*journal, outbox_append(run_id(1), changes)).await;
    assert_eq!(outbox_ids(&*journal).await, [2, 3]);
}

/// Proves X2.
pub async fn every_kind_of_item_reads_back(journal: Arc<dyn Journal>) {
    let items = [
        OutboxItem::RunExit {
            of: run_id(1),
            exit: run_id(2),
            session: session_id("séance 🧵"),
            caller: Caller::new("täna\0nt", "user"),
            workflow: WorkflowRef { name: "w".to_owned(), version: "2".to_owned() },
            input: serde_json::json!({"deep": [1, 2.5, null, {"x": "y".repeat(100_000)}]}),
            call_chain: CallChain::default().extend("http://orders.example/"),
        },
        OutboxItem::CancelChild { child: run_id(2) },
        OutboxItem::NotifyParent {
            parent: run_id(1),
            child: run_id(2),
            outcome: ChildOutcome {
                state: StateName::Failed,
                output: serde_json::Value::Null,
                message: Some("no".to_owned()),
            },
        },
        OutboxItem::ReleaseStepNote {
            run: run_id(1),
            op: "step:a:b#c#2".parse().unwrap(),
            owner: Caller::new("täna\0nt", "user"),
            note: serde_json::json!({"task": "🧵", "x": "y".repeat(10_000)}),
            ended_at: timestamp(-7),
        },
    ];
    let added = (1..).zip(&items);
    let changes = added.map(|(number, item)| OutboxChange::Add(outbox_id(number), item.clone())).collect();
    append_accepted(&*journal, outbox_append(run_id(1), changes)).await;
    let rows = journal.list_outbox(None, ALL).await.unwrap();
    let found: Vec<OutboxItem> = rows.into_iter().map(|row| row.item).collect();
    assert_eq!(found, items);
}
