-- What an agent that comes back is shown: how a node was reached, what was noted on it, what grew from it.
-- All of it follows from the events. Rows of nodes from before do not match their checksum any more, so
-- they are made anew from the log when somebody asks for them.

-- The event that made the node, also where another has read it anew since.
ALTER TABLE nodes ADD COLUMN made INTEGER NOT NULL DEFAULT 0;
-- How many attempts at it were blocked.
ALTER TABLE nodes ADD COLUMN blocked INTEGER NOT NULL DEFAULT 0;

-- The node that the attempt made; none where it was blocked.
ALTER TABLE attempts ADD COLUMN child TEXT;

-- The notes on a node. A row that is lost or damaged hides one of them from a recap, and nothing else.
CREATE TABLE checkpoints (
    run TEXT NOT NULL,
    node TEXT NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (run, node, seq)
) STRICT, WITHOUT ROWID;
