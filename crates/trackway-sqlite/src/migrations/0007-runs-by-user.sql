-- Inside a tenant a user's runs are that user's: listings begin with both. Whoever may see the runs of
-- all users of a tenant pays for putting them in order.
DROP INDEX runs_by_tenant;
CREATE INDEX runs_by_user ON runs (tenant, user, id);

DROP INDEX runs_by_status;
CREATE INDEX runs_by_status ON runs (tenant, user, status_at, id, workflow, state);
