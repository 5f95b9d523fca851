//! What a caller may do: a list of scopes. Each scope is a pattern that matches names of permissions.

use std::{fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::{Permission, matches_wildcard};

/// Scopes of one caller. The bound is higher than any hand-written list, and low enough to check all of
/// them on each request.
/// Limit (Engine): scopes of one caller.
const SCOPES_MAX: usize = 256;
/// Longest scope: the longest name of a workflow, its kind and its verb, and room for globs.
/// Limit (Engine): one scope.
const SCOPE_BYTES_MAX: usize = 128;

/// What a caller may do with a workflow or an agent, and the text of that permission.
const FORMS: [(&str, &str); 2] = [("workflow", "run"), ("agent", "call")];

/// What a caller may do beside running workflows: the kind of a thing, and a verb.
const PLAIN_FORMS: [(&str, &str); 4] =
    [("artifact", "read"), ("artifact", "write"), ("peer", "admin"), ("audit", "read")];

/// Grants access to the data of all users in the caller's tenant.
const TENANT: &str = "tenant";

/// One scope: `*`, `workflow:<name>:run`, `agent:<name>:call`, `artifact:read`, `artifact:write`,
/// `peer:admin`, `audit:read` or `tenant`. In a name `*` matches any sequence of characters, and
/// `workflow:*` is short for `workflow:*:run`, `artifact:*` for both scopes of artifacts.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Scope(Arc<str>);

/// A scope that can never permit anything.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{text:?} is not a scope: {why} (write `*`, `workflow:<name>:run`, `agent:<name>:call`, `artifact:read`, \
     `artifact:write`, `peer:admin`, `audit:read` or `tenant`)"
)]
pub struct ParseScopeError {
    pub text: String,
    pub why: &'static str,
}

/// Everything that a caller may do.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Scopes(Vec<Scope>);

impl Scope {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Scope {
    type Err = ParseScopeError;

    fn from_str(text: &str) -> Result<Self, ParseScopeError> {
        let bad = |why| ParseScopeError { text: text.chars().take(64).collect(), why };
        if text.len() > SCOPE_BYTES_MAX {
            return Err(bad("it is longer than 128 bytes"));
        }
        let parts: Vec<&str> = text.split(':').collect();
        let (kind, name, verb) = match parts[..] {
            ["*" | TENANT] => return Ok(Self(text.into())),
            [kind, verb] if is_plain_form(kind, verb) => return Ok(Self(text.into())),
            [kind, "*"] => (kind, "*", "*"),
            [kind, name, verb] => (kind, name, verb),
            _ => return Err(bad("it does not have the parts of a scope")),
        };
        let Some((_, known)) = FORMS.iter().find(|(known, _)| *known == kind) else {
            return Err(bad("it starts with none of the kinds, or has another form than its kind"));
        };
        if verb != "*" && verb != *known {
            return Err(bad("the verb must be `run` for a workflow and `call` for an agent"));
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '*');
        if name.is_empty() || !name.chars().all(plain) {
            return Err(bad("a name may only have letters, digits, `-`, `_`, `.` and `*`"));
        }
        Ok(Self(text.into()))
    }
}

impl TryFrom<String> for Scope {
    type Error = ParseScopeError;

    fn try_from(text: String) -> Result<Self, ParseScopeError> {
        text.parse()
    }
}

impl From<Scope> for String {
    fn from(scope: Scope) -> Self {
        scope.0.as_ref().to_owned()
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Scopes {
    /// Scopes from our own configuration: a malformed one is an error.
    pub fn new<S: AsRef<str>>(texts: impl IntoIterator<Item = S>) -> Result<Self, ParseScopeError> {
        let scopes: Vec<Scope> =
            texts.into_iter().map(|text| text.as_ref().parse()).collect::<Result<_, _>>()?;
        if scopes.len() > SCOPES_MAX {
            let text = scopes[SCOPES_MAX].to_string();
            return Err(ParseScopeError { text, why: "there are more than 256 of them" });
        }
        Ok(Self(scopes))
    }

    /// The Trackway scopes in a list from another issuer, and what is wrong with those that look like ours.
    /// Tokens also carry scopes of other services (`openid`, `profile`), which permit nothing here.
    pub fn parse_scopes_leniently<'a>(
        texts: impl IntoIterator<Item = &'a str>,
    ) -> (Self, Vec<ParseScopeError>) {
        let (mut scopes, mut bad) = (Vec::new(), Vec::new());
        for text in texts {
            match text.parse::<Scope>() {
                Ok(scope) if scopes.len() < SCOPES_MAX => scopes.push(scope),
                Err(error) if begins_with_scope_kind(text) && bad.len() < SCOPES_MAX => bad.push(error),
                Ok(_) | Err(_) => {}
            }
        }
        (Self(scopes), bad)
    }

    /// Every workflow and agent, artifacts, peers and the audit log; not the data of other users.
    pub fn all_workflows_and_agents() -> Self {
        Self(vec![Scope("*".into())])
    }

    pub fn is_all_workflows_and_agents(&self) -> bool {
        self.0.iter().any(|scope| &*scope.0 == "*")
    }

    pub fn has_no_scopes(&self) -> bool {
        self.0.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = &Scope> {
        self.0.iter()
    }

    /// Whether the data of other users of the same tenant is covered too. `*` alone does not cover it: `*`
    /// is about what a caller may run, and each caller owns only its own runs.
    pub fn allows_tenant_wide_access(&self) -> bool {
        self.0.iter().any(|scope| &*scope.0 == TENANT)
    }

    /// Whether the scopes permit this action.
    pub fn allows_action(&self, permission: &Permission<'_>) -> bool {
        match permission {
            Permission::RunWorkflow(name) => self.allows_workflow_run(name),
            Permission::ReadArtifacts => self.allows_artifact_read(),
            Permission::WriteArtifacts => self.allows_artifact_write(),
            Permission::AdministerPeers => self.allows_peer_administration(),
            Permission::ReadAudit => self.allows_audit_read(),
            Permission::SeeAllTenants => self.is_all_workflows_and_agents(),
        }
    }

    /// Whether the caller may read the artifacts that its access covers.
    pub fn allows_artifact_read(&self) -> bool {
        self.allows_permission("artifact:read")
    }

    /// Whether the caller may store and remove artifacts.
    pub fn allows_artifact_write(&self) -> bool {
        self.allows_permission("artifact:write")
    }

    /// Whether the caller may add, remove and ping peers.
    pub fn allows_peer_administration(&self) -> bool {
        self.allows_permission("peer:admin")
    }

    /// Whether the caller may read the audit log of its tenant.
    pub fn allows_audit_read(&self) -> bool {
        self.allows_permission("audit:read")
    }

    /// Whether the scopes permit something such as `workflow:echo:run`.
    pub fn allows_permission(&self, permission: &str) -> bool {
        self.0.iter().any(|scope| matches_wildcard(&scope.0, permission))
    }

    /// Whether the caller may start, answer and cancel runs of this workflow: as a workflow, or as the
    /// agent that the A2A door publishes for it.
    pub fn allows_workflow_run(&self, name: &str) -> bool {
        FORMS.iter().any(|(kind, verb)| self.allows_permission(&format!("{kind}:{name}:{verb}")))
    }
}

fn begins_with_scope_kind(text: &str) -> bool {
    let kind = text.split_once(':').map(|(kind, _)| kind);
    FORMS.iter().chain(&PLAIN_FORMS).any(|(known, _)| kind == Some(known))
}

/// Whether this is a scope without a name, such as `artifact:read` or `artifact:*`.
fn is_plain_form(kind: &str, verb: &str) -> bool {
    PLAIN_FORMS.iter().any(|(known, known_verb)| kind == *known && (verb == "*" || verb == *known_verb))
}

#[cfg(test)]
mod tests;
