//! Artifacts: numbered versions without a gap, and versions that come with an append.

use std::collections::BTreeSet;

use futures_util::future::join_all;
use trackway_domain::{Access, ArtifactId, ArtifactScope};
use trackway_ports::{
    ArtifactContent, ArtifactFilter, ArtifactQuota, ArtifactWriteError, NewArtifactVersion,
};

use super::{StoreUnderTest, artifact_samples::*, sample_appends::*};

/// Proves I10 and X2: the next process finds everything that was saved, and the content has its hash.
pub async fn a_saved_version_reads_back<S: StoreUnderTest>() {
    let store = S::create_empty().await;
    let artifacts = store.open_artifacts().await;
    let run = run_id(1);
    let scopes = [ArtifactScope::Run(run), session_scope(), ArtifactScope::User, ArtifactScope::Tenant];
    for (number, scope) in scopes.into_iter().enumerate() {
        let text = "x".repeat(number * 100_000);
        let mut new = new_version(key(ann(), scope.clone(), "r\u{e9}sum\u{e9} 1.txt"), &text);
        new.tags = vec!["it's".to_owned(), "\u{1f980}".to_owned()];
        new.metadata.insert("n".to_owned(), 1.5.into());
        let stored = artifacts.store_version(new.clone(), AMPLE).await.unwrap();
        assert_eq!((stored.version, stored.size_bytes), (0, text.len() as u64));
        assert_eq!((&stored.owner, &stored.scope, &stored.filename), (&ann(), &scope, &new.key.filename));
        assert_eq!((&stored.tags, &stored.metadata), (&new.tags, &new.metadata));
        assert_eq!((stored.created_at, stored.run, &stored.session), (new.created_at, new.run, &new.session));
        let hash = stored.sha256.unwrap();
        assert_eq!(stored.content, ArtifactContent::Blob(hash));
        for artifacts in [artifacts.clone(), store.open_artifacts().await] {
            let found =
                find(&*artifacts, Access::own_only(ann()), scope.clone(), new.key.filename.as_str(), None);
            assert_eq!(found.await.as_ref(), Some(&stored));
        }
        assert_eq!(store.open_blobs().await.load_blob(hash).await.unwrap(), text.as_bytes());
    }
}

/// Proves I10: 50 writers of one name, on two openings of the store, get the versions 0 to 49; nothing is lost.
pub async fn parallel_writers_get_every_version_once<S: StoreUnderTest>() {
    let store = S::create_empty().await;
    let openings = [store.open_artifacts().await, store.open_artifacts().await];
    let writers = (0..50_usize).map(|number| {
        let artifacts = openings[number % 2].clone();
        tokio::spawn(async move {
            let owner = if number % 3 == 0 { bob() } else { ann() };
            let text = format!("content {number}");
            let stored = save(&*artifacts, key(owner, ArtifactScope::Tenant, "shared.txt"), &text).await;
            (stored.version, text, stored.sha256.unwrap())
        })
    });
    let mut written: Vec<_> = join_all(writers).await.into_iter().map(Result::unwrap).collect();
    written.sort();
    let versions: Vec<u32> = written.iter().map(|(version, ..)| *version).collect();
    assert_eq!(versions, (0..50).collect::<Vec<u32>>());
    let listed = version_numbers(&*openings[0], key(ann(), ArtifactScope::Tenant, "shared.txt")).await;
    assert_eq!(listed, (0..50).rev().collect::<Vec<u32>>());
    let blobs = store.open_blobs().await;
    for (version, text, hash) in written {
        assert_eq!(blobs.load_blob(hash).await.unwrap(), text.as_bytes());
        let access = Access::own_only(ann());
        let found = find(&*openings[1], access, ArtifactScope::Tenant, "shared.txt", Some(version)).await;
        assert_eq!(found.unwrap().sha256, Some(hash));
    }
}

/// Proves I6 and X2: a request that is repeated, even at the same time, saves one version.
pub async fn a_repeated_request_is_the_same_version<S: StoreUnderTest>() {
    let store = S::create_empty().await;
    let artifacts = store.open_artifacts().await;
    let request = |filename: &str, id: &str, text: &str| NewArtifactVersion {
        request_id: Some(id.to_owned()),
        ..new_version(key(ann(), session_scope(), filename), text)
    };
    let repeated = (0..16).map(|number| {
        let (artifacts, new) = (artifacts.clone(), request("a", "r1", &format!("try {number}")));
        tokio::spawn(async move { artifacts.store_version(new, AMPLE).await.unwrap() })
    });
    let mut rows: Vec<_> = join_all(repeated).await.into_iter().map(Result::unwrap).collect();
    rows.dedup();
    let [first] = &rows[..] else { panic!("{} versions", rows.len()) };
    assert_eq!(first.version, 0);
    // Its content is there, whichever of the requests came first.
    store.open_blobs().await.load_blob(first.sha256.unwrap()).await.unwrap();
    let again = artifacts.store_version(request("a", "r2", "more"), AMPLE).await.unwrap();
    assert_eq!(again.version, 1);
    let elsewhere = artifacts.store_version(request("b", "r1", "more"), AMPLE).await.unwrap();
    assert_eq!((elsewhere.version, elsewhere.filename.as_str()), (0, "b"));
    // Also where the quota is used up since.
    let none = ArtifactQuota { bytes_max: 0, versions_max: 0 };
    assert_eq!(artifacts.store_version(request("a", "r1", "again"), none).await.unwrap(), *first);
}

/// Of writers that want to be the first, one is.
pub async fn a_version_can_be_saved_only_if_there_is_none<S: StoreUnderTest>() {
    let store = S::create_empty().await;
    let artifacts = store.open_artifacts().await;
    let new = |text: &str| NewArtifactVersion {
        only_if_absent: true,
        ..new_version(key(ann(), ArtifactScope::User, "once"), text)
    };
    let writers = (0..8).map(|number| {
        let (artifacts, new) = (artifacts.clone(), new(&number.to_string()));
        tokio::spawn(async move { artifacts.store_version(new, AMPLE).await })
    });
    let results: Vec<_> = join_all(writers).await.into_iter().map(Result::unwrap).collect();
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
    let refused = |result: &Result<_, _>| matches!(result, Err(ArtifactWriteError::Exists));
    assert_eq!(results.iter().filter(|result| refused(result)).count(), 7);
}

/// Proves I10 and X1: versions come with the append that records their content, newest last.
pub async fn what_a_run_yields_and_receives_is_indexed<S: StoreUnderTest>() {
    let store = S::create_empty().await;
    let (journal, artifacts) = (store.open_journal().await, store.open_artifacts().await);
    let entries =
        vec![attached(1, "data.csv", 2), yielded(2, "out.json", false), yielded(3, "out.json", false)];
    let mut append = first_append(1, entries);
    append.event_times = vec![timestamp(100), timestamp(200)];
    append_accepted(&*journal, append).await;
    let of = |filename: &'static str, version| {
        let artifacts = artifacts.clone();
        async move {
            find(&*artifacts, Access::own_only(ann()), session_scope(), filename, version).await.unwrap()
        }
    };
    let file = of("data.csv", None).await;
    assert_eq!(file.content, ArtifactContent::Attachment { run: run_id(1), seq: 1, part: 2 });
    assert_eq!((file.version, file.media_type.as_str(), file.size_bytes), (0, "text/csv", 10));
    assert_eq!((file.run, file.session, file.sha256), (Some(run_id(1)), Some(session_id("session")), None));
    assert_eq!(file.created_at, timestamp(100));
    let artifact = ArtifactId::new("out.json").unwrap();
    for (version, seq, at) in [(0, 2, timestamp(200)), (1, 3, timestamp(5_000))] {
        let row = of("out.json", Some(version)).await;
        let (run, artifact) = (run_id(1), artifact.clone());
        assert_eq!(row.content, ArtifactContent::Yielded { run, artifact, first: seq, last: seq });
        assert_eq!(row.created_at, at);
    }
    // What is saved under the same name is the next version.
    assert_eq!(save(&*artifacts, key(ann(), session_scope(), "out.json"), "x").await.version, 2);
    assert_eq!(of("out.json", None).await.version, 2);
}

/// Pieces of an artifact belong to the newest version of their own run.
pub async fn a_yielded_artifact_grows_with_its_run<S: StoreUnderTest>() {
    let store = S::create_empty().await;
    let (journal, artifacts) = (store.open_journal().await, store.open_artifacts().await);
    append_accepted(&*journal, first_append(1, vec![yielded(1, "log", false)])).await;
    append_accepted(&*journal, first_append(2, vec![yielded(1, "log", false)])).await;
    let mut more = numbered_append(run_id(1), 1, [2, 3, 4]);
    more.artifacts = vec![yielded(2, "log", true), yielded(4, "log", true)];
    append_accepted(&*journal, more).await;
    let versions = artifacts.list_versions(key(ann(), session_scope(), "log"), None, ALL).await.unwrap();
    let [second, first] = &versions[..] else { panic!("{versions:?}") };
    let artifact = ArtifactId::new("log").unwrap();
    let content = ArtifactContent::Yielded { run: run_id(1), artifact: artifact.clone(), first: 1, last: 4 };
    assert_eq!((first.version, first.run, &first.content), (0, Some(run_id(1)), &content));
    assert_eq!((first.size_bytes, first.media_type.as_str()), (30, "application/x-ndjson"));
    let untouched =
        ArtifactContent::Yielded { run: run_id(2), artifact: artifact.clone(), first: 1, last: 1 };
    assert_eq!((second.version, second.size_bytes, &second.content), (1, 10, &untouched));
    // Where the beginning is not in the index, the whole log may have it.
    let mut unknown = numbered_append(run_id(2), 1, [2]);
    unknown.artifacts = vec![yielded(2, "other", true)];
    append_accepted(&*journal, unknown).await;
    let row = find(&*artifacts, Access::own_only(ann()), session_scope(), "other", None).await.unwrap();
    let artifact = ArtifactId::new("other").unwrap();
    assert_eq!(row.content, ArtifactContent::Yielded { run: run_id(2), artifact, first: 1, last: 2 });
}

/// Proves X2: versions share the fate of their append.
pub async fn a_refused_append_adds_no_version<S: StoreUnderTest>() {
    let store = S::create_empty().await;
    let (journal, artifacts) = (store.open_journal().await, store.open_artifacts().await);
    append_accepted(&*journal, first_append(1, Vec::new())).await;
    let late = first_append(1, vec![yielded(1, "late", false)]);
    assert!(is_conflict(&append_and_wait(&*journal, late.clone()).await));
    let good = first_append(2, vec![yielded(1, "good", false)]);
    assert!(journal.append_all(vec![good.clone(), late]).await.is_err());
    assert!(list(&*artifacts, ArtifactFilter::new(Access::own_only(ann()))).await.is_empty());
    journal.append_all(vec![good]).await.unwrap();
    assert_eq!(names(&list(&*artifacts, ArtifactFilter::new(Access::own_only(ann()))).await), ["good"]);
}

pub async fn a_run_that_begins_with_an_append_brings_its_versions<S: StoreUnderTest>() {
    let store = S::create_empty().await;
    let (journal, artifacts) = (store.open_journal().await, store.open_artifacts().await);
    let mut append = first_append(1, vec![yielded(1, "parent", false)]);
    append.started_runs = vec![first_append(2, vec![yielded(1, "child", false)])];
    append_accepted(&*journal, append).await;
    let rows = list(&*artifacts, ArtifactFilter::new(Access::own_only(ann()))).await;
    let made: BTreeSet<_> = rows.iter().map(|row| (row.filename.as_str(), row.run.unwrap())).collect();
    assert_eq!(made, BTreeSet::from([("child", run_id(2)), ("parent", run_id(1))]));
}
