//! An audit log in memory.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
};

use trackway_ports::{
    AUDIT_EVENTS_PER_TENANT_MAX, AuditCursor, AuditEvent, AuditLog, AuditPage, ReadFuture, WriteFuture,
};

use crate::interceptors::lock_ignoring_poison;

/// An audit log in memory; clones share it.
#[derive(Debug, Clone, Default)]
pub struct MemoryAuditLog {
    /// In the order of recording, each with its number.
    events: Arc<Mutex<Vec<(u64, AuditEvent)>>>,
}

impl AuditLog for MemoryAuditLog {
    fn record_audit_events(&self, new: Vec<AuditEvent>) -> WriteFuture<'_> {
        Box::pin(async move {
            let mut events = lock_ignoring_poison(&self.events);
            let newest = events.last().map_or(0, |(number, _)| *number);
            let tenants: BTreeSet<String> = new.iter().map(|event| event.tenant.clone()).collect();
            events.extend((newest + 1..).zip(new));
            for tenant in tenants {
                let of_tenant = events.iter().filter(|(_, event)| event.tenant == tenant);
                let oldest_kept = of_tenant.rev().nth(AUDIT_EVENTS_PER_TENANT_MAX - 1);
                let oldest_kept = oldest_kept.map_or(0, |(number, _)| *number);
                events.retain(|(number, event)| event.tenant != tenant || *number >= oldest_kept);
            }
            Ok(())
        })
    }

    fn list_audit_events(
        &self,
        tenant: String,
        before: Option<AuditCursor>,
        limit: usize,
    ) -> ReadFuture<'_, AuditPage> {
        Box::pin(async move {
            let events = lock_ignoring_poison(&self.events);
            let before = before.map_or(u64::MAX, |cursor| cursor.0);
            let mut older =
                events.iter().rev().filter(|(number, event)| *number < before && event.tenant == tenant);
            let found: Vec<_> = older.by_ref().take(limit).collect();
            let next = found.last().filter(|_| older.next().is_some());
            Ok(AuditPage {
                next: next.map(|(number, _)| AuditCursor(*number)),
                events: found.into_iter().map(|(_, event)| event.clone()).collect(),
            })
        })
    }
}
