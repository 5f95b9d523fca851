//! Writes push notification configurations.

use std::fmt;

use serde::{Serialize, Serializer, ser::SerializeMap};

use crate::ProtocolVersion;

/// The target and credentials of notifications.
#[derive(Clone, Copy)]
pub struct WirePushConfig<'a> {
    pub id: Option<&'a str>,
    pub url: &'a str,
    pub token: Option<&'a str>,
    /// A scheme and its credentials.
    pub authentication: Option<(&'a str, Option<&'a str>)>,
    /// The task, if the configuration contains it: in 1.0. In 0.3 the object around the configuration
    /// has it.
    pub task: Option<&'a str>,
    pub generation: ProtocolVersion,
}

/// It holds secrets.
impl fmt::Debug for WirePushConfig<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PushConfig(…)")
    }
}

impl Serialize for WirePushConfig<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_map(None)?;
        let url = Some(self.url);
        for (name, text) in [("id", self.id), ("taskId", self.task), ("url", url), ("token", self.token)] {
            if let Some(text) = text {
                fields.serialize_entry(name, text)?;
            }
        }
        if let Some((scheme, credentials)) = self.authentication {
            let generation = self.generation;
            let authentication = WireAuthentication { scheme, credentials, generation };
            fields.serialize_entry("authentication", &authentication)?;
        }
        fields.end()
    }
}

struct WireAuthentication<'a> {
    scheme: &'a str,
    credentials: Option<&'a str>,
    generation: ProtocolVersion,
}

impl Serialize for WireAuthentication<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_map(None)?;
        match self.generation {
            ProtocolVersion::V03 => fields.serialize_entry("schemes", &[self.scheme])?,
            ProtocolVersion::V1 => fields.serialize_entry("scheme", self.scheme)?,
        }
        if let Some(credentials) = self.credentials {
            fields.serialize_entry("credentials", credentials)?;
        }
        fields.end()
    }
}
