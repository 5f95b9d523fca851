-- Versions of artifacts. `id` is the position in listings; it grows with each version. `user` made the version.
-- All versions of an artifact have the same tenant, scope, filename and holder: `scope_id` is the run or session
-- of its scope, and `scope_user` the owner of it, which is empty in the scope of a tenant, where every user may
-- add versions.
--
-- `content` says where the content is: `blob` in the file named by `sha256`; `yielded` in the events of `run`
-- with the id `artifact`, from `first_seq` to `last_seq`; `attachment` in part `part` of the message in event
-- `first_seq` of `run`. A version that is `deleted` only keeps its number from being used again. `request`
-- recognises a repeated request. `crc` is the checksum of the row; a deleted version has none.
CREATE TABLE artifacts (
    id INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    user TEXT NOT NULL,
    scope TEXT NOT NULL,
    scope_user TEXT NOT NULL,
    scope_id TEXT NOT NULL,
    filename TEXT NOT NULL,
    version INTEGER NOT NULL,
    media_type TEXT NOT NULL,
    size_bytes INTEGER NOT NULL,
    sha256 TEXT,
    created_at INTEGER NOT NULL,
    run TEXT,
    session TEXT,
    tags TEXT NOT NULL,
    metadata TEXT NOT NULL,
    request TEXT,
    content TEXT NOT NULL,
    artifact TEXT,
    first_seq INTEGER,
    last_seq INTEGER,
    part INTEGER,
    crc INTEGER NOT NULL,
    UNIQUE (tenant, scope, scope_id, filename, scope_user, version)
) STRICT;

-- Listings of what a user made, newest first, and of what all users of the tenant share.
CREATE INDEX artifacts_by_user ON artifacts (tenant, user, id);
CREATE INDEX artifacts_of_tenant ON artifacts (tenant, id) WHERE scope = 'tenant';

-- What a run or a session made, and what goes when it is removed.
CREATE INDEX artifacts_by_run ON artifacts (run, id) WHERE run IS NOT NULL;
CREATE INDEX artifacts_by_session ON artifacts (session, id) WHERE session IS NOT NULL;

-- What a user has saved, added up without reading the table.
CREATE INDEX artifacts_saved ON artifacts (tenant, user, size_bytes) WHERE sha256 IS NOT NULL;

-- Whether a file in `blobs` is still needed.
CREATE INDEX artifacts_by_blob ON artifacts (sha256) WHERE sha256 IS NOT NULL;

CREATE UNIQUE INDEX artifacts_by_request
    ON artifacts (tenant, scope, scope_id, filename, scope_user, request) WHERE request IS NOT NULL;
