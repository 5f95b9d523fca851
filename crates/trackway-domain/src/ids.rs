//! Typed ids. Ids that Trackway makes have a printable prefix, so an id in a log line says what it
//! names.

mod compact_ids;

use std::{fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

pub use compact_ids::{ACK_BYTES, NODE_BYTES, RUN_BYTES};

/// Longest id that a client may choose (session, message, artifact). Long enough for a UUID with a
/// prefix or a URL-like name, short enough for an index key.
/// Limit (Engine): id that a client may choose.
const CHOSEN_ID_BYTES_MAX: usize = 256;

/// A text that does not have the form of its id type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a valid {kind}: {why}")]
pub struct ParseIdError {
    pub kind: &'static str,
    pub text: String,
    pub why: &'static str,
}

/// Ids that only Trackway makes: a time-ordered UUID behind a prefix.
macro_rules! generated_id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal, $kind:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Uuid);

        impl $name {
            pub const fn new(uuid: Uuid) -> Self {
                Self(uuid)
            }

            pub const fn uuid(self) -> Uuid {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0.simple())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = ParseIdError;

            fn from_str(text: &str) -> Result<Self, ParseIdError> {
                let bad = |why| ParseIdError { kind: $kind, text: text.chars().take(64).collect(), why };
                let hex = text
                    .strip_prefix($prefix)
                    .ok_or_else(|| bad(concat!("it does not start with ", $prefix)))?;
                if hex.len() != 32 || hex.bytes().any(|b| b.is_ascii_uppercase()) {
                    return Err(bad("the prefix must be followed by 32 lower-case hex digits"));
                }
                Uuid::try_parse(hex)
                    .map(Self)
                    .map_err(|_| bad("the prefix must be followed by 32 lower-case hex digits"))
            }
        }

        impl Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                s.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(d)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

/// Ids that a client may choose: any printable text within a bound.
macro_rules! client_chosen_id {
    ($(#[$doc:meta])* $name:ident, $kind:literal) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(Arc<str>);

        impl $name {
            pub fn new(text: &str) -> Result<Self, ParseIdError> {
                let bad = |why| ParseIdError { kind: $kind, text: text.chars().take(64).collect(), why };
                if text.is_empty() {
                    return Err(bad("it is empty"));
                }
                if text.len() > CHOSEN_ID_BYTES_MAX {
                    return Err(bad("it is longer than 256 bytes"));
                }
                if text.chars().any(|c| c.is_control() || is_bidi_control(c)) {
                    return Err(bad("it contains control characters"));
                }
                Ok(Self(text.into()))
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:?}", &*self.0)
            }
        }

        impl FromStr for $name {
            type Err = ParseIdError;

            fn from_str(text: &str) -> Result<Self, ParseIdError> {
                Self::new(text)
            }
        }

        impl TryFrom<String> for $name {
            type Error = ParseIdError;

            fn try_from(text: String) -> Result<Self, ParseIdError> {
                Self::new(&text)
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> String {
                id.0.as_ref().to_owned()
            }
        }
    };
}

/// Characters that reverse the text around them, so that a screen shows another name than the real
/// one.
pub(crate) const fn is_bidi_control(c: char) -> bool {
    matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

generated_id!(
    /// One run: one execution of one workflow. It is the task id on the A2A door.
    RunId, "run_", "run id"
);
generated_id!(
    /// One question that a run has asked.
    QuestionId, "qst_", "question id"
);
generated_id!(
    /// One node: a point of a guided run from which it can continue.
    NodeId, "nod_", "node id"
);
generated_id!(
    /// Identifies one answer to a node.
    AckId, "ack_", "ack id"
);
client_chosen_id!(
    /// One session: a workstream of several runs. Clients may choose its id.
    SessionId, "session id"
);
client_chosen_id!(
    /// One message. Callers choose the ids of theirs, so that a repeated send is recognised. Ours are
    /// UUIDv7.
    MessageId, "message id"
);
client_chosen_id!(
    /// One artifact of a run, often a file-like name such as `receipt.json`.
    ArtifactId, "artifact id"
);

impl SessionId {
    /// The id of a session that the caller did not name.
    pub fn from_uuid(uuid: Uuid) -> Self {
        Self(format!("ses_{}", uuid.simple()).into())
    }
}

impl MessageId {
    /// The id of a message that we make: a plain UUID, because other programs parse it as one.
    pub fn from_uuid(uuid: Uuid) -> Self {
        Self(uuid.to_string().into())
    }
}

#[cfg(test)]
mod tests;
