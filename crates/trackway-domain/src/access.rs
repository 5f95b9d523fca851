//! Whose things somebody may see and change. Every door asks here, and nothing else decides it.

use crate::{Caller, Scopes};

/// A caller, and how far that caller's rights go.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Access {
    pub caller: Caller,
    reach: Reach,
}

/// Whose things a caller may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Reach {
    Own,
    Tenant,
}

impl Access {
    /// What these scopes open for the caller.
    pub fn new(caller: Caller, scopes: &Scopes) -> Self {
        if scopes.open_tenant() { Self::tenant(caller) } else { Self::own(caller) }
    }

    /// To the caller's own things alone.
    pub const fn own(caller: Caller) -> Self {
        Self { caller, reach: Reach::Own }
    }

    /// To the things of all users of the caller's tenant.
    pub const fn tenant(caller: Caller) -> Self {
        Self { caller, reach: Reach::Tenant }
    }

    /// The caller on a machine without auth.
    pub fn local() -> Self {
        Self::own(Caller::local())
    }

    /// Whether something of this owner may be seen and changed: a run and what belongs to it (its log,
    /// documents, files and push configurations), or a session. What may not does not exist for the caller.
    pub fn covers(&self, owner: &Caller) -> bool {
        owner.tenant == self.caller.tenant
            && match self.reach {
                Reach::Own => owner.user == self.caller.user,
                Reach::Tenant => true,
            }
    }

    /// The one user whose things are covered; none where they are those of the whole tenant.
    pub fn user(&self) -> Option<&str> {
        match self.reach {
            Reach::Own => Some(&self.caller.user),
            Reach::Tenant => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves X6: another tenant's things do not exist; inside a tenant they are their user's, unless a
    /// scope says `tenant`.
    #[test]
    fn things_are_their_owners_unless_a_scope_opens_the_tenant() {
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
            (Access::own(Caller::new("acme", "bob")), [false, true, false]),
        ];
        let owners = [("acme", "ann"), ("acme", "bob"), ("umbrella", "ann")];
        for (access, expected) in table {
            let covered = owners.map(|(tenant, user)| access.covers(&Caller::new(tenant, user)));
            assert_eq!(covered, expected, "{access:?}");
        }
    }
}
