//! How artifacts go: deleted, beyond a quota, or with their session; and the blobs that they named.

use futures_util::future::join_all;
use trackway_domain::{Access, ArtifactScope};
use trackway_ports::{ArtifactFilter, ArtifactQuota, ArtifactWriteError, ReadError, RunRemoval};

use super::{StoreUnderTest, artifact_samples::*, sample_appends::*};

/// The number of a deleted version is not used again beside other versions; a deleted artifact begins anew.
pub async fn deleted_versions_keep_their_numbers<S: StoreUnderTest>() {
    let store = S::create_empty().await;
    let artifacts = store.open_artifacts().await;
    let own = || key(ann(), ArtifactScope::User, "name");
    for text in ["a", "b", "c"] {
        save(&*artifacts, own(), text).await;
    }
    assert_eq!(artifacts.delete_artifact(own(), Some(2)).await.unwrap(), 1);
    assert_eq!(artifacts.delete_artifact(own(), Some(2)).await.unwrap(), 0);
    let newest = find(&*artifacts, Access::own_only(ann()), ArtifactScope::User, "name", None).await;
    assert_eq!(newest.unwrap().version, 1);
    assert!(find(&*artifacts, Access::own_only(ann()), ArtifactScope::User, "name", Some(2)).await.is_none());
    assert_eq!(names(&list(&*artifacts, ArtifactFilter::new(Access::own_only(ann()))).await), ["name"]);
    assert_eq!(save(&*artifacts, own(), "d").await.version, 3);
    assert_eq!(version_numbers(&*artifacts, own()).await, [3, 1, 0]);
    assert_eq!(artifacts.delete_artifact(own(), Some(1)).await.unwrap(), 1);
    assert_eq!(artifacts.delete_artifact(own(), Some(3)).await.unwrap(), 1);
    assert_eq!(save(&*artifacts, own(), "d").await.version, 4);
    assert_eq!(version_numbers(&*artifacts, own()).await, [4, 0]);
    // Another user's artifact of that name is another artifact.
    save(&*artifacts, key(bob(), ArtifactScope::User, "name"), "bob").await;
    assert_eq!(artifacts.delete_artifact(own(), None).await.unwrap(), 2);
    assert_eq!(artifacts.delete_artifact(own(), None).await.unwrap(), 0);
    assert_eq!(version_numbers(&*artifacts, key(bob(), ArtifactScope::User, "name")).await, [0]);
    assert_eq!(save(&*artifacts, own(), "e").await.version, 0);
    assert_eq!(artifacts.delete_artifact(own(), Some(0)).await.unwrap(), 1);
    assert_eq!(save(&*artifacts, own(), "f").await.version, 0, "nothing was left of it");
}

/// Proves X5: a quota holds although its owner saves in parallel, and deleting makes room.
pub async fn a_quota_is_kept_by_parallel_writers<S: StoreUnderTest>() {
    let store = S::create_empty().await;
    let artifacts = store.open_artifacts().await;
    let quota = ArtifactQuota { bytes_max: 50, versions_max: 100 };
    let writers = (0..16).map(|number| {
        let artifacts = artifacts.clone();
        let scope = if number % 2 == 0 { ArtifactScope::User } else { ArtifactScope::Tenant };
        let new = new_version(key(ann(), scope, "name"), "0123456789");
        tokio::spawn(async move { artifacts.store_version(new, quota).await })
    });
    let results: Vec<_> = join_all(writers).await.into_iter().map(Result::unwrap).collect();
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 5);
    for refused in results.iter().filter_map(|result| result.as_ref().err()) {
        let full = matches!(refused, ArtifactWriteError::QuotaExceeded { used: 50, max: 50, unit: "bytes" });
        assert!(full, "{refused}");
    }
    // Others have their own, and what comes with events does not count.
    let of_bob = new_version(key(bob(), ArtifactScope::User, "name"), "0123456789");
    artifacts.store_version(of_bob, quota).await.unwrap();
    append_accepted(&*store.open_journal().await, first_append(1, vec![yielded(1, "out", false)])).await;
    let stored = results.iter().find_map(|result| result.as_ref().ok()).unwrap();
    artifacts.delete_artifact(stored.key(), Some(stored.version)).await.unwrap();
    let again = new_version(key(ann(), ArtifactScope::User, "other"), "0123456789");
    artifacts.store_version(again.clone(), quota).await.unwrap();
    let few = ArtifactQuota { bytes_max: 1_000, versions_max: 5 };
    let refused = artifacts.store_version(again, few).await;
    assert!(
        matches!(refused, Err(ArtifactWriteError::QuotaExceeded { unit: "versions", .. })),
        "{refused:?}"
    );
}

/// Proves T17: a removed session takes its artifacts along, and nothing else.
pub async fn artifacts_go_with_their_session<S: StoreUnderTest>() {
    let store = S::create_empty().await;
    let (journal, artifacts) = (store.open_journal().await, store.open_artifacts().await);
    append_accepted(&*journal, first_append(1, vec![yielded(1, "out", false), attached(2, "in", 0)])).await;
    append_accepted(&*journal, first_append(2, vec![yielded(1, "out", false)])).await;
    for scope in [ArtifactScope::Run(run_id(1)), session_scope(), ArtifactScope::User, ArtifactScope::Tenant]
    {
        let mut new = new_version(key(ann(), scope, "saved"), "x");
        new.run = Some(run_id(1));
        artifacts.store_version(new, AMPLE).await.unwrap();
    }
    let other = ArtifactScope::Session(session_id("other"));
    save(&*artifacts, key(ann(), other, "elsewhere"), "x").await;
    save(&*artifacts, key(bob(), session_scope(), "of bob"), "x").await;

    // A run that was removed alone leaves what was saved in its session.
    journal.remove_runs(RunRemoval::removal_of_runs([(run_id(1), 2)])).await.unwrap();
    let filter = ArtifactFilter::new(Access::tenant_wide(ann()));
    let left = list(&*artifacts, filter.clone()).await;
    let left: Vec<_> = left.iter().map(|row| (row.scope.kind().as_str(), row.filename.as_str())).collect();
    let expected = [
        ("session", "of bob"),
        ("session", "elsewhere"),
        ("tenant", "saved"),
        ("user", "saved"),
        ("session", "saved"),
        ("session", "out"),
    ];
    assert_eq!(left, expected);

    let session = Some((ann(), session_id("session")));
    journal
        .remove_runs(RunRemoval { session, ..RunRemoval::removal_of_runs([(run_id(2), 1)]) })
        .await
        .unwrap();
    assert_eq!(names(&list(&*artifacts, filter).await), ["of bob", "elsewhere", "saved", "saved"]);
}

/// A blob stays as long as one version names it, whoever deleted the others.
pub async fn blobs_stay_while_a_version_names_them<S: StoreUnderTest>() {
    let store = S::create_empty().await;
    let (journal, artifacts) = (store.open_journal().await, store.open_artifacts().await);
    let blobs = store.open_blobs().await;
    append_accepted(&*journal, first_append(1, Vec::new())).await;
    let in_session = save(&*artifacts, key(ann(), session_scope(), "a"), "same").await;
    save(&*artifacts, key(bob(), ArtifactScope::User, "b"), "same").await;
    let hash = in_session.sha256.unwrap();
    let alone = save(&*artifacts, key(ann(), session_scope(), "alone"), "alone").await.sha256.unwrap();
    let session = Some((ann(), session_id("session")));
    journal
        .remove_runs(RunRemoval { session, ..RunRemoval::removal_of_runs([(run_id(1), 1)]) })
        .await
        .unwrap();
    assert_eq!(blobs.load_blob(hash).await.unwrap(), b"same");
    let gone = blobs.load_blob(alone).await;
    assert!(matches!(gone, Err(ReadError::DamagedBlob { .. })), "{gone:?}");
    save(&*artifacts, key(ann(), ArtifactScope::Tenant, "c"), "same").await;
    artifacts.delete_artifact(key(bob(), ArtifactScope::User, "b"), None).await.unwrap();
    assert_eq!(blobs.load_blob(hash).await.unwrap(), b"same");
    artifacts.delete_artifact(key(ann(), ArtifactScope::Tenant, "c"), Some(0)).await.unwrap();
    assert!(blobs.load_blob(hash).await.is_err());
}

/// Proves X2: content that is deleted and saved at the same time is there for whoever saved it.
pub async fn a_saved_version_may_follow_its_deletion<S: StoreUnderTest>() {
    let store = S::create_empty().await;
    let openings = [store.open_artifacts().await, store.open_artifacts().await];
    let blobs = store.open_blobs().await;
    let writers = (0..16_usize).map(|number| {
        let (artifacts, blobs) = (openings[number % 2].clone(), blobs.clone());
        tokio::spawn(async move {
            let own = key(ann(), ArtifactScope::User, &format!("f{number}"));
            for _ in 0..4 {
                let stored = save(&*artifacts, own.clone(), "the same content").await;
                let bytes = blobs.load_blob(stored.sha256.unwrap()).await.unwrap();
                assert_eq!(bytes, b"the same content");
                assert_eq!(artifacts.delete_artifact(own.clone(), None).await.unwrap(), 1);
            }
        })
    });
    join_all(writers).await.into_iter().for_each(|joined| joined.unwrap());
}
