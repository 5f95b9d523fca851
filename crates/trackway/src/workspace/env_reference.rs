//! References `${env:NAME}` in strings of the workspace.

/// Begins a reference to a variable of the environment.
const OPEN: &str = "${env:";

/// Looks up a variable. A function, so that tests do not change the environment.
pub type EnvLookup<'a> = &'a dyn Fn(&str) -> Option<String>;

/// A reference that cannot be resolved.
#[derive(Debug, PartialEq, Eq)]
pub enum EnvReferenceError {
    Unclosed,
    Missing { name: String },
}

impl EnvReferenceError {
    pub fn reference_error_message(&self) -> String {
        match self {
            Self::Unclosed => "`${env:` has no `}`".to_owned(),
            Self::Missing { name } => format!("the environment has no variable {name:?}"),
        }
    }

    pub fn reference_error_suggestion(&self) -> Option<String> {
        match self {
            Self::Unclosed => None,
            Self::Missing { name } => Some(format!("set it, or write the value instead of {OPEN}{name}}}")),
        }
    }
}

/// A string with every reference replaced.
pub fn resolve_env_references(text: &str, variables: EnvLookup<'_>) -> Result<String, EnvReferenceError> {
    let (mut rest, mut whole) = (text, String::new());
    while let Some((before, after)) = rest.split_once(OPEN) {
        let (name, behind) = after.split_once('}').ok_or(EnvReferenceError::Unclosed)?;
        let value = variables(name).ok_or_else(|| EnvReferenceError::Missing { name: name.to_owned() })?;
        whole.push_str(before);
        whole.push_str(&value);
        rest = behind;
    }
    whole.push_str(rest);
    Ok(whole)
}

/// Whether a string is exactly one reference.
pub fn is_env_reference(text: &str) -> bool {
    let name = text.strip_prefix(OPEN).and_then(|rest| rest.strip_suffix('}'));
    name.is_some_and(|name| !name.contains('}'))
}
