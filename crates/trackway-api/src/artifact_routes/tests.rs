//! The routes over a store in memory: who gets what, which bytes, and what is refused.

use axum::{
    body::to_bytes,
    http::{Method, Request},
};
use futures_util::future::join_all;
use serde_json::{Value, json};
use tower::ServiceExt as _;
use trackway_artifacts::{
    ArtifactLimits, ArtifactLookup, ArtifactServiceOptions, ReferenceKey, ReferenceKeys,
};
use trackway_domain::{Access, Caller, Scopes};
use trackway_ports::{Authenticator, Credentials, Identity, NoAuditRecorder, PortFuture, Unauthenticated};
use trackway_testkit::{GuidedRunBuilder, ManualClock, MemoryJournal};

use super::*;

/// Takes `TENANT/USER/SCOPE,SCOPE` for a key.
#[derive(Debug)]
struct ReadableKeys;

impl Authenticator for ReadableKeys {
    fn authenticate<'a>(
        &'a self,
        credentials: Credentials<'a>,
    ) -> PortFuture<'a, Result<Identity, Unauthenticated>> {
        let bearer = credentials.bearer.unwrap_or_default().to_owned();
        Box::pin(async move {
            let parts: Vec<&str> = bearer.split('/').collect();
            let [tenant, user, scopes] = parts[..] else { return Err(Unauthenticated::Missing) };
            let scopes = Scopes::new(scopes.split(',')).unwrap();
            Ok(Identity::new(Caller::new(tenant, user), scopes))
        })
    }
}

#[derive(Debug)]
struct OneKey;

impl ReferenceKeys for OneKey {
    fn load_reference_keys(&self) -> PortFuture<'_, Vec<ReferenceKey>> {
        let key = ReferenceKey { name: "aa".to_owned(), secret: Some([1; 32]) };
        Box::pin(async move { vec![key] })
    }
}

const ANN: &str = "acme/ann/*";

struct TestDoor {
    router: Router,
    artifacts: Arc<ArtifactService>,
    references: ReferenceSigner,
    clock: Arc<ManualClock>,
    /// A run of ann.
    run: String,
}

#[derive(Debug)]
struct Answer {
    status: u16,
    headers: HeaderMap,
    body: Vec<u8>,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    #[track_caller]
    fn expect_problem(&self, status: u16, code: &str) {
        assert_eq!((self.status, self.json()["code"].as_str()), (status, Some(code)), "{self:?}");
        assert_eq!(self.headers[header::CONTENT_TYPE], "application/problem+json");
    }
}

impl TestDoor {
    async fn open() -> Self {
        Self::open_with(ArtifactLimits::default()).await
    }

    async fn open_with(limits: ArtifactLimits) -> Self {
        let (journal, clock) = (MemoryJournal::new(), Arc::new(ManualClock::new()));
        let run = GuidedRunBuilder::new_guided_run(1, "s", "review").with_caller(&Caller::new("acme", "ann"));
        let run = run.open_node("a");
        run.append_to_journal(&journal).await;
        let artifacts = Arc::new(ArtifactService::new(ArtifactServiceOptions {
            store: Arc::new(journal.clone()),
            blobs: Arc::new(journal.blob_store()),
            journal: Arc::new(journal.clone()),
            clock: clock.clone(),
            limits,
            audit: Arc::new(NoAuditRecorder),
        }));
        let base = Some("http://node.example".to_owned());
        let references = ReferenceSigner::new(Arc::new(OneKey), clock.clone(), base);
        let router = artifacts_api_router(ArtifactApiOptions {
            artifacts: artifacts.clone(),
            references: references.clone(),
            gate: Some(Arc::new(ReadableKeys)),
        });
        Self { router, artifacts, references, clock, run: run.run_id().to_string() }
    }

    async fn send(
        &self,
        method: &str,
        path: &str,
        key: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Answer {
        let mut request = Request::builder().method(method.parse::<Method>().unwrap()).uri(path);
        request = request.header("authorization", format!("Bearer {key}"));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Body::from(body.to_owned())).unwrap();
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (head, body) = response.into_parts();
        let body = to_bytes(body, usize::MAX).await.unwrap().to_vec();
        Answer { status: head.status.as_u16(), headers: head.headers, body }
    }

    async fn put(&self, path: &str, body: &str) -> Answer {
        self.send("PUT", path, ANN, &[], body).await
    }

    async fn get(&self, path: &str) -> Answer {
        self.send("GET", path, ANN, &[], "").await
    }

    /// The parameters that name a scope.
    fn scope_query(&self, scope: &str) -> String {
        match scope {
            "run" => format!("scope=run&run={}", self.run),
            "session" => "scope=session&session=s".to_owned(),
            scope => format!("scope={scope}"),
        }
    }
}

/// What a caller gets of an artifact of ann.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Expected {
    Allowed,
    Unknown,
    Forbidden,
}

/// Proves I10, X6: every kind of caller against every route and every scope of another's artifact.
#[tokio::test]
async fn every_caller_at_every_route_gets_only_what_it_may() {
    use Expected::{Allowed, Forbidden, Unknown};
    let nothing = [Unknown; 4];
    // The scopes are run, session, user and tenant: first for reading, then for writing.
    let table: [(&str, [Expected; 4], [Expected; 4]); 9] = [
        ("acme/ann/*", [Allowed; 4], [Allowed; 4]),
        ("acme/ann/artifact:read,artifact:write", [Allowed; 4], [Allowed; 4]),
        ("acme/ann/artifact:read", [Allowed; 4], [Forbidden; 4]),
        ("acme/ann/artifact:write", [Forbidden; 4], [Allowed; 4]),
        ("acme/ann/workflow:*,agent:*,tenant", [Forbidden; 4], [Forbidden; 4]),
        ("acme/bob/*", [Unknown, Unknown, Unknown, Allowed], [Unknown, Unknown, Unknown, Allowed]),
        ("acme/bob/*,tenant", [Allowed, Allowed, Unknown, Allowed], [Allowed, Allowed, Unknown, Allowed]),
        ("bolt/ann/*", nothing, nothing),
        ("bolt/ann/*,tenant", nothing, nothing),
    ];
    for (key, reads, writes) in table {
        for ((scope, read), write) in ["run", "session", "user", "tenant"].into_iter().zip(reads).zip(writes)
        {
            let who = format!("{key}, {scope}");
            let door = TestDoor::open().await;
            let query = door.scope_query(scope);
            let path = format!("/api/artifacts/f.txt?{query}");
            assert_eq!(door.put(&path, "secret").await.status, 201, "{who}");
            for (method, route) in [
                ("GET", path.clone()),
                ("HEAD", path.clone()),
                ("GET", format!("{path}&version=0")),
                ("GET", format!("/api/artifacts/f.txt/versions?{query}")),
            ] {
                let answer = door.send(method, &route, key, &[], "").await;
                let status = match read {
                    Allowed => 200,
                    Unknown => 404,
                    Forbidden => 403,
                };
                assert_eq!(answer.status, status, "{who}: {method} {route} {answer:?}");
                if method == "GET" && read == Unknown {
                    answer.expect_problem(404, "unknown-artifact");
                    // The words are those for a name that nobody has.
                    let missing = door.send(method, &route.replace("f.txt", "g.txt"), key, &[], "").await;
                    let text = String::from_utf8(missing.body).unwrap().replace("g.txt", "f.txt");
                    assert_eq!(text.as_bytes(), answer.body, "{who}");
                }
            }
            let listed = door.send("GET", "/api/artifacts", key, &[], "").await;
            match read {
                Forbidden => listed.expect_problem(403, "forbidden"),
                _ => assert_eq!(
                    listed.json()["items"].as_array().unwrap().len(),
                    usize::from(read == Allowed),
                    "{who}: {listed:?}"
                ),
            }
            let removed = door.send("DELETE", &path, key, &[], "").await;
            let status = match write {
                Allowed => 204,
                Unknown => 404,
                Forbidden => 403,
            };
            assert_eq!(removed.status, status, "{who}: {removed:?}");
            let left = door.get(&path).await.status;
            assert_eq!(left, if write == Allowed { 404 } else { 200 }, "{who}");

            // Storing under the same name never changes what the caller may not use.
            let door = TestDoor::open().await;
            let path = format!("/api/artifacts/f.txt?{}", door.scope_query(scope));
            door.put(&path, "secret").await;
            let stored = door.send("PUT", &path, key, &[], "mine").await;
            match (write, scope) {
                (Forbidden, _) => stored.expect_problem(403, "forbidden"),
                (Unknown, "run") => stored.expect_problem(404, "unknown-run"),
                (Allowed | Unknown, _) => assert_eq!(stored.status, 201, "{who}: {stored:?}"),
            }
            if write != Allowed {
                assert_eq!(door.get(&path).await.body, b"secret", "{who}");
            }
        }
    }
}

/// Proves I10: the narrowest scope that has the name decides.
#[tokio::test]
async fn a_name_is_looked_up_from_the_run_to_the_tenant() {
    let door = TestDoor::open().await;
    let place = format!("session=s&run={}", door.run);
    let mut expected = None;
    for scope in ["tenant", "user", "session", "run"] {
        let read = door.get(&format!("/api/artifacts/f.txt?{place}")).await;
        match expected {
            None => read.expect_problem(404, "unknown-artifact"),
            Some(scope) => assert_eq!(String::from_utf8(read.body).unwrap(), scope),
        }
        door.put(&format!("/api/artifacts/f.txt?{}", door.scope_query(scope)), scope).await;
        expected = Some(scope);
    }
    assert_eq!(door.get("/api/artifacts/f.txt").await.body, b"user");
    assert_eq!(door.get(&format!("/api/artifacts/f.txt?{place}")).await.body, b"run");
    // A repeated delete does not reach the next scope.
    let path = "/api/artifacts/f.txt?session=s";
    assert_eq!(door.send("DELETE", path, ANN, &[], "").await.status, 204);
    door.send("DELETE", path, ANN, &[], "").await.expect_problem(404, "unknown-artifact");
    assert_eq!(door.get(path).await.body, b"user");
}

/// Proves I10: 50 writers of one name make versions 0 to 49, and each content is at its own version.
#[tokio::test]
async fn parallel_writers_make_versions_without_gaps() {
    let door = TestDoor::open().await;
    let puts = (0..50).map(|number| {
        let door = &door;
        async move { door.put("/api/artifacts/f.txt", &number.to_string()).await.json() }
    });
    let mut versions = Vec::new();
    for (number, stored) in join_all(puts).await.into_iter().enumerate() {
        let version = stored["version"].as_u64().unwrap();
        let read = door.get(&format!("/api/artifacts/f.txt?version={version}")).await;
        assert_eq!(read.body, number.to_string().as_bytes());
        versions.push(version);
    }
    versions.sort_unstable();
    assert_eq!(versions, (0..50).collect::<Vec<_>>());
    let page = door.get("/api/artifacts/f.txt/versions?limit=20").await.json();
    assert_eq!(page["items"][0]["version"], 49);
    let next = page["next"].as_str().unwrap();
    let page = door.get(&format!("/api/artifacts/f.txt/versions?limit=20&cursor={next}")).await.json();
    assert_eq!(page["items"][0]["version"], 29);
}

/// Conditions and ranges over the route; the tables of their forms are in `byte_range`.
#[tokio::test]
async fn content_is_sent_whole_in_part_or_not_again() {
    let door = TestDoor::open().await;
    door.put("/api/artifacts/%C3%BCber%20x.html", "0123456789").await;
    let path = "/api/artifacts/%C3%BCber%20x.html";
    let whole = door.get(path).await;
    assert_eq!((whole.status, whole.body.as_slice()), (200, b"0123456789".as_slice()));
    let header = |answer: &Answer, name: &str| answer.headers[name].to_str().unwrap().to_owned();
    assert_eq!(header(&whole, "content-type"), "text/html");
    assert_eq!(header(&whole, "x-content-type-options"), "nosniff");
    assert!(header(&whole, "content-security-policy").starts_with("sandbox"));
    assert!(header(&whole, "content-disposition").starts_with("attachment;"));
    assert!(header(&whole, "content-disposition").ends_with("filename*=UTF-8''%C3%BCber%20x.html"));
    assert_eq!(header(&whole, "trackway-artifact-version"), "0");
    let etag = header(&whole, "etag");

    let head = door.send("HEAD", path, ANN, &[], "").await;
    assert_eq!((head.status, head.body.len()), (200, 0));
    assert_eq!((header(&head, "content-length"), header(&head, "etag")), ("10".to_owned(), etag.clone()));

    let same = door.send("GET", path, ANN, &[("if-none-match", &etag)], "").await;
    assert_eq!((same.status, same.body.len()), (304, 0));
    let part = door.send("GET", path, ANN, &[("range", "bytes=2-4"), ("if-range", &etag)], "").await;
    assert_eq!((part.status, part.body.as_slice()), (206, b"234".as_slice()));
    assert_eq!(header(&part, "content-range"), "bytes 2-4/10");
    let none = door.send("GET", path, ANN, &[("range", "bytes=10-")], "").await;
    none.expect_problem(416, "invalid-request");
    assert_eq!(header(&none, "content-range"), "bytes */10");

    door.put(path, "0123456789").await;
    let newer = door.send("GET", path, ANN, &[("if-none-match", &etag)], "").await;
    assert_eq!((newer.status, header(&newer, "trackway-artifact-version")), (200, "1".to_owned()));
    for version in ["0", "0.0", "1.0"] {
        assert_eq!(door.get(&format!("{path}?version={version}")).await.status, 200, "{version}");
    }
}

/// Proves X5: hostile names, parameters, headers and bodies are problems, and change nothing.
#[tokio::test]
async fn bad_requests_are_problems() {
    let limits = ArtifactLimits { bytes_max: 10, ..ArtifactLimits::default() };
    let door = TestDoor::open_with(limits).await;
    let long = "a".repeat(300);
    for name in ["%2e%2e", "..%2fx", "a%2Fb", "a%5Cb", "%00", "a%0Ab", "%20", "%E2%80%AEx", &long, "%ff"] {
        for method in ["PUT", "GET", "DELETE"] {
            let answer = door.send(method, &format!("/api/artifacts/{name}"), ANN, &[], "x").await;
            answer.expect_problem(400, "invalid-request");
        }
    }
    for query in [
        "scope=world",
        "scope=session",
        "scope=run",
        "session=s",
        "scope=user&session=s",
        "colour=red",
        "scope=run&run=me",
        "scope=tenant&run=run_00000000000000000000000000000001",
    ] {
        let answer = door.put(&format!("/api/artifacts/a?{query}"), "x").await;
        answer.expect_problem(400, "invalid-request");
    }
    for query in ["version=-1", "version=1.5", "version=x", "version=4294967296", "limit=1"] {
        door.get(&format!("/api/artifacts/a?{query}")).await.expect_problem(400, "invalid-request");
    }
    for query in ["limit=0", "limit=501", "cursor=x", "scope=all", "version=1"] {
        door.get(&format!("/api/artifacts?{query}")).await.expect_problem(400, "invalid-request");
    }
    for (name, value, status) in [
        ("if-match", "\"x\"", 400),
        ("if-none-match", "\"x\"", 400),
        ("content-range", "bytes 0-1/4", 400),
        ("content-encoding", "gzip", 415),
        ("idempotency-key", " ", 400),
    ] {
        let answer = door.send("PUT", "/api/artifacts/a", ANN, &[(name, value)], "x").await;
        answer.expect_problem(status, "invalid-request");
    }
    door.put("/api/artifacts/a", "12345678901").await.expect_problem(413, "too-large");
    door.put(&format!("/api/artifacts/a?tags={}", "t,".repeat(100)), "x").await;
    let key = "k".repeat(300);
    let headers = [("idempotency-key", key.as_str())];
    door.send("PUT", "/api/artifacts/a", ANN, &headers, "x").await.expect_problem(413, "too-large");
    door.get("/api/artifacts/a").await.expect_problem(404, "unknown-artifact");
    assert_eq!(door.get("/api/artifacts").await.json(), json!({ "items": [], "next": null }));
    door.send("GET", "/api/artifacts", "", &[], "").await.expect_problem(401, "unauthenticated");
}

/// A repeated upload is one version, and an upload for a new name does not replace anything.
#[tokio::test]
async fn uploads_can_be_repeated_and_conditional() {
    let door = TestDoor::open().await;
    let path = "/api/artifacts/a.csv?tags=one,%20two,&scope=user";
    let put = async |headers: &[(&str, &str)], body: &str| door.send("PUT", path, ANN, headers, body).await;
    let first = put(&[("idempotency-key", "k"), ("if-none-match", "*")], "a,b\n1,2\n").await;
    assert_eq!(first.status, 201);
    let stored = first.json();
    assert_eq!((&stored["version"], &stored["mediaType"]), (&json!(0), &json!("text/csv")));
    assert_eq!((&stored["tags"], &stored["sizeBytes"]), (&json!(["one", "two"]), &json!(8)));
    let location = first.headers[header::LOCATION].to_str().unwrap();
    assert_eq!(door.get(location).await.body, b"a,b\n1,2\n");
    let again = put(&[("idempotency-key", "k"), ("if-none-match", "*")], "a,b\n1,2\n").await;
    assert_eq!((again.status, again.json()), (201, stored));
    put(&[("idempotency-key", "k")], "other").await.expect_problem(409, "message-reused");
    put(&[("if-none-match", "*")], "other").await.expect_problem(412, "invalid-request");
    for body_type in ["application/octet-stream", "application/x-www-form-urlencoded", "text/csv"] {
        let typed = put(&[("content-type", body_type)], "x").await.json();
        assert_eq!(typed["mediaType"], "text/csv", "{body_type}");
    }
    assert_eq!(door.get("/api/artifacts/a.csv/versions").await.json()["items"].as_array().unwrap().len(), 4);
    for (query, found) in
        [("tag=two", 1), ("tag=three", 0), ("prefix=a.", 1), ("prefix=b", 0), ("scope=tenant", 0), ("", 1)]
    {
        let page = door.get(&format!("/api/artifacts?{query}")).await.json();
        assert_eq!(page["items"].as_array().unwrap().len(), found, "{query}: {page}");
    }
    assert_eq!(door.send("DELETE", "/api/artifacts/a.csv?version=1", ANN, &[], "").await.status, 204);
    door.get("/api/artifacts/a.csv?version=1").await.expect_problem(404, "unknown-artifact");
    assert_eq!(door.get("/api/artifacts/a.csv?version=0").await.status, 200);
}

/// Proves I10: a signed reference gives one version to whoever has it, until it expires.
#[tokio::test]
async fn a_signed_reference_is_read_without_a_key() {
    let door = TestDoor::open().await;
    door.put("/api/artifacts/signed?scope=session&session=s", "one").await;
    door.put("/api/artifacts/signed?scope=session&session=s", "two").await;
    let access = Access::own_only(Caller::new("acme", "ann"));
    let lookup = ArtifactLookup {
        session: Some("s".parse().unwrap()),
        version: Some(0),
        ..ArtifactLookup::new(ArtifactFilename::new("signed").unwrap())
    };
    let artifact = door.artifacts.find(&access, &lookup).await.unwrap();
    let url = door.references.sign_artifact_url(&artifact).await.unwrap();
    let path = url.strip_prefix("http://node.example").unwrap().to_owned();
    let read = async |path: &str| door.send("GET", path, "", &[], "").await;
    assert_eq!(read(&path).await.body, b"one");
    let part = door.send("GET", &path, "", &[("range", "bytes=-1")], "").await;
    assert_eq!((part.status, part.body.as_slice()), (206, b"e".as_slice()));
    read(&path[..path.len() - 4]).await.expect_problem(400, "token-malformed");
    read(&path.replace("art.v1.aa", "art.v1.ab")).await.expect_problem(400, "token-changed");
    read("/api/artifacts/signed/art.v1.zz.AA.AA").await.expect_problem(400, "token-foreign");
    read("/api/artifacts/signed/hello").await.expect_problem(400, "token-malformed");
    // The name `signed` is a name like any other.
    let versions = door.get("/api/artifacts/signed/versions?session=s").await.json();
    assert_eq!(versions["items"].as_array().unwrap().len(), 2, "{versions}");

    door.clock.advance(trackway_artifacts::REFERENCE_LIFETIME);
    read(&path).await.expect_problem(400, "token-expired");
    let path = door.references.sign_artifact_url(&artifact).await.unwrap();
    let path = path.strip_prefix("http://node.example").unwrap();
    let removed = door.send("DELETE", "/api/artifacts/signed?session=s&version=0", ANN, &[], "").await;
    assert_eq!(removed.status, 204);
    read(path).await.expect_problem(404, "unknown-artifact");
}
