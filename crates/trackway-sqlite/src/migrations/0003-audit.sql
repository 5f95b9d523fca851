-- What callers were refused, per tenant; the oldest rows of a tenant are removed when there are too many.
-- Ids grow with each row, and the newest row of a tenant is never removed. `crc` is the checksum of the row.
CREATE TABLE audit (
    id INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    tenant TEXT NOT NULL,
    user TEXT NOT NULL,
    action TEXT NOT NULL,
    object TEXT NOT NULL,
    reason TEXT NOT NULL,
    crc INTEGER NOT NULL
) STRICT;

CREATE INDEX audit_by_tenant ON audit (tenant, id);
