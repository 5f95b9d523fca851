-- The schema. Ids and bodies are TEXT, so that the sqlite3 tool shows everything as it is. Everything
-- beside `events`, `claims`, `hooks` and `definitions` follows from the events and is kept for finding
-- things.

-- The log of all runs in the order of commits: rows are only ever added at the end of the table,
-- which is what makes writing cheap. `body` is the event as JSON; an event too large for a row lies
-- in the folder `blobs` under the name in `blob` instead. `append` is the id of the append, at its first
-- event: whether an append is there whose answer was lost.
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
    append INTEGER,
    UNIQUE (run, seq),
    CHECK ((body IS NULL) <> (blob IS NULL))
) STRICT;

-- Whether a file in `blobs` is still needed. Only events too large for a row are in it.
CREATE INDEX events_by_blob ON events (blob) WHERE blob IS NOT NULL;

-- One row per run. Ids grow with time, so clustering by id is also appending. `head` is the number of the
-- run's newest event when the row was written, by which a log that seems to end too early is noticed; every
-- append to a guided run writes it. `crc` is the checksum of the row. `epoch` counts how often the run was
-- taken by a worker; what was decided under an earlier one is refused. The checksum does not cover `epoch`
-- and `driver`: a wrong value makes a worker claim the run again.
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
    status_at INTEGER NOT NULL,
    head INTEGER NOT NULL,
    crc INTEGER NOT NULL,
    epoch INTEGER NOT NULL DEFAULT 0,
    driver TEXT
) STRICT, WITHOUT ROWID;

-- Runs to be driven after a start. A run leaves this index when it waits or ends, so it stays small. It
-- holds what its condition looks at, so that the table need not be read.
CREATE INDEX runs_to_drive ON runs (id, runnable, parked) WHERE runnable = 1 OR parked = 1;

-- Runs that wait for an answer, by who may give it.
CREATE INDEX runs_waiting ON runs (tenant, user, session, workflow)
    WHERE state IN ('input-required', 'auth-required');

-- Listings, newest first. Inside a tenant a user's runs are that user's: listings begin with both. Whoever
-- may see the runs of all users of a tenant pays for putting them in order.
CREATE INDEX runs_by_user ON runs (tenant, user, id);
CREATE INDEX runs_by_session ON runs (session, id);
CREATE INDEX runs_by_parent ON runs (parent, id) WHERE parent IS NOT NULL;

-- Listings by the time of the status. Newest at the end, where writing is cheap; listings walk it
-- backwards. It holds what listings are filtered by, so that counting them need not read the table.
CREATE INDEX runs_by_status ON runs (tenant, user, status_at, id, workflow, state);

-- `worker`, here and below: who has claimed it.
CREATE TABLE timers (
    run TEXT NOT NULL,
    timer TEXT NOT NULL,
    due INTEGER NOT NULL,
    worker TEXT,
    PRIMARY KEY (run, timer)
) STRICT, WITHOUT ROWID;

CREATE INDEX timers_by_due ON timers (due);

CREATE TABLE outbox (
    id TEXT PRIMARY KEY,
    body TEXT NOT NULL,
    worker TEXT
) STRICT, WITHOUT ROWID;

-- Hooks: who is told of a run's updates. They hold secrets, so they are rows and never events. In order
-- of their numbers they are in the order in which they were added.
CREATE TABLE hooks (
    number INTEGER PRIMARY KEY,
    run TEXT NOT NULL,
    id TEXT NOT NULL,
    target TEXT NOT NULL,
    delivered_through INTEGER NOT NULL,
    due INTEGER,
    failing_since INTEGER,
    attempts INTEGER NOT NULL,
    worker TEXT,
    UNIQUE (run, id)
) STRICT;

-- Hooks with something to deliver. An idle one is not in it.
CREATE INDEX hooks_by_due ON hooks (due) WHERE due IS NOT NULL;

-- Workers that are alive, where several processes work on one database. One that is not here, or whose
-- time is over, is not alive: what it has can be claimed by another.
CREATE TABLE workers (
    id TEXT PRIMARY KEY,
    until INTEGER NOT NULL
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

-- Runs that an outside agent drives. `nodes`, `attempts` and `checkpoints` follow from the events; they
-- lead to an event without reading the run's log. Where a row is lost or damaged, the log is read.

-- The event that made each node or last changed its definition (`seq`), the event that made it
-- (`created_seq`), and how many attempts have advanced from it or were blocked. `attempts_sum` is a sum over
-- the rows of the attempts at it, by which a lost or damaged row is noticed. `crc` is the checksum of this
-- row.
CREATE TABLE nodes (
    run TEXT NOT NULL,
    node TEXT NOT NULL,
    seq INTEGER NOT NULL,
    created_seq INTEGER NOT NULL,
    branches INTEGER NOT NULL,
    blocked INTEGER NOT NULL,
    attempts_sum INTEGER NOT NULL,
    crc INTEGER NOT NULL,
    PRIMARY KEY (run, node)
) STRICT;

-- Where each attempt was recorded, by what a repetition of it is recognised by. `child` is the node that
-- it made; none where it was blocked.
CREATE TABLE attempts (
    run TEXT NOT NULL,
    node TEXT NOT NULL,
    ack TEXT NOT NULL,
    digest TEXT NOT NULL,
    seq INTEGER NOT NULL,
    child TEXT,
    PRIMARY KEY (run, node, ack, digest)
) STRICT;

-- The notes on a node. A row that is lost or damaged hides one of them from a recap, and nothing else.
CREATE TABLE checkpoints (
    run TEXT NOT NULL,
    node TEXT NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (run, node, seq)
) STRICT, WITHOUT ROWID;

-- Definitions as they were when a run was pinned to them. Rows are large, so they are not clustered.
CREATE TABLE definitions (
    hash TEXT PRIMARY KEY,
    crc INTEGER NOT NULL,
    body TEXT NOT NULL
) STRICT;

-- Which run needs which definition. One that no run needs any more goes with the last that did.
CREATE TABLE pins (
    run TEXT NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (run, hash)
) STRICT, WITHOUT ROWID;

CREATE INDEX pins_by_hash ON pins (hash);

-- Facts about the store itself, by name.
CREATE TABLE meta (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
