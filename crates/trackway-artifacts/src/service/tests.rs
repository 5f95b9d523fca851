//! The service over a store in memory: who gets what, in which order, and which bytes.

use std::sync::Mutex;

use serde_json::json;
use trackway_domain::{
    Artifact, ArtifactScopeKind, Event, File, FileSource, Message, MessageId, MessageRole, Part,
    RunSubmission, StateName, WorkflowRef,
};
use trackway_engine::artifact_index_entries;
use trackway_ports::{Append, ArtifactQuota, AuditRecorder, PortFuture, RunRemoval, RunRow};
use trackway_testkit::{ManualClock, MemoryJournal};
use uuid::Uuid;

use super::*;
use crate::limits::METADATA_BYTES_MAX;

/// Keeps refusals as text.
#[derive(Debug, Default)]
struct RecordedRefusals(Mutex<Vec<String>>);

impl AuditRecorder for RecordedRefusals {
    fn record_refusal(&self, caller: &Caller, refused: RefusedAction<'_>) {
        let RefusedAction { action, object, reason } = refused;
        let line = format!("{}/{} {action} {object}: {reason}", caller.tenant, caller.user);
        self.0.lock().unwrap().push(line);
    }

    fn wait_until_recorded(&self) -> PortFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

struct TestService {
    journal: MemoryJournal,
    audit: Arc<RecordedRefusals>,
    service: ArtifactService,
}

impl TestService {
    fn new() -> Self {
        Self::with_limits(ArtifactLimits::default())
    }

    fn with_limits(limits: ArtifactLimits) -> Self {
        let (journal, audit) = (MemoryJournal::new(), Arc::new(RecordedRefusals::default()));
        let service = ArtifactService::new(ArtifactServiceOptions {
            store: Arc::new(journal.clone()),
            blobs: Arc::new(journal.blob_store()),
            journal: Arc::new(journal.clone()),
            clock: Arc::new(ManualClock::new()),
            limits,
            audit: audit.clone(),
        });
        Self { journal, audit, service }
    }

    async fn save(
        &self,
        access: &Access,
        scope: ArtifactScope,
        filename: &str,
        text: &str,
    ) -> StoredArtifact {
        let new = NewArtifact::new(name(filename), scope, text.to_owned());
        self.service.save(access, new).await.unwrap()
    }

    async fn read_text(&self, access: &Access, lookup: &ArtifactLookup) -> Result<String, ArtifactError> {
        let found = self.service.find(access, lookup).await?;
        Ok(String::from_utf8(self.service.read(&found).await?.to_vec()).unwrap())
    }

    /// Writes a run of that owner with these events after its submission.
    async fn append_run(&self, owner: &Caller, message: Option<Message>, events: Vec<Event>) {
        let workflow = WorkflowRef { name: "w".to_owned(), version: "1".to_owned() };
        let submission = RunSubmission::new(run(), session(), workflow.clone(), owner.clone(), json!({}));
        let submission = RunSubmission { message, ..submission };
        let mut append = Append::new(run(), 0, trackway_domain::Timestamp(5));
        append.events = vec![Event::Submitted(Box::new(submission))];
        append.events.extend(events);
        append.artifacts = artifact_index_entries(owner, &session(), 0, &append.events);
        append.row = Some(RunRow {
            id: run(),
            session: session(),
            caller: owner.clone(),
            workflow,
            parent: None,
            state: StateName::Completed,
            runnable: false,
            parked: false,
            created_at: append.at,
            status_at: append.at,
        });
        self.journal.append_all(vec![append]).await.unwrap();
    }
}

fn run() -> RunId {
    RunId::new(Uuid::from_u128(1))
}

fn session() -> SessionId {
    SessionId::new("s").unwrap()
}

fn name(text: &str) -> ArtifactFilename {
    ArtifactFilename::new(text).unwrap()
}

fn own(tenant: &str, user: &str) -> Access {
    Access::own_only(Caller::new(tenant, user))
}

fn lookup(filename: &str) -> ArtifactLookup {
    ArtifactLookup { run: Some(run()), session: Some(session()), ..ArtifactLookup::new(name(filename)) }
}

fn is_unknown<T: std::fmt::Debug>(result: &Result<T, ArtifactError>) -> bool {
    matches!(result, Err(error) if error.code() == trackway_domain::ErrorCode::UnknownArtifact)
}

/// Proves I10: a name is looked up in the run, then in the session, then for the user, then for the tenant.
#[tokio::test]
async fn the_narrowest_scope_is_found_first() {
    let test = TestService::new();
    let ann = own("acme", "ann");
    test.append_run(&ann.caller, None, Vec::new()).await;
    let scopes = [
        ArtifactScope::Tenant,
        ArtifactScope::User,
        ArtifactScope::Session(session()),
        ArtifactScope::Run(run()),
    ];
    for scope in scopes {
        let text = scope.kind().to_string();
        test.save(&ann, scope, "a", &text).await;
        assert_eq!(test.read_text(&ann, &lookup("a")).await.unwrap(), text);
    }
    let table = [
        (lookup("a"), "run"),
        (ArtifactLookup { run: None, ..lookup("a") }, "session"),
        (ArtifactLookup::new(name("a")), "user"),
        (ArtifactLookup { scope: Some(ArtifactScopeKind::Tenant), ..lookup("a") }, "tenant"),
        (ArtifactLookup { version: Some(0), ..lookup("a") }, "run"),
    ];
    for (lookup, expected) in table {
        assert_eq!(test.read_text(&ann, &lookup).await.unwrap(), expected, "{lookup:?}");
    }
    // The user's has a second version; the name still means the run's, which has none.
    test.save(&ann, ArtifactScope::User, "a", "newer").await;
    assert!(is_unknown(&test.service.find(&ann, &ArtifactLookup { version: Some(1), ..lookup("a") }).await));
    let of_user = ArtifactLookup { version: Some(1), ..ArtifactLookup::new(name("a")) };
    assert_eq!(test.read_text(&ann, &of_user).await.unwrap(), "newer");
    // Without a session, the scope of a session holds nothing.
    let nowhere =
        ArtifactLookup { scope: Some(ArtifactScopeKind::Session), ..ArtifactLookup::new(name("a")) };
    assert!(is_unknown(&test.service.find(&ann, &nowhere).await));
}

/// Proves I10 and X6: every caller against every scope, for each operation. What is refused and what is missing is
/// the same error, and both are audited in the same words.
#[tokio::test]
async fn refused_and_missing_are_the_same() {
    let test = TestService::new();
    let ann = own("acme", "ann");
    test.append_run(&ann.caller, None, Vec::new()).await;
    let scopes = [
        ArtifactScope::Run(run()),
        ArtifactScope::Session(session()),
        ArtifactScope::User,
        ArtifactScope::Tenant,
    ];
    for scope in &scopes {
        test.save(&ann, scope.clone(), scope.kind().as_str(), "secret").await;
    }
    let tenant_wide = Access::tenant_wide(Caller::new("acme", "eve"));
    let table = [
        (ann.clone(), [true, true, true, true]),
        (own("acme", "bob"), [false, false, false, true]),
        (tenant_wide, [true, true, false, true]),
        (own("umbrella", "ann"), [false; 4]),
        (Access::tenant_wide(Caller::new("umbrella", "ann")), [false; 4]),
    ];
    for (access, expected) in table {
        for (scope, is_readable) in scopes.iter().zip(expected) {
            let lookup = lookup(scope.kind().as_str());
            let found = test.service.find(&access, &lookup).await;
            assert_eq!(found.is_ok(), is_readable, "{scope:?} {access:?}");
            let versions = test.service.list_versions(&access, &lookup, None, 10).await;
            assert_eq!(versions.is_ok(), is_readable, "{scope:?} {access:?}");
            let page = test.service.list(&access, &ArtifactListQuery::new(10)).await.unwrap();
            assert_eq!(page.items.iter().any(|item| item.scope == *scope), is_readable, "{access:?}");
            if !is_readable {
                assert!(is_unknown(&found) && is_unknown(&versions));
                assert!(is_unknown(&test.service.delete(&access, &lookup).await));
            }
        }
        test.audit.0.lock().unwrap().clear();
        let refused = test.service.find(&own("umbrella", "bob"), &lookup("user")).await.unwrap_err();
        let missing = test.service.find(&own("umbrella", "bob"), &lookup("gone")).await.unwrap_err();
        assert_eq!(refused.to_string().replace("user", "gone"), missing.to_string());
        let lines = test.audit.0.lock().unwrap().clone();
        assert_eq!(lines[0].replace("user", "gone"), lines[1]);
        assert_eq!(lines[1], "umbrella/bob artifact:read gone: there is no artifact gone");
    }
    // A run of somebody else does not exist, also for saving.
    let new = NewArtifact::new(name("x"), ArtifactScope::Run(run()), "x");
    let refused = test.service.save(&own("acme", "bob"), new).await.unwrap_err();
    assert_eq!(refused.code(), trackway_domain::ErrorCode::UnknownRun);
    // Members of a tenant share what is the tenant's.
    let bob = own("acme", "bob");
    assert_eq!(test.save(&bob, ArtifactScope::Tenant, "tenant", "more").await.version, 1);
    assert_eq!(test.service.delete(&bob, &lookup("tenant")).await.unwrap(), 2);
    assert!(is_unknown(&test.service.find(&ann, &lookup("tenant")).await));
}

/// Proves I5 and X1: what a user attaches and what a run yields is found by name and read from the log.
#[tokio::test]
async fn content_of_events_is_read_from_the_log() {
    let test = TestService::new();
    let ann = own("acme", "ann");
    let file = File {
        name: Some("data.csv".to_owned()),
        mime_type: None,
        source: FileSource::Base64("bmFtZQpBbm4K".to_owned()),
    };
    let parts = vec![Part::text("process this"), Part::file(file)];
    let message = Message::new(MessageId::new("m").unwrap(), MessageRole::User, parts);
    let yielded = |chunk| Event::Artifact { op: "step:x#0".parse().unwrap(), chunk };
    let events = vec![
        yielded(Artifact::text("report.md", "# A").unwrap().begin()),
        yielded(Artifact::data("out", json!({"n": 1})).unwrap().named("out.json").into()),
        yielded(Artifact::text("report.md", " and B").unwrap().finish()),
        yielded(Artifact::data("rows", json!([1])).unwrap().begin()),
        yielded(Artifact::data("rows", json!([2])).unwrap().extend()),
        yielded(Artifact::text("report.md", "# C").unwrap().into()),
        yielded(Artifact::text("text-response", "hello").unwrap().into()),
    ];
    test.append_run(&ann.caller, Some(message), events).await;
    let at = |filename: &str, version| ArtifactLookup { version, ..lookup(filename) };
    let table = [
        (at("data.csv", None), "text/csv", "name\nAnn\n"),
        (at("report.md", Some(0)), "text/markdown", "# A and B"),
        (at("report.md", None), "text/markdown", "# C"),
        (at("out.json", None), "application/json", "{\"n\":1}"),
        (at("rows", None), "application/x-ndjson", "[1]\n[2]"),
    ];
    for (lookup, media_type, text) in table {
        let found = test.service.find(&ann, &lookup).await.unwrap();
        assert_eq!(
            (found.media_type.as_str(), found.size_bytes),
            (media_type, text.len() as u64),
            "{lookup:?}"
        );
        assert_eq!(test.service.read(&found).await.unwrap(), text, "{lookup:?}");
    }
    assert!(is_unknown(&test.service.find(&ann, &lookup("text-response")).await));
    // A reader that is slower than a removal learns that it is gone.
    let found = test.service.find(&ann, &lookup("out.json")).await.unwrap();
    let file = test.service.find(&ann, &lookup("data.csv")).await.unwrap();
    let session = Some((ann.caller.clone(), session()));
    let removal = RunRemoval { session, ..RunRemoval::removal_of_runs([(run(), 8)]) };
    test.journal.remove_runs(removal).await.unwrap();
    assert!(is_unknown(&test.service.read(&found).await));
    assert!(is_unknown(&test.service.read(&file).await));
    assert!(is_unknown(&test.service.find(&ann, &lookup("out.json")).await));
}

/// What is deleted between finding and reading is gone, and not damaged.
#[tokio::test]
async fn a_deleted_blob_is_unknown() {
    let test = TestService::new();
    let ann = own("acme", "ann");
    let stored = test.save(&ann, ArtifactScope::User, "a", "x").await;
    assert_eq!(test.service.delete(&ann, &ArtifactLookup::new(name("a"))).await.unwrap(), 1);
    assert!(is_unknown(&test.service.read(&stored).await));
    assert!(is_unknown(&test.service.delete(&ann, &ArtifactLookup::new(name("a"))).await));
}

/// Structured content is described by its schema; the caller's own description stays.
#[tokio::test]
async fn metadata_has_the_inferred_schema() {
    let test = TestService::new();
    let ann = own("acme", "ann");
    let csv = test.save(&ann, ArtifactScope::User, "data.csv", "name\nAnn\n").await;
    assert_eq!(csv.media_type, "text/csv");
    let items = &csv.metadata["schema"]["properties"]["rows"]["items"];
    assert_eq!(items["properties"]["name"], json!({"type": "string"}));
    let untyped = test.save(&ann, ArtifactScope::User, "data", "[1]").await;
    assert_eq!(
        (untyped.media_type.as_str(), &untyped.metadata["schema"]["type"]),
        ("application/json", &json!("array"))
    );
    for (filename, text) in [("notes.txt", "hi"), ("broken.json", "{"), ("pic.png", "x")] {
        assert!(test.save(&ann, ArtifactScope::User, filename, text).await.metadata.is_empty(), "{filename}");
    }
    let mut given = NewArtifact::new(name("given.json"), ArtifactScope::User, "{}");
    given.media_type = Some("application/json; charset=utf-8".to_owned());
    given.metadata.insert("schema".to_owned(), json!("mine"));
    let given = test.service.save(&ann, given).await.unwrap();
    assert_eq!(
        (given.media_type.as_str(), &given.metadata["schema"]),
        ("application/json; charset=utf-8", &json!("mine"))
    );
}

/// Proves X5: every size has a limit with an error that says which.
#[tokio::test]
async fn sizes_are_bounded() {
    let quota = ArtifactQuota { bytes_max: 25, versions_max: 9 };
    let test = TestService::with_limits(ArtifactLimits { bytes_max: 10, quota });
    let ann = own("acme", "ann");
    let new = || NewArtifact::new(name("a"), ArtifactScope::User, "0123456789");
    let large = NewArtifact { bytes: "0123456789+".into(), ..new() };
    let mut metadata = Object::new();
    metadata.insert("k".to_owned(), "x".repeat(METADATA_BYTES_MAX).into());
    let table = [
        (large, "the content has 11 bytes; the limit is 10"),
        (
            NewArtifact { tags: vec![String::new(); 33], ..new() },
            "the number of tags is larger than its limit of 32",
        ),
        (NewArtifact { tags: vec!["x".repeat(65)], ..new() }, "a tag is larger than its limit of 64"),
        (NewArtifact { metadata, ..new() }, "the metadata is larger than its limit of 16384"),
        (
            NewArtifact { media_type: Some("x".repeat(256)), ..new() },
            "the media type is larger than its limit of 255",
        ),
        (
            NewArtifact { request_id: Some("x".repeat(257)), ..new() },
            "the request id is larger than its limit of 256",
        ),
    ];
    for (new, expected) in table {
        let error = test.service.save(&ann, new).await.unwrap_err();
        assert_eq!(
            (error.code(), error.to_string().as_str()),
            (trackway_domain::ErrorCode::TooLarge, expected)
        );
    }
    test.service.save(&ann, new()).await.unwrap();
    test.service.save(&ann, new()).await.unwrap();
    let error = test.service.save(&ann, new()).await.unwrap_err();
    assert_eq!(error.code(), trackway_domain::ErrorCode::TooLarge);
    assert!(error.to_string().starts_with("20 of 25 bytes are used"), "{error}");
}

/// Pages follow each other without a gap, and the size of a page is bounded.
#[tokio::test]
async fn pages_have_a_next_only_if_there_is_more() {
    let test = TestService::new();
    let ann = own("acme", "ann");
    for number in 0..4 {
        test.save(&ann, ArtifactScope::User, &format!("f{number}"), "x").await;
        test.save(&ann, ArtifactScope::User, "versions", "x").await;
    }
    let (mut listed, mut query) = (Vec::new(), ArtifactListQuery::new(2));
    loop {
        let page = test.service.list(&ann, &query).await.unwrap();
        assert!(page.items.len() <= 2);
        listed.extend(page.items.iter().map(|item| item.filename.to_string()));
        query.after = page.next;
        if page.next.is_none() {
            break;
        }
    }
    assert_eq!(listed, ["versions", "f3", "f2", "f1", "f0"]);
    let versions = |after, limit| {
        let (service, lookup) = (&test.service, ArtifactLookup::new(name("versions")));
        let ann = ann.clone();
        async move { service.list_versions(&ann, &lookup, after, limit).await.unwrap() }
    };
    let first = versions(None, 3).await;
    assert_eq!(first.items.iter().map(|item| item.version).collect::<Vec<_>>(), [3, 2, 1]);
    let last = versions(first.next, 3).await;
    assert_eq!((last.items.len(), last.items[0].version, last.next), (1, 0, None));
    assert_eq!(versions(None, 0).await.items.len(), 1);
    assert_eq!(versions(None, usize::MAX).await.items.len(), 4);
}
