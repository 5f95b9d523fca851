//! Which runs and sessions a caller may see and change. Every door uses this module; no other code decides
//! it.

use crate::{ArtifactScopeKind, Caller, Scopes};

/// A caller, and how far that caller's rights go.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Access {
    pub caller: Caller,
    coverage: AccessCoverage,
}

/// The owners whose data a caller may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum AccessCoverage {
    Own,
    Tenant,
}

impl Access {
    /// The access that these scopes grant to the caller.
    pub fn new(caller: Caller, scopes: &Scopes) -> Self {
        if scopes.allows_tenant_wide_access() { Self::tenant_wide(caller) } else { Self::own_only(caller) }
    }

    /// Access to the caller's own data only.
    pub const fn own_only(caller: Caller) -> Self {
        Self { caller, coverage: AccessCoverage::Own }
    }

    /// Access to the data of all users in the caller's tenant.
    pub const fn tenant_wide(caller: Caller) -> Self {
        Self { caller, coverage: AccessCoverage::Tenant }
    }

    /// The caller on a machine without auth.
    pub fn local_without_auth() -> Self {
        Self::own_only(Caller::local_without_auth())
    }

    /// Whether the caller may see and change data of this owner: a session, or a run with its log,
    /// documents, files and push configurations. For the caller, anything else does not exist.
    pub fn covers_owner(&self, owner: &Caller) -> bool {
        owner.tenant == self.caller.tenant
            && match self.coverage {
                AccessCoverage::Own => owner.user == self.caller.user,
                AccessCoverage::Tenant => true,
            }
    }

    /// Whether the caller may use an artifact of this owner. What is in the scope of a tenant is everybody's in the
    /// tenant; what is in the scope of a user is that user's alone, whatever else is covered: a name must not
    /// lead to a file that another user put there.
    pub fn covers_artifact(&self, scope: ArtifactScopeKind, owner: &Caller) -> bool {
        match scope {
            ArtifactScopeKind::Tenant => owner.tenant == self.caller.tenant,
            ArtifactScopeKind::User => *owner == self.caller,
            ArtifactScopeKind::Run | ArtifactScopeKind::Session => self.covers_owner(owner),
        }
    }

    /// The one user whose data is covered; `None` if the whole tenant is covered.
    pub fn only_covered_user(&self) -> Option<&str> {
        match self.coverage {
            AccessCoverage::Own => Some(&self.caller.user),
            AccessCoverage::Tenant => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves X6: data of another tenant does not exist for the caller. Inside a tenant, data belongs to
    /// its user unless a scope says `tenant`.
    #[test]
    fn access_covers_own_things_unless_a_scope_opens_the_tenant() {
        let access = |user: &str, scopes: &[&str]| {
            Access::new(Caller::new("acme", user), &Scopes::new(scopes).unwrap())
        };
        let own: &[&str] = &["workflow:*:run"];
        let table: [(Access, [bool; 3]); 7] = [
            (access("ann", own), [true, false, false]),
            (access("ann", &[]), [true, false, false]),
            (access("ann", &["*"]), [true, false, false]),
            (access("ann", &["tenant"]), [true, true, false]),
            (access("eve", &["*", "tenant"]), [true, true, false]),
            (access("eve", &["agent:tenant:call"]), [false, false, false]),
            (Access::own_only(Caller::new("acme", "bob")), [false, true, false]),
        ];
        let owners = [("acme", "ann"), ("acme", "bob"), ("umbrella", "ann")];
        for (access, expected) in table {
            let covered = owners.map(|(tenant, user)| access.covers_owner(&Caller::new(tenant, user)));
            assert_eq!(covered, expected, "{access:?}");
        }
    }

    /// Proves I10 and X6: every scope of an artifact against every owner.
    #[test]
    fn access_to_an_artifact_depends_on_its_scope() {
        let owners = [("acme", "ann"), ("acme", "bob"), ("umbrella", "ann")];
        let ann = Caller::new("acme", "ann");
        let table = [
            (Access::own_only(ann.clone()), ArtifactScopeKind::Run, [true, false, false]),
            (Access::own_only(ann.clone()), ArtifactScopeKind::Session, [true, false, false]),
            (Access::own_only(ann.clone()), ArtifactScopeKind::User, [true, false, false]),
            (Access::own_only(ann.clone()), ArtifactScopeKind::Tenant, [true, true, false]),
            (Access::tenant_wide(ann.clone()), ArtifactScopeKind::Run, [true, true, false]),
            (Access::tenant_wide(ann.clone()), ArtifactScopeKind::Session, [true, true, false]),
            (Access::tenant_wide(ann.clone()), ArtifactScopeKind::User, [true, false, false]),
            (Access::tenant_wide(ann), ArtifactScopeKind::Tenant, [true, true, false]),
        ];
        for (access, scope, expected) in table {
            let covered =
                owners.map(|(tenant, user)| access.covers_artifact(scope, &Caller::new(tenant, user)));
            assert_eq!(covered, expected, "{scope} {access:?}");
        }
    }
}
