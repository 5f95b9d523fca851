-- Who drives a run and who does what is due, where several processes work on one database. A worker that
-- is not in `workers`, or whose time is over, is not alive: what it has can be claimed by another.
CREATE TABLE workers (
    id TEXT PRIMARY KEY,
    until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- `epoch` counts how often the run was taken; what was decided under an earlier one is refused. The
-- checksum of the row does not cover these two: a wrong value makes a worker claim the run again.
ALTER TABLE runs ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN driver TEXT;

-- Who has claimed it.
ALTER TABLE timers ADD COLUMN worker TEXT;
ALTER TABLE hooks ADD COLUMN worker TEXT;
ALTER TABLE outbox ADD COLUMN worker TEXT;

-- The id of the append, at its first event: whether an append is there whose answer was lost.
ALTER TABLE events ADD COLUMN append INTEGER;
