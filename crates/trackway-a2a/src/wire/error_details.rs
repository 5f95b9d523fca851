//! Errors of 1.0: the list of typed details, the same on JSON-RPC (`data`) and HTTP+JSON (`details`).

use serde::{Serialize, Serializer, ser::SerializeSeq};

use crate::error::{A2aError, A2aErrorDetail};

const ERROR_INFO: &str = "type.googleapis.com/google.rpc.ErrorInfo";
const BAD_REQUEST: &str = "type.googleapis.com/google.rpc.BadRequest";
/// Trackway's own details, in addition to the well-known types: a code with a page, and the next
/// action.
const ADVICE: &str = "urn:trackway:advice";
/// The domain of the reasons.
pub(crate) const DOMAIN: &str = "a2a-protocol.org";

#[derive(Debug)]
pub(crate) struct ErrorDetails<'a>(pub(crate) &'a A2aError);

impl Serialize for ErrorDetails<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let fault = self.0;
        let mut list = serializer.serialize_seq(None)?;
        if let Some(reason) = fault.kind.error_info_reason() {
            list.serialize_element(&ErrorInfo { r#type: ERROR_INFO, reason, domain: DOMAIN })?;
        }
        let violations = field_violations(fault);
        if !violations.is_empty() {
            let bad = BadRequest { r#type: BAD_REQUEST, field_violations: violations };
            list.serialize_element(&bad)?;
        }
        let told = match &*fault.detail {
            A2aErrorDetail::Advice(_) => None,
            A2aErrorDetail::Input { .. } => Some(fault.code_and_advice()),
        };
        let (code, next) = told.unzip();
        list.serialize_element(&AdviceDetail { r#type: ADVICE, code, next, detail: &fault.detail })?;
        list.end()
    }
}

/// The invalid values of the request, and why.
pub(crate) fn field_violations(fault: &A2aError) -> Vec<FieldViolation<'_>> {
    match &*fault.detail {
        A2aErrorDetail::Advice(advice) => advice
            .path
            .iter()
            .map(|path| FieldViolation { field: pointer_to_dotted_path(path), description: &fault.message })
            .collect(),
        A2aErrorDetail::Input { errors, .. } => errors
            .iter()
            .map(|error| FieldViolation {
                field: pointer_to_dotted_path(&error.path),
                description: &error.message,
            })
            .collect(),
    }
}

/// A JSON pointer in the dotted form that the error model uses.
fn pointer_to_dotted_path(pointer: &str) -> String {
    let path = pointer.strip_prefix("/params").unwrap_or(pointer);
    path.trim_start_matches('/').replace('/', ".")
}

#[derive(Debug, Serialize)]
pub(crate) struct FieldViolation<'a> {
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
    field_violations: Vec<FieldViolation<'a>>,
}

#[derive(Serialize)]
struct AdviceDetail<'a> {
    #[serde(rename = "@type")]
    r#type: &'static str,
    /// Only for invalid input: other faults have it in their detail.
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<&'a str>,
    #[serde(flatten)]
    detail: &'a A2aErrorDetail,
}
