//! The entries of a message's metadata that say how it starts a run: which artifacts hold the input, and
//! whether the run has a session of its own. Other meshes use the same entries, on every binding and in
//! both generations.

use serde_json::Value;
use trackway_domain::{ArtifactFilename, ArtifactReference, Object};

use super::client_message::invalid_message_error;
use crate::{
    error::A2aError,
    operations::{InvocationOptions, SessionBehavior},
};

/// Most artifacts of one message. Each is looked up and read before the message is accepted.
/// Limit (A2A): artifacts that one message is invoked with.
const INVOKED_ARTIFACTS_MAX: usize = 32;

const ARTIFACTS: &str = "invoked_with_artifacts";
const SESSION_BEHAVIOR: &str = "sessionBehavior";

/// Reads both entries. A `null` counts as not sent.
pub(super) fn parse_invocation_options(metadata: &Object) -> Result<InvocationOptions, A2aError> {
    let sent = |key| metadata.get(key).filter(|value: &&Value| !value.is_null());
    Ok(InvocationOptions {
        artifacts: sent(ARTIFACTS).map(parse_artifact_references).transpose()?.unwrap_or_default(),
        session: sent(SESSION_BEHAVIOR).map(parse_session_behavior).transpose()?.unwrap_or_default(),
    })
}

fn parse_session_behavior(value: &Value) -> Result<SessionBehavior, A2aError> {
    match value.as_str() {
        Some("RUN_BASED") => Ok(SessionBehavior::RunBased),
        // The name that other meshes have for what happens without the entry.
        Some("PERSISTENT") => Ok(SessionBehavior::Persistent),
        _ => {
            let why = format!("{} is not a session behaviour", shorten_json(value));
            let next = "send \"RUN_BASED\" for a session of its own, or leave it out";
            Err(invalid_message_error(&format!("metadata/{SESSION_BEHAVIOR}"), &why, next))
        }
    }
}

fn parse_artifact_references(value: &Value) -> Result<Vec<ArtifactReference>, A2aError> {
    let invalid = |place: &str, why: &str| {
        let next = "send a list such as [{\"filename\": \"data.csv\", \"version\": 0}]";
        invalid_message_error(&format!("metadata/{ARTIFACTS}{place}"), why, next)
    };
    let Some(items) = value.as_array() else {
        return Err(invalid("", "this is not a list"));
    };
    if items.len() > INVOKED_ARTIFACTS_MAX {
        let why = format!("{} artifacts; at most {INVOKED_ARTIFACTS_MAX} are taken", items.len());
        return Err(invalid("", &why));
    }
    let mut references: Vec<ArtifactReference> = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        let reference = parse_artifact_reference(item)
            .map_err(|(place, why)| invalid(&format!("/{index}{place}"), &why))?;
        if references.iter().any(|earlier| earlier.filename == reference.filename) {
            let why = format!("{:?} is in the list twice", reference.filename.as_str());
            return Err(invalid(&format!("/{index}/filename"), &why));
        }
        references.push(reference);
    }
    Ok(references)
}

/// One item, or the place in it that is wrong and why.
fn parse_artifact_reference(item: &Value) -> Result<ArtifactReference, (&'static str, String)> {
    let Some(fields) = item.as_object() else {
        return Err(("", "this is not an object".to_owned()));
    };
    if let Some(unknown) = fields.keys().find(|key| !matches!(key.as_str(), "filename" | "version")) {
        let shown: String = unknown.chars().take(64).collect();
        return Err(("", format!("unknown field {shown:?}")));
    }
    let filename = match fields.get("filename") {
        Some(Value::String(name)) => {
            ArtifactFilename::new(name).map_err(|bad| ("/filename", bad.to_string()))?
        }
        Some(_) => return Err(("/filename", "a filename is a string".to_owned())),
        None => return Err(("", "the field `filename` is missing".to_owned())),
    };
    let version = match fields.get("version") {
        None | Some(Value::Null) => None,
        Some(version) => Some(parse_version(version).ok_or_else(|| {
            ("/version", format!("{} is not a version: it must be 0, 1, 2, …", shorten_json(version)))
        })?),
    };
    Ok(ArtifactReference { filename, version })
}

/// Some languages and bindings write 2 as 2.0.
fn parse_version(version: &Value) -> Option<u32> {
    if let Some(number) = version.as_u64() {
        return u32::try_from(number).ok();
    }
    let number = version.as_f64()?;
    let is_version = number.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&number);
    is_version.then_some(number as u32)
}

/// A value that the client sent, as far as it is needed to recognise it.
fn shorten_json(value: &Value) -> String {
    value.to_string().chars().take(64).collect()
}

#[cfg(test)]
mod tests;
