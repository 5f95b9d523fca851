-- Hooks: who is told of a run's updates. They hold secrets, so they are rows and never events. In order
-- of their numbers they are in the order in which they were added.
CREATE TABLE hooks (
    number INTEGER PRIMARY KEY,
    run TEXT NOT NULL,
    id TEXT NOT NULL,
    target TEXT NOT NULL,
    after INTEGER NOT NULL,
    due INTEGER,
    failing_since INTEGER,
    attempts INTEGER NOT NULL,
    UNIQUE (run, id)
) STRICT;

-- Hooks with something to deliver. An idle one is not in it.
CREATE INDEX hooks_by_due ON hooks (due) WHERE due IS NOT NULL;
