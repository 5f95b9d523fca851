//! Errors of 1.0: the list of typed details, the same on JSON-RPC (`data`) and HTTP+JSON (`details`).

use serde::{Serialize, Serializer, ser::SerializeSeq};

use crate::fault::{Detail, Fault};

const ERROR_INFO: &str = "type.googleapis.com/google.rpc.ErrorInfo";
const BAD_REQUEST: &str = "type.googleapis.com/google.rpc.BadRequest";
/// Trackway's own details, in addition to the well-known types: a code with a page, and the next
/// action.
const ADVICE: &str = "urn:trackway:advice";
/// The domain of the reasons.
pub(crate) const DOMAIN: &str = "a2a-protocol.org";

#[derive(Debug)]
pub(crate) struct Details<'a>(pub(crate) &'a Fault);

impl Serialize for Details<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let fault = self.0;
        let mut list = serializer.serialize_seq(None)?;
        if let Some(reason) = fault.kind.reason() {
            list.serialize_element(&ErrorInfo { r#type: ERROR_INFO, reason, domain: DOMAIN })?;
        }
        let violations = violations(fault);
        if !violations.is_empty() {
            let bad = BadRequest { r#type: BAD_REQUEST, field_violations: violations };
            list.serialize_element(&bad)?;
        }
        let told = match &*fault.detail {
            Detail::Advice(_) => None,
            Detail::Input { .. } => Some(fault.told()),
        };
        let (code, next) = told.unzip();
        list.serialize_element(&Typed { r#type: ADVICE, code, next, detail: &fault.detail })?;
        list.end()
    }
}

/// The invalid values of the request, and why.
pub(crate) fn violations(fault: &Fault) -> Vec<Violation<'_>> {
    match &*fault.detail {
        Detail::Advice(advice) => advice
            .path
            .iter()
            .map(|path| Violation { field: field(path), description: &fault.message })
            .collect(),
        Detail::Input { errors, .. } => errors
            .iter()
            .map(|error| Violation { field: field(&error.path), description: &error.message })
            .collect(),
    }
}

/// A JSON pointer in the dotted form that the error model uses.
fn field(pointer: &str) -> String {
    let path = pointer.strip_prefix("/params").unwrap_or(pointer);
    path.trim_start_matches('/').replace('/', ".")
}

#[derive(Debug, Serialize)]
pub(crate) struct Violation<'a> {
    pub(crate) field: String,
    pub(crate) description: &'a str,
}

#[derive(Serialize)]
struct ErrorInfo {
    #[serde(rename = "@type")]
    r#type: &'static str,
    reason: &'static str,
    domain: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct BadRequest<'a> {
    #[serde(rename = "@type")]
    r#type: &'static str,
    field_violations: Vec<Violation<'a>>,
}

#[derive(Serialize)]
struct Typed<'a> {
    #[serde(rename = "@type")]
    r#type: &'static str,
    /// Only for invalid input: other faults have it in their detail.
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<&'a str>,
    #[serde(flatten)]
    detail: &'a Detail,
}
