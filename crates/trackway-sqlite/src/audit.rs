//! The audit log in the database.

use std::collections::BTreeSet;

use rusqlite::{Connection, Row, params, types::ValueRef};
use trackway_domain::Timestamp;
use trackway_ports::{
    AUDIT_EVENTS_PER_TENANT_MAX, AuditCursor, AuditEvent, AuditLog, AuditPage, ReadError, ReadFuture,
    WriteFuture,
};

use crate::{
    SqliteJournal, checksum::checksum_of_row_values, sqlite_error::to_read_error,
    write_jobs::MaintenanceRequest,
};

const INSERT: &str = "INSERT INTO audit (id, at, tenant, user, action, object, reason, crc)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";

/// Everything of the tenant that is older than its newest `?2` rows.
const REMOVE_OLDEST: &str = "DELETE FROM audit WHERE tenant = ?1 AND id <=
     (SELECT id FROM audit WHERE tenant = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)";

const LIST: &str = "SELECT id, at, tenant, user, action, object, reason, crc FROM audit
     WHERE tenant = ?1 AND id < ?2 ORDER BY id DESC LIMIT ?3";

/// The columns before the checksum.
const COVERED_COLUMNS: usize = 7;

impl AuditLog for SqliteJournal {
    fn record_audit_events(&self, events: Vec<AuditEvent>) -> WriteFuture<'_> {
        self.enqueue_maintenance_and_wait(MaintenanceRequest::RecordAudit(events))
    }

    fn list_audit_events(
        &self,
        tenant: String,
        before: Option<AuditCursor>,
        limit: usize,
    ) -> ReadFuture<'_, AuditPage> {
        self.read_on_pool(move |from| list_audit_rows(from.conn, &tenant, before, limit))
    }
}

/// Writes the events in the open transaction.
pub(crate) fn insert_audit_events(conn: &Connection, events: &[AuditEvent]) -> rusqlite::Result<()> {
    let newest: Option<i64> = conn.query_row("SELECT max(id) FROM audit", [], |row| row.get(0))?;
    let mut insert = conn.prepare_cached(INSERT)?;
    for (id, event) in (newest.unwrap_or(0) + 1..).zip(events) {
        let AuditEvent { at, tenant, user, action, object, reason } = event;
        let texts = [tenant, user, action, object, reason].map(|text| ValueRef::Text(text.as_bytes()));
        let numbers = [ValueRef::Integer(id), ValueRef::Integer(at.millis())];
        let crc = checksum_of_row_values(numbers.into_iter().chain(texts));
        insert.execute(params![id, at.millis(), tenant, user, action, object, reason, crc])?;
    }
    let mut remove = conn.prepare_cached(REMOVE_OLDEST)?;
    for tenant in events.iter().map(|event| &event.tenant).collect::<BTreeSet<_>>() {
        remove.execute(params![tenant, AUDIT_EVENTS_PER_TENANT_MAX as i64])?;
    }
    Ok(())
}

/// A page of the tenant's rows. A damaged row is logged and omitted.
fn list_audit_rows(
    conn: &Connection,
    tenant: &str,
    before: Option<AuditCursor>,
    limit: usize,
) -> Result<AuditPage, ReadError> {
    let before = before.map_or(i64::MAX, |cursor| i64::try_from(cursor.0).unwrap_or(i64::MAX));
    // One more row than asked for shows whether there is another page.
    let rows_max = i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1);
    let mut statement = conn.prepare_cached(LIST).map_err(to_read_error)?;
    let mut rows = statement.query(params![tenant, before, rows_max]).map_err(to_read_error)?;
    let (mut page, mut seen, mut last) = (AuditPage::default(), 0, None);
    while let Some(row) = rows.next().map_err(to_read_error)? {
        if seen == limit {
            page.next = last;
            break;
        }
        seen += 1;
        last = Some(AuditCursor(row.get::<_, i64>(0).map_err(to_read_error)?.unsigned_abs()));
        match decode_audit_row(row) {
            Ok(Some(event)) if event.tenant == tenant => page.events.push(event),
            Ok(_) => tracing::error!(row_kind = "audit event", "a damaged row is omitted"),
            Err(error) => tracing::error!(%error, row_kind = "audit event", "a damaged row is omitted"),
        }
    }
    Ok(page)
}

/// The event of a row, or `None` if the row does not have its checksum.
fn decode_audit_row(row: &Row<'_>) -> rusqlite::Result<Option<AuditEvent>> {
    let covered = (0..COVERED_COLUMNS).map(|column| row.get_ref(column)).collect::<Result<Vec<_>, _>>()?;
    if row.get::<_, u32>(COVERED_COLUMNS)? != checksum_of_row_values(covered.into_iter()) {
        return Ok(None);
    }
    Ok(Some(AuditEvent {
        at: Timestamp::from_millis(row.get(1)?),
        tenant: row.get(2)?,
        user: row.get(3)?,
        action: row.get(4)?,
        object: row.get(5)?,
        reason: row.get(6)?,
    }))
}
