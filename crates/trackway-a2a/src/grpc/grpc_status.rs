//! Faults in the form of gRPC: a status, and details for programs.

use std::collections::BTreeMap;

use prost::Message as _;
use prost_types::Any;
use tonic::Status;
use trackway_domain::ErrorCode;

use crate::{
    error::{A2aError, CanonicalStatusCode},
    wire::error_details::{self, DOMAIN},
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

pub(super) fn to_grpc_status(fault: &A2aError) -> Status {
    let code = grpc_code(fault);
    let message = truncate_status_text(&fault.message);
    let rpc = RpcStatus { code: code.into(), message: message.clone(), details: grpc_error_details(fault) };
    Status::with_details(code, message, rpc.encode_to_vec().into())
}

fn grpc_code(fault: &A2aError) -> tonic::Code {
    // After this failure the same request is correct again, and this code tells clients so.
    if fault.code_and_advice().0 == ErrorCode::Stopping.as_str() {
        return tonic::Code::Unavailable;
    }
    match fault.kind.canonical_code() {
        CanonicalStatusCode::InvalidArgument => tonic::Code::InvalidArgument,
        CanonicalStatusCode::NotFound => tonic::Code::NotFound,
        CanonicalStatusCode::FailedPrecondition => tonic::Code::FailedPrecondition,
        CanonicalStatusCode::Unavailable => tonic::Code::Unavailable,
        CanonicalStatusCode::Internal => tonic::Code::Internal,
        CanonicalStatusCode::Unauthenticated => tonic::Code::Unauthenticated,
        CanonicalStatusCode::PermissionDenied => tonic::Code::PermissionDenied,
        CanonicalStatusCode::ResourceExhausted => tonic::Code::ResourceExhausted,
    }
}

fn grpc_error_details(fault: &A2aError) -> Vec<Any> {
    let (code, next) = fault.code_and_advice();
    let (reason, domain) = match fault.kind.error_info_reason() {
        Some(reason) => (reason.to_owned(), DOMAIN),
        None => (code.to_ascii_uppercase().replace('-', "_"), OUR_DOMAIN),
    };
    let told = [("code", code.to_owned()), ("next", truncate_status_text(next))];
    let metadata = told.map(|(name, value)| (name.to_owned(), value)).into();
    let info = ErrorInfo { reason, domain: domain.to_owned(), metadata };
    let mut details = vec![pack_protobuf_any("type.googleapis.com/google.rpc.ErrorInfo", &info)];
    let mut bad = BadRequest::default();
    for violation in error_details::field_violations(fault) {
        let description = truncate_status_text(violation.description);
        bad.field_violations.push(FieldViolation { field: violation.field, description });
        if bad.encoded_len() > DETAILS_BYTES_MAX {
            // A client that corrects the first ones then receives the others.
            bad.field_violations.pop();
            break;
        }
    }
    if !bad.field_violations.is_empty() {
        details.push(pack_protobuf_any("type.googleapis.com/google.rpc.BadRequest", &bad));
    }
    details
}

fn pack_protobuf_any(type_url: &str, message: &impl prost::Message) -> Any {
    Any { type_url: type_url.to_owned(), value: message.encode_to_vec() }
}

fn truncate_status_text(text: &str) -> String {
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
