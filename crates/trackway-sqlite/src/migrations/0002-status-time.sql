-- Listings by the time of the status, as clients see it. What was the time of the last change of state
-- becomes the time of the last status; for runs that are there already it is the nearest known.
ALTER TABLE runs RENAME COLUMN updated_at TO status_at;

-- Newest at the end, where writing is cheap; listings walk it backwards. It holds what listings are
-- filtered by, so that counting them need not read the table.
CREATE INDEX runs_by_status ON runs (tenant, status_at, id, workflow, state);
