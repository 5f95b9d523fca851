//! Faults in the form of gRPC: a status, and details for programs.

use std::collections::BTreeMap;

use prost::Message as _;
use prost_types::Any;
use tonic::Status;
use trackway_domain::Code;

use crate::{
    fault::{Canonical, Fault},
    wire::details::{self, DOMAIN},
};

/// The domain of reasons that the protocol does not define.
const OUR_DOMAIN: &str = "trackway";

/// Most bytes of details. They are sent in trailers, for which the default limit of clients is 8 KiB.
/// Base64 and the message itself need additional room.
/// Limit (A2A): details of a gRPC status.
const DETAILS_BYTES_MAX: usize = 4 * 1024;

/// Most characters of the message, and of the text about one field.
/// Limit (A2A): message of a gRPC status, and its text about one field.
const MESSAGE_CHARS_MAX: usize = 500;

pub(super) fn status(fault: &Fault) -> Status {
    let code = code(fault);
    let message = short(&fault.message);
    let rpc = RpcStatus { code: code.into(), message: message.clone(), details: details(fault) };
    Status::with_details(code, message, rpc.encode_to_vec().into())
}

fn code(fault: &Fault) -> tonic::Code {
    // After this failure the same request is correct again, and this code tells clients so.
    if fault.told().0 == Code::Stopping.as_str() {
        return tonic::Code::Unavailable;
    }
    match fault.kind.canonical() {
        Canonical::InvalidArgument => tonic::Code::InvalidArgument,
        Canonical::NotFound => tonic::Code::NotFound,
        Canonical::FailedPrecondition => tonic::Code::FailedPrecondition,
        Canonical::Unavailable => tonic::Code::Unavailable,
        Canonical::Internal => tonic::Code::Internal,
        Canonical::Unauthenticated => tonic::Code::Unauthenticated,
        Canonical::PermissionDenied => tonic::Code::PermissionDenied,
        Canonical::ResourceExhausted => tonic::Code::ResourceExhausted,
    }
}

fn details(fault: &Fault) -> Vec<Any> {
    let (code, next) = fault.told();
    let (reason, domain) = match fault.kind.reason() {
        Some(reason) => (reason.to_owned(), DOMAIN),
        None => (code.to_ascii_uppercase().replace('-', "_"), OUR_DOMAIN),
    };
    let told = [("code", code.to_owned()), ("next", short(next))];
    let metadata = told.map(|(name, value)| (name.to_owned(), value)).into();
    let info = ErrorInfo { reason, domain: domain.to_owned(), metadata };
    let mut details = vec![any("type.googleapis.com/google.rpc.ErrorInfo", &info)];
    let mut bad = BadRequest::default();
    for violation in details::violations(fault) {
        let description = short(violation.description);
        bad.field_violations.push(FieldViolation { field: violation.field, description });
        if bad.encoded_len() > DETAILS_BYTES_MAX {
            // A client that corrects the first ones then receives the others.
            bad.field_violations.pop();
            break;
        }
    }
    if !bad.field_violations.is_empty() {
        details.push(any("type.googleapis.com/google.rpc.BadRequest", &bad));
    }
    details
}

fn any(type_url: &str, message: &impl prost::Message) -> Any {
    Any { type_url: type_url.to_owned(), value: message.encode_to_vec() }
}

fn short(text: &str) -> String {
    text.chars().take(MESSAGE_CHARS_MAX).collect()
}

/// `google.rpc.Status`: the content of `grpc-status-details-bin`.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct RpcStatus {
    #[prost(int32, tag = "1")]
    code: i32,
    #[prost(string, tag = "2")]
    message: String,
    #[prost(message, repeated, tag = "3")]
    details: Vec<Any>,
}

/// `google.rpc.ErrorInfo`.
#[derive(Clone, PartialEq, prost::Message)]
struct ErrorInfo {
    #[prost(string, tag = "1")]
    reason: String,
    #[prost(string, tag = "2")]
    domain: String,
    #[prost(btree_map = "string, string", tag = "3")]
    metadata: BTreeMap<String, String>,
}

/// `google.rpc.BadRequest`.
#[derive(Clone, PartialEq, prost::Message)]
struct BadRequest {
    #[prost(message, repeated, tag = "1")]
    field_violations: Vec<FieldViolation>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct FieldViolation {
    #[prost(string, tag = "1")]
    field: String,
    #[prost(string, tag = "2")]
    description: String,
}

#[cfg(test)]
mod tests;
