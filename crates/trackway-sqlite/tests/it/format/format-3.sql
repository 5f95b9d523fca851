PRAGMA user_version = 3;

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
INSERT INTO events (pos, run, seq, at, kind, format, crc, body, blob, append)
VALUES (1, 'run_00000000000000000000000000000001', 1, 1767225600000, 'submitted', 1, 1019836129, '{"submitted":{"run":"run_00000000000000000000000000000001","session":"ses-1","workflow":{"name":"travel","version":"1.0.0"},"caller":{"tenant":"acme","user":"ada"},"input":{"to":"Oslo"}}}', NULL, 42);
INSERT INTO events (pos, run, seq, at, kind, format, crc, body, blob, append)
VALUES (2, 'run_00000000000000000000000000000001', 2, 1767225600000, 'started', 1, 2223414304, '"started"', NULL, NULL);
INSERT INTO events (pos, run, seq, at, kind, format, crc, body, blob, append)
VALUES (3, 'run_00000000000000000000000000000001', 3, 1767225600000, 'step-done', 1, 1842735163, NULL, 'c2c3184b526a846cba6c893c8bedfe81412dc0aaecb0893554551886b4369958', NULL);
INSERT INTO events (pos, run, seq, at, kind, format, crc, body, blob, append)
VALUES (4, 'run_00000000000000000000000000000002', 1, 1767225600000, 'submitted', 1, 1578095090, '{"submitted":{"run":"run_00000000000000000000000000000002","session":"ses-1","workflow":{"name":"hotel","version":"1.0.0"},"caller":{"tenant":"acme","user":"ada"},"input":{"to":"Oslo"}}}', NULL, NULL);
INSERT INTO events (pos, run, seq, at, kind, format, crc, body, blob, append)
VALUES (5, 'run_00000000000000000000000000000003', 1, 1767225600010, 'submitted', 1, 1049095359, '{"submitted":{"run":"run_00000000000000000000000000000003","session":"ses-1","workflow":{"name":"review","version":"1.0.0"},"caller":{"tenant":"acme","user":"ada"},"input":{"to":"Oslo"}}}', NULL, NULL);
INSERT INTO events (pos, run, seq, at, kind, format, crc, body, blob, append)
VALUES (6, 'run_00000000000000000000000000000003', 2, 1767225600010, 'opened', 1, 2273996965, '{"guided":{"opened":{"node":{"id":"nod_00000000000000000000000000000001","definition":"sha256-aa","position":{"at":1},"context":{}},"reply":{"branch":{"forked":false,"index":0,"siblings":1},"stamp":{"key":"k1","text_version":1}},"documents":[]}}}', NULL, NULL);
INSERT INTO events (pos, run, seq, at, kind, format, crc, body, blob, append)
VALUES (7, 'run_00000000000000000000000000000003', 3, 1767225600010, 'attempted', 1, 1649041148, '{"guided":{"attempted":{"node":"nod_00000000000000000000000000000001","ack":"ack_00000000000000000000000000000001","digest":"d1","inputs":{},"outcome":{"blocked":{"code":"output-missing","message":"It is missing.","needs":[]}},"reply":{"branch":{"forked":false,"index":0,"siblings":1},"stamp":{"key":"k1","text_version":1}}}}}', NULL, NULL);
INSERT INTO events (pos, run, seq, at, kind, format, crc, body, blob, append)
VALUES (8, 'run_00000000000000000000000000000003', 4, 1767225600010, 'attempted', 1, 3541779182, '{"guided":{"attempted":{"node":"nod_00000000000000000000000000000001","ack":"ack_00000000000000000000000000000002","digest":"d2","inputs":{},"outcome":{"advanced":{"id":"nod_00000000000000000000000000000002","parent":"nod_00000000000000000000000000000001","definition":"sha256-aa","position":{"at":1},"context":{}}},"reply":{"branch":{"forked":false,"index":0,"siblings":1},"stamp":{"key":"k1","text_version":1}}}}}', NULL, NULL);
INSERT INTO events (pos, run, seq, at, kind, format, crc, body, blob, append)
VALUES (9, 'run_00000000000000000000000000000003', 5, 1767225600010, 'checkpointed', 1, 3164000479, '{"guided":{"checkpointed":{"node":"nod_00000000000000000000000000000002","notes":"Half way."}}}', NULL, NULL);
INSERT INTO events (pos, run, seq, at, kind, format, crc, body, blob, append)
VALUES (10, 'run_00000000000000000000000000000003', 6, 1767225600010, 'repinned', 1, 394519073, '{"guided":{"repinned":{"node":{"id":"nod_00000000000000000000000000000002","parent":"nod_00000000000000000000000000000001","definition":"sha256-bb","position":{"at":1},"context":{}}}}}', NULL, NULL);

CREATE INDEX events_by_blob ON events (blob) WHERE blob IS NOT NULL;

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
INSERT INTO runs (id, session, tenant, user, workflow, version, parent, state, runnable, parked, created_at, status_at, head, crc, epoch, driver)
VALUES ('run_00000000000000000000000000000001', 'ses-1', 'acme', 'ada', 'travel', '1.0.0', NULL, 'working', 1, 0, 1767225600000, 1767225600000, 3, 4253346444, 1, '000000000000000000000000000000a1');
INSERT INTO runs (id, session, tenant, user, workflow, version, parent, state, runnable, parked, created_at, status_at, head, crc, epoch, driver)
VALUES ('run_00000000000000000000000000000002', 'ses-1', 'acme', 'ada', 'hotel', '1.0.0', 'run_00000000000000000000000000000001', 'submitted', 0, 1, 1767225600000, 1767225600000, 1, 21956922, 0, NULL);
INSERT INTO runs (id, session, tenant, user, workflow, version, parent, state, runnable, parked, created_at, status_at, head, crc, epoch, driver)
VALUES ('run_00000000000000000000000000000003', 'ses-1', 'acme', 'ada', 'review', '1.0.0', NULL, 'working', 0, 0, 1767225600000, 1767225600000, 6, 2357434734, 0, NULL);

CREATE INDEX runs_to_drive ON runs (id, runnable, parked) WHERE runnable = 1 OR parked = 1;

CREATE INDEX runs_waiting ON runs (tenant, user, session, workflow)
    WHERE state IN ('input-required', 'auth-required');

CREATE INDEX runs_by_user ON runs (tenant, user, id);

CREATE INDEX runs_by_session ON runs (session, id);

CREATE INDEX runs_by_parent ON runs (parent, id) WHERE parent IS NOT NULL;

CREATE INDEX runs_by_status ON runs (tenant, user, status_at, id, workflow, state);

CREATE TABLE timers (
    run TEXT NOT NULL,
    timer TEXT NOT NULL,
    due INTEGER NOT NULL,
    worker TEXT,
    PRIMARY KEY (run, timer)
) STRICT, WITHOUT ROWID;
INSERT INTO timers (run, timer, due, worker)
VALUES ('run_00000000000000000000000000000001', 'deadline', 1767225660000, NULL);
INSERT INTO timers (run, timer, due, worker)
VALUES ('run_00000000000000000000000000000001', 'step:pay#0', 1767225601000, '000000000000000000000000000000a1');

CREATE INDEX timers_by_due ON timers (due);

CREATE TABLE outbox (
    id TEXT PRIMARY KEY,
    body TEXT NOT NULL,
    worker TEXT
) STRICT, WITHOUT ROWID;
INSERT INTO outbox (id, body, worker)
VALUES ('000000000000000000000000000000b1', '{"notify-parent":{"parent":"run_00000000000000000000000000000001","child":"run_00000000000000000000000000000002","outcome":{"state":"completed","output":{"hotel":"Grand"}}}}', '000000000000000000000000000000a1');

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
INSERT INTO hooks (number, run, id, target, delivered_through, due, failing_since, attempts, worker)
VALUES (1, 'run_00000000000000000000000000000001', 'failing', '{"token":"secret","url":"https://example.org/hook"}', 1, 1767225600500, 1767225600100, 1, '000000000000000000000000000000a1');
INSERT INTO hooks (number, run, id, target, delivered_through, due, failing_since, attempts, worker)
VALUES (2, 'run_00000000000000000000000000000001', 'idle', 'null', 3, NULL, NULL, 0, NULL);

CREATE INDEX hooks_by_due ON hooks (due) WHERE due IS NOT NULL;

CREATE TABLE workers (
    id TEXT PRIMARY KEY,
    until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO workers (id, until)
VALUES ('000000000000000000000000000000a1', 1767225609000);

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
INSERT INTO claims (number, tenant, user, message, run, digest, reply)
VALUES (1, 'acme', 'ada', 'm-1', 'run_00000000000000000000000000000001', 'digest of m-1', '{"kind":"submitted"}');

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
INSERT INTO nodes (run, node, seq, created_seq, branches, blocked, attempts_sum, crc)
VALUES ('run_00000000000000000000000000000003', 'nod_00000000000000000000000000000001', 2, 2, 1, 1, 8133189994, 1381406840);
INSERT INTO nodes (run, node, seq, created_seq, branches, blocked, attempts_sum, crc)
VALUES ('run_00000000000000000000000000000003', 'nod_00000000000000000000000000000002', 6, 4, 0, 0, 0, 830173099);

CREATE TABLE attempts (
    run TEXT NOT NULL,
    node TEXT NOT NULL,
    ack TEXT NOT NULL,
    digest TEXT NOT NULL,
    seq INTEGER NOT NULL,
    child TEXT,
    PRIMARY KEY (run, node, ack, digest)
) STRICT;
INSERT INTO attempts (run, node, ack, digest, seq, child)
VALUES ('run_00000000000000000000000000000003', 'nod_00000000000000000000000000000001', 'ack_00000000000000000000000000000001', 'd1', 3, NULL);
INSERT INTO attempts (run, node, ack, digest, seq, child)
VALUES ('run_00000000000000000000000000000003', 'nod_00000000000000000000000000000001', 'ack_00000000000000000000000000000002', 'd2', 4, 'nod_00000000000000000000000000000002');

CREATE TABLE checkpoints (
    run TEXT NOT NULL,
    node TEXT NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (run, node, seq)
) STRICT, WITHOUT ROWID;
INSERT INTO checkpoints (run, node, seq)
VALUES ('run_00000000000000000000000000000003', 'nod_00000000000000000000000000000002', 5);

CREATE TABLE definitions (
    hash TEXT PRIMARY KEY,
    crc INTEGER NOT NULL,
    body TEXT NOT NULL
) STRICT;
INSERT INTO definitions (hash, crc, body)
VALUES ('sha256-aa', 3978615947, '{"format":1,"id":"review"}');
INSERT INTO definitions (hash, crc, body)
VALUES ('sha256-bb', 3978615947, '{"format":1,"id":"review"}');

CREATE TABLE pins (
    run TEXT NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (run, hash)
) STRICT, WITHOUT ROWID;
INSERT INTO pins (run, hash)
VALUES ('run_00000000000000000000000000000003', 'sha256-aa');
INSERT INTO pins (run, hash)
VALUES ('run_00000000000000000000000000000003', 'sha256-bb');

CREATE INDEX pins_by_hash ON pins (hash);

CREATE TABLE meta (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO meta (name, value)
VALUES ('created-by', 'trackway 0.0.0');
INSERT INTO meta (name, value)
VALUES ('positions-used', '11');

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
INSERT INTO artifacts (id, tenant, user, scope, scope_user, scope_id, filename, version, media_type, size_bytes, sha256, created_at, run, session, tags, metadata, request, content, artifact, first_seq, last_seq, part, crc)
VALUES (1, 'acme', 'ada', 'session', 'ada', 'ses-1', 'data.csv', 0, 'text/csv', 12, NULL, 1767225600000, 'run_00000000000000000000000000000001', 'ses-1', '[]', '{}', NULL, 'attachment', NULL, 1, 1, 1, 1882471133);
INSERT INTO artifacts (id, tenant, user, scope, scope_user, scope_id, filename, version, media_type, size_bytes, sha256, created_at, run, session, tags, metadata, request, content, artifact, first_seq, last_seq, part, crc)
VALUES (2, 'acme', 'ada', 'session', 'ada', 'ses-1', 'out.csv', 0, 'text/csv', 24, NULL, 1767225600000, 'run_00000000000000000000000000000001', 'ses-1', '[]', '{}', NULL, 'yielded', 'out', 2, 3, NULL, 113986834);
INSERT INTO artifacts (id, tenant, user, scope, scope_user, scope_id, filename, version, media_type, size_bytes, sha256, created_at, run, session, tags, metadata, request, content, artifact, first_seq, last_seq, part, crc)
VALUES (3, 'acme', 'ada', 'run', 'ada', 'run_00000000000000000000000000000001', 'input.json', 0, 'application/json', 10, '10d28b9ee25379984a7c6f326f99e748666b2e20c5008bcb5206e4df53332bef', 1767225600030, 'run_00000000000000000000000000000001', 'ses-1', '["input"]', '{"schema":{"type":"object"}}', 'call-1', 'blob', NULL, NULL, NULL, NULL, 1006823495);
INSERT INTO artifacts (id, tenant, user, scope, scope_user, scope_id, filename, version, media_type, size_bytes, sha256, created_at, run, session, tags, metadata, request, content, artifact, first_seq, last_seq, part, crc)
VALUES (4, 'acme', 'ada', 'session', 'ada', 'ses-1', 'input.json', 0, 'application/json', 10, '10d28b9ee25379984a7c6f326f99e748666b2e20c5008bcb5206e4df53332bef', 1767225600030, 'run_00000000000000000000000000000001', 'ses-1', '["input"]', '{"schema":{"type":"object"}}', 'call-1', 'blob', NULL, NULL, NULL, NULL, 1997878170);
INSERT INTO artifacts (id, tenant, user, scope, scope_user, scope_id, filename, version, media_type, size_bytes, sha256, created_at, run, session, tags, metadata, request, content, artifact, first_seq, last_seq, part, crc)
VALUES (5, 'acme', 'ada', 'user', 'ada', '', 'input.json', 0, 'application/json', 10, '10d28b9ee25379984a7c6f326f99e748666b2e20c5008bcb5206e4df53332bef', 1767225600030, 'run_00000000000000000000000000000001', 'ses-1', '["input"]', '{"schema":{"type":"object"}}', 'call-1', 'blob', NULL, NULL, NULL, NULL, 2160680835);
INSERT INTO artifacts (id, tenant, user, scope, scope_user, scope_id, filename, version, media_type, size_bytes, sha256, created_at, run, session, tags, metadata, request, content, artifact, first_seq, last_seq, part, crc)
VALUES (6, 'acme', 'ada', 'tenant', '', '', 'input.json', 0, 'application/json', 10, '10d28b9ee25379984a7c6f326f99e748666b2e20c5008bcb5206e4df53332bef', 1767225600030, 'run_00000000000000000000000000000001', 'ses-1', '["input"]', '{"schema":{"type":"object"}}', 'call-1', 'blob', NULL, NULL, NULL, NULL, 2596218411);
INSERT INTO artifacts (id, tenant, user, scope, scope_user, scope_id, filename, version, media_type, size_bytes, sha256, created_at, run, session, tags, metadata, request, content, artifact, first_seq, last_seq, part, crc)
VALUES (7, 'acme', 'ada', 'tenant', '', '', 'input.json', 1, '', 0, NULL, 1767225600030, NULL, NULL, '[]', '{}', NULL, 'deleted', NULL, NULL, NULL, NULL, 0);

CREATE INDEX artifacts_by_user ON artifacts (tenant, user, id);

CREATE INDEX artifacts_of_tenant ON artifacts (tenant, id) WHERE scope = 'tenant';

CREATE INDEX artifacts_by_run ON artifacts (run, id) WHERE run IS NOT NULL;

CREATE INDEX artifacts_by_session ON artifacts (session, id) WHERE session IS NOT NULL;

CREATE INDEX artifacts_saved ON artifacts (tenant, user, size_bytes) WHERE sha256 IS NOT NULL;

CREATE INDEX artifacts_by_blob ON artifacts (sha256) WHERE sha256 IS NOT NULL;

CREATE UNIQUE INDEX artifacts_by_request
    ON artifacts (tenant, scope, scope_id, filename, scope_user, request) WHERE request IS NOT NULL;

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
INSERT INTO audit (id, at, tenant, user, action, object, reason, crc)
VALUES (1, 1767225600040, 'acme', 'ada', 'artifact:read', 'secret.txt', 'unknown', 1522694065);

CREATE INDEX audit_by_tenant ON audit (tenant, id);
