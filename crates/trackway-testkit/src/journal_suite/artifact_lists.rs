//! Who finds which artifacts, and listings of them.

use std::collections::BTreeSet;

use trackway_domain::{Access, ArtifactScope, ArtifactScopeKind, Caller};
use trackway_ports::{ArtifactFilter, ArtifactStore};

use super::{StoreUnderTest, artifact_samples::*, sample_appends::*};

/// Saves an artifact of each owner in each scope, all of one name.
async fn save_everywhere(artifacts: &dyn ArtifactStore) {
    for owner in [ann(), bob(), Caller::new("elsewhere", "user")] {
        for scope in [session_scope(), ArtifactScope::User, ArtifactScope::Tenant] {
            let text = format!("{owner:?} {scope:?}");
            save(artifacts, key(owner.clone(), scope, "name"), &text).await;
        }
    }
}

/// Proves I10 and X6: another user and another tenant see nothing, except what is the tenant's.
pub async fn others_see_nothing<S: StoreUnderTest>() {
    let store = S::create_empty().await;
    let artifacts = store.open_artifacts().await;
    save_everywhere(&*artifacts).await;
    for caller in [ann(), bob(), Caller::new("elsewhere", "user"), Caller::new("elsewhere", "bob")] {
        let access = Access::own_only(caller.clone());
        for scope in [session_scope(), ArtifactScope::User] {
            let found = find(&*artifacts, access.clone(), scope, "name", None).await;
            let expected = (caller != Caller::new("elsewhere", "bob")).then(|| caller.clone());
            assert_eq!(found.map(|row| row.owner), expected);
        }
        let shared = find(&*artifacts, access.clone(), ArtifactScope::Tenant, "name", None).await.unwrap();
        assert_eq!(shared.owner.tenant, caller.tenant);
        for row in list(&*artifacts, ArtifactFilter::new(access.clone())).await {
            assert!(access.covers_artifact(row.scope.kind(), &row.owner), "{row:?}");
        }
    }
    // A second version by another user belongs to the same artifact of the tenant.
    let numbers = version_numbers(&*artifacts, key(bob(), ArtifactScope::Tenant, "name")).await;
    assert_eq!(numbers, [1, 0]);
    let listed = list(&*artifacts, ArtifactFilter::new(Access::own_only(ann()))).await;
    assert_eq!(listed.len(), 3, "its session's, its own, and the tenant's newest");
    assert!(
        find(&*artifacts, Access::own_only(ann()), ArtifactScope::Run(run_id(1)), "name", None)
            .await
            .is_none()
    );
}

/// Proves X6: access to a tenant opens the sessions of others, and not what is a user's alone.
pub async fn access_to_a_tenant_opens_runs_and_sessions<S: StoreUnderTest>() {
    let store = S::create_empty().await;
    let artifacts = store.open_artifacts().await;
    let eve = Access::tenant_wide(Caller::new("tenant", "eve"));
    save_everywhere(&*artifacts).await;
    let found = find(&*artifacts, eve.clone(), session_scope(), "name", None).await.unwrap();
    assert_eq!(found.owner, bob(), "the newest");
    let own = find(&*artifacts, Access::tenant_wide(ann()), session_scope(), "name", None).await.unwrap();
    assert_eq!(own.owner, ann(), "one's own comes first");
    assert!(find(&*artifacts, eve.clone(), ArtifactScope::User, "name", None).await.is_none());
    let listed = list(&*artifacts, ArtifactFilter::new(eve)).await;
    let owners: BTreeSet<_> =
        listed.iter().map(|row| (row.scope.kind(), row.owner.user.to_string())).collect();
    let expected = [
        (ArtifactScopeKind::Session, "bob".to_owned()),
        (ArtifactScopeKind::Session, "user".to_owned()),
        (ArtifactScopeKind::Tenant, "bob".to_owned()),
    ];
    assert_eq!(owners, BTreeSet::from(expected));
}

/// Proves X5: pages have no gap and no repetition, also while others save.
pub async fn artifacts_are_listed_in_pages<S: StoreUnderTest>() {
    let store = S::create_empty().await;
    let artifacts = store.open_artifacts().await;
    for number in 0..7 {
        let scope = if number % 2 == 0 { ArtifactScope::User } else { ArtifactScope::Tenant };
        let owner = if number % 2 == 0 { ann() } else { bob() };
        save(&*artifacts, key(owner, scope, &format!("f{number}")), "x").await;
        save(&*artifacts, key(Caller::new("elsewhere", "user"), ArtifactScope::User, "theirs"), "x").await;
    }
    let filter = ArtifactFilter::new(Access::own_only(ann()));
    let page = |after| artifacts.list_artifacts(filter.clone(), after, 3);
    let first = page(None).await.unwrap();
    assert_eq!(names(&first), ["f6", "f5", "f4"]);
    save(&*artifacts, key(ann(), ArtifactScope::User, "meanwhile"), "x").await;
    // A new version moves an artifact that was not reached yet to the front.
    save(&*artifacts, key(ann(), ArtifactScope::User, "f2"), "y").await;
    let second = page(Some(first[2].cursor)).await.unwrap();
    assert_eq!(names(&second), ["f3", "f1", "f0"]);
    assert!(page(Some(second[2].cursor)).await.unwrap().is_empty());
    let newest = page(None).await.unwrap();
    assert_eq!((names(&newest), newest[0].version), (vec!["f2", "meanwhile", "f6"], 1));
    let versions = |before| artifacts.list_versions(key(ann(), ArtifactScope::User, "f2"), before, 1);
    assert_eq!(versions(None).await.unwrap()[0].version, 1);
    assert_eq!(versions(Some(1)).await.unwrap()[0].version, 0);
    assert!(versions(Some(0)).await.unwrap().is_empty());
}

/// Every part of a filter leaves something out, and all of them work together.
pub async fn every_part_of_a_filter_selects<S: StoreUnderTest>() {
    let store = S::create_empty().await;
    let (journal, artifacts) = (store.open_journal().await, store.open_artifacts().await);
    append_accepted(&*journal, first_append(1, vec![yielded(1, "yielded", false)])).await;
    save(&*artifacts, key(ann(), ArtifactScope::Run(run_id(1)), "of run"), "x").await;
    save(&*artifacts, key(ann(), session_scope(), "of session"), "x").await;
    save(&*artifacts, key(ann(), ArtifactScope::Session(session_id("other")), "of other"), "x").await;
    let mut tagged = new_version(key(ann(), ArtifactScope::User, "100%_mine"), "x");
    tagged.tags = vec!["red".to_owned(), "blue".to_owned()];
    artifacts.store_version(tagged, AMPLE).await.unwrap();
    save(&*artifacts, key(bob(), ArtifactScope::Tenant, "of tenant"), "x").await;
    let all = ArtifactFilter::new(Access::own_only(ann()));
    let table = [
        (all.clone(), "of tenant|100%_mine|of other|of session|of run|yielded"),
        (
            ArtifactFilter { scope: Some(ArtifactScopeKind::Session), ..all.clone() },
            "of other|of session|yielded",
        ),
        (ArtifactFilter { scope: Some(ArtifactScopeKind::Tenant), ..all.clone() }, "of tenant"),
        (ArtifactFilter { session: Some(session_id("session")), ..all.clone() }, "of session|of run|yielded"),
        (ArtifactFilter { run: Some(run_id(1)), ..all.clone() }, "of run|yielded"),
        (
            ArtifactFilter { prefix: Some("of ".to_owned()), ..all.clone() },
            "of tenant|of other|of session|of run",
        ),
        (ArtifactFilter { prefix: Some("100%".to_owned()), ..all.clone() }, "100%_mine"),
        (ArtifactFilter { prefix: Some("OF ".to_owned()), ..all.clone() }, ""),
        (
            ArtifactFilter { prefix: Some(String::new()), run: Some(run_id(1)), ..all.clone() },
            "of run|yielded",
        ),
        (ArtifactFilter { tag: Some("blue".to_owned()), ..all.clone() }, "100%_mine"),
        (ArtifactFilter { tag: Some("blu".to_owned()), ..all.clone() }, ""),
        (
            ArtifactFilter {
                scope: Some(ArtifactScopeKind::Session),
                session: Some(session_id("session")),
                prefix: Some("of".to_owned()),
                ..all
            },
            "of session",
        ),
    ];
    for (filter, expected) in table {
        assert_eq!(names(&list(&*artifacts, filter.clone()).await).join("|"), expected, "{filter:?}");
    }
}
