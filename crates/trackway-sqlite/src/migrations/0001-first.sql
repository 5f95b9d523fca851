-- The first schema. Ids and bodies are TEXT, so that the sqlite3 tool shows everything as it is.
-- Everything beside `events` and `claims` follows from the events and is kept for finding things.

-- The log of all runs in the order of commits: rows are only ever added at the end of the table,
-- which is what makes writing cheap. `body` is the event as JSON; an event too large for a row lies
-- in the folder `blobs` under the name in `blob` instead.
CREATE TABLE events (
    pos INTEGER PRIMARY KEY,
    run TEXT NOT NULL,
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    format INTEGER NOT NULL,
    crc INTEGER NOT NULL,
    body TEXT,
    blob TEXT,
    UNIQUE (run, seq),
    CHECK ((body IS NULL) <> (blob IS NULL))
) STRICT;

-- One row per run. Ids grow with time, so clustering by id is also appending.
CREATE TABLE runs (
    id TEXT PRIMARY KEY,
    session TEXT NOT NULL,
    tenant TEXT NOT NULL,
    user TEXT NOT NULL,
    workflow TEXT NOT NULL,
    version TEXT NOT NULL,
    parent TEXT,
    state TEXT NOT NULL,
    runnable INTEGER NOT NULL,
    parked INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Runs to be driven after a start. A run leaves this index when it waits or ends, so it stays small. It
-- holds what its condition looks at, so that the table need not be read.
CREATE INDEX runs_to_drive ON runs (id, runnable, parked) WHERE runnable = 1 OR parked = 1;

-- Runs that wait for an answer, by who may give it.
CREATE INDEX runs_waiting ON runs (tenant, user, session, workflow)
    WHERE state IN ('input-required', 'auth-required');

-- Listings, newest first.
CREATE INDEX runs_by_tenant ON runs (tenant, id);
CREATE INDEX runs_by_session ON runs (session, id);
CREATE INDEX runs_by_parent ON runs (parent, id) WHERE parent IS NOT NULL;

CREATE TABLE timers (
    run TEXT NOT NULL,
    timer TEXT NOT NULL,
    due INTEGER NOT NULL,
    PRIMARY KEY (run, timer)
) STRICT, WITHOUT ROWID;

CREATE INDEX timers_by_due ON timers (due);

CREATE TABLE outbox (
    id TEXT PRIMARY KEY,
    body TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Messages that were acted on. Callers choose message ids at random, so the rows are kept in order
-- of arrival and only the narrow index is in random order.
CREATE TABLE claims (
    number INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    user TEXT NOT NULL,
    message TEXT NOT NULL,
    run TEXT NOT NULL,
    digest TEXT NOT NULL,
    reply TEXT NOT NULL,
    UNIQUE (tenant, user, message)
) STRICT;

-- Facts about the store itself, by name.
CREATE TABLE meta (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
