//! Parses push notification configurations.

use serde::Deserialize;

use crate::{
    fault::Fault,
    ops::{Authentication, Push},
    version::Generation,
    wire::object::Object,
};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PushConfig {
    pub(crate) tenant: Option<String>,
    id: Option<String>,
    #[serde(alias = "task_id")]
    pub(crate) task_id: Option<String>,
    url: Option<String>,
    token: Option<String>,
    authentication: Option<Object<Sent>>,
}

#[derive(Deserialize)]
struct Sent {
    scheme: Option<String>,
    credentials: Option<String>,
}

/// It holds secrets.
impl std::fmt::Debug for PushConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PushConfig(…)")
    }
}

impl PushConfig {
    /// `place` is its location in the request, for the fault.
    pub(crate) fn push(self, place: &str) -> Result<Push, Fault> {
        let url = self.url.unwrap_or_default();
        if url.is_empty() {
            let path = format!("{place}/url");
            return Err(Fault::param(
                path.clone(),
                format!("{path}: it is missing"),
                "send the address that notifications go to",
            ));
        }
        let authentication = match self.authentication.map(|sent| sent.0) {
            None => None,
            Some(Sent { scheme: Some(scheme), credentials }) if !scheme.is_empty() => {
                Some(Authentication { scheme, credentials: given(credentials) })
            }
            Some(_) => {
                let path = format!("{place}/authentication/scheme");
                let why = format!("{path}: it is missing");
                return Err(Fault::param(path, why, "send the scheme, for example Bearer"));
            }
        };
        Ok(Push {
            id: given(self.id),
            url,
            token: given(self.token),
            authentication,
            generation: Generation::V1,
        })
    }
}

/// An empty text counts as absent.
pub(super) fn given(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests;
