//! What somebody may do: a list of scopes, each a pattern over the name of a permission.

use std::{fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::matches_pattern;

/// Scopes of one caller. More than anybody writes by hand, few enough to look through at each request.
/// Limit (Engine): scopes of one caller.
const SCOPES_MAX: usize = 256;
/// Longest scope: the longest name of a workflow, its kind and its verb, and room for globs.
/// Limit (Engine): one scope.
const SCOPE_BYTES_MAX: usize = 128;

/// What a workflow or agent of some name may be asked to do, and how the permission for it is written.
const FORMS: [(&str, &str); 2] = [("workflow", "run"), ("agent", "call")];

/// Opens the things of all users of the caller's tenant.
const TENANT: &str = "tenant";

/// One scope: `*`, `workflow:<name>:run`, `agent:<name>:call` or `tenant`. In a name `*` stands for any run
/// of characters, and `workflow:*` is short for `workflow:*:run`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Scope(Arc<str>);

/// A scope that could never permit anything.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{text:?} is not a scope: {why} (write `*`, `workflow:<name>:run`, `agent:<name>:call` or `tenant`)"
)]
pub struct BadScope {
    pub text: String,
    pub why: &'static str,
}

/// Everything that somebody may do.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Scopes(Vec<Scope>);

impl Scope {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Scope {
    type Err = BadScope;

    fn from_str(text: &str) -> Result<Self, BadScope> {
        let bad = |why| BadScope { text: text.chars().take(64).collect(), why };
        if text.len() > SCOPE_BYTES_MAX {
            return Err(bad("it is longer than 128 bytes"));
        }
        let parts: Vec<&str> = text.split(':').collect();
        let (kind, name, verb) = match parts[..] {
            ["*" | TENANT] => return Ok(Self(text.into())),
            [kind, "*"] => (kind, "*", "*"),
            [kind, name, verb] => (kind, name, verb),
            _ => return Err(bad("it has not the parts of one")),
        };
        let Some((_, known)) = FORMS.iter().find(|(known, _)| *known == kind) else {
            return Err(bad("it is about neither `workflow` nor `agent`"));
        };
        if verb != "*" && verb != *known {
            return Err(bad("a workflow can be `run` and an agent `call`ed, nothing else"));
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '*');
        if name.is_empty() || !name.chars().all(plain) {
            return Err(bad("a name has letters, digits, `-`, `_` and `.`, and here `*`"));
        }
        Ok(Self(text.into()))
    }
}

impl TryFrom<String> for Scope {
    type Error = BadScope;

    fn try_from(text: String) -> Result<Self, BadScope> {
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
    /// Scopes that somebody configured: a malformed one is a mistake.
    pub fn new<S: AsRef<str>>(texts: impl IntoIterator<Item = S>) -> Result<Self, BadScope> {
        let scopes: Vec<Scope> =
            texts.into_iter().map(|text| text.as_ref().parse()).collect::<Result<_, _>>()?;
        if scopes.len() > SCOPES_MAX {
            let text = scopes[SCOPES_MAX].to_string();
            return Err(BadScope { text, why: "there are more than 256 of them" });
        }
        Ok(Self(scopes))
    }

    /// Those of ours among scopes that somebody else wrote, and what is wrong with those that look like
    /// ours: tokens carry the scopes of other services too (`openid`, `profile`), which permit nothing
    /// here.
    pub fn among<'a>(texts: impl IntoIterator<Item = &'a str>) -> (Self, Vec<BadScope>) {
        let (mut scopes, mut bad) = (Vec::new(), Vec::new());
        for text in texts {
            match text.parse::<Scope>() {
                Ok(scope) if scopes.len() < SCOPES_MAX => scopes.push(scope),
                Err(error) if looks_like_ours(text) && bad.len() < SCOPES_MAX => bad.push(error),
                Ok(_) | Err(_) => {}
            }
        }
        (Self(scopes), bad)
    }

    /// Every workflow and agent.
    pub fn all() -> Self {
        Self(vec![Scope("*".into())])
    }

    pub fn is_all(&self) -> bool {
        self.0.iter().any(|scope| &*scope.0 == "*")
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = &Scope> {
        self.0.iter()
    }

    /// Whether the things of other users of the same tenant are open too. `*` alone does not say so: it is
    /// about what may be run, and what somebody runs is their own.
    pub fn open_tenant(&self) -> bool {
        self.0.iter().any(|scope| &*scope.0 == TENANT)
    }

    /// Whether a permission such as `workflow:echo:run` is among them.
    pub fn allows(&self, permission: &str) -> bool {
        self.0.iter().any(|scope| matches_pattern(&scope.0, permission))
    }

    /// Whether a workflow of this name may be started, answered and cancelled: as a workflow, or as
    /// the agent that it is on the A2A door.
    pub fn allow_run(&self, name: &str) -> bool {
        FORMS.iter().any(|(kind, verb)| self.allows(&format!("{kind}:{name}:{verb}")))
    }
}

fn looks_like_ours(text: &str) -> bool {
    let kind = text.split_once(':').map(|(kind, _)| kind);
    FORMS.iter().any(|(known, _)| kind == Some(known))
}

#[cfg(test)]
mod tests;
