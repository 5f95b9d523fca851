-- Runs that an outside agent drives. `nodes` and `attempts` follow from the events and can be made anew
-- from them; they lead to an event without reading the run's log. They are not clustered by their keys,
-- so that a damaged key can be mended from its row.

-- Where each node was made, or read anew last, and how many attempts have advanced from it. `attempts`
-- is a sum over the rows of the attempts at it, by which a lost or damaged one is noticed; `crc` is the
-- checksum of this row itself.
CREATE TABLE nodes (
    run TEXT NOT NULL,
    node TEXT NOT NULL,
    seq INTEGER NOT NULL,
    branches INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    crc INTEGER NOT NULL,
    PRIMARY KEY (run, node)
) STRICT;

-- Where each attempt was recorded, by what a repetition of it is recognised by.
CREATE TABLE attempts (
    run TEXT NOT NULL,
    node TEXT NOT NULL,
    ack TEXT NOT NULL,
    digest TEXT NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (run, node, ack, digest)
) STRICT;

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

-- Whether a file in `blobs` is still needed. Only events too large for a row are in it.
CREATE INDEX events_by_blob ON events (blob) WHERE blob IS NOT NULL;
