//! Protocol extensions: which ones a request names, which ones the agent supports, and which ones it
//! requires.

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use trackway_domain::ErrorCode;
use trackway_runtime::ProgramInfo;

use crate::{
    agent_card,
    error::{A2aError, A2aErrorKind},
    protocol_version::ProtocolVersion,
};

/// Extensions that are active for one request.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ActivatedExtensions(Vec<String>);

impl ActivatedExtensions {
    pub(crate) fn new(headers: &HeaderMap, info: &ProgramInfo) -> Result<Self, A2aError> {
        let asked = requested_extensions(headers);
        let mut activated = Vec::new();
        // Those of every workflow are never required, so a request without extensions is finished
        // here.
        if !asked.is_empty() {
            let known = agent_card::declared_extensions(info);
            let uris = known.iter().map(|known| known.uri).filter(|uri| asked.contains(uri));
            activated.extend(uris.map(str::to_owned));
        }
        let missing = info.extensions.iter().find(|own| own.required && !asked.contains(&&*own.uri));
        match missing {
            None => Ok(Self(activated)),
            Some(missing) => Err(A2aError::new(
                A2aErrorKind::ExtensionSupportRequired,
                ErrorCode::InvalidRequest,
                format!("this agent requires the extension {}", missing.uri),
                format!("send the header A2A-Extensions: {}", missing.uri),
            )),
        }
    }

    /// Tells the client which extensions are active.
    pub(crate) fn write_extensions_header(&self, generation: ProtocolVersion, headers: &mut HeaderMap) {
        if self.0.is_empty() {
            return;
        }
        if let Ok(list) = HeaderValue::from_str(&self.0.join(", ")) {
            headers.insert(HeaderName::from_static(generation.extensions_header()), list);
        }
    }
}

fn requested_extensions(headers: &HeaderMap) -> Vec<&str> {
    ProtocolVersion::ALL
        .iter()
        .flat_map(|generation| headers.get_all(generation.extensions_header()))
        .filter_map(|value| value.to_str().ok())
        .flat_map(|list| list.split(','))
        .map(str::trim)
        .filter(|uri| !uri.is_empty())
        .collect()
}
