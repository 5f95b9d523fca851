//! Codes and details.

use serde_json::json;
use trackway_domain::ValidationError;

use super::*;
use crate::error::A2aErrorKind;

fn read(fault: &A2aError) -> (tonic::Code, ErrorInfo, Vec<FieldViolation>) {
    let status = to_grpc_status(fault);
    let rpc = RpcStatus::decode(status.details()).unwrap();
    assert_eq!(rpc.code, i32::from(status.code()));
    assert_eq!(rpc.message, status.message());
    let mut details = rpc.details.into_iter();
    let info = details.next().unwrap();
    assert_eq!(info.type_url, "type.googleapis.com/google.rpc.ErrorInfo");
    let bad = details.next().map(|any| {
        assert_eq!(any.type_url, "type.googleapis.com/google.rpc.BadRequest");
        BadRequest::decode(&*any.value).unwrap()
    });
    let violations = bad.map(|bad| bad.field_violations).unwrap_or_default();
    (status.code(), ErrorInfo::decode(&*info.value).unwrap(), violations)
}

/// Proves X5.
#[test]
fn every_kind_has_its_code_and_its_reason() {
    for (kind, code, reason, domain) in [
        (A2aErrorKind::TaskNotFound, tonic::Code::NotFound, "TASK_NOT_FOUND", DOMAIN),
        (A2aErrorKind::TaskNotCancelable, tonic::Code::FailedPrecondition, "TASK_NOT_CANCELABLE", DOMAIN),
        (A2aErrorKind::VersionNotSupported, tonic::Code::FailedPrecondition, "VERSION_NOT_SUPPORTED", DOMAIN),
        (A2aErrorKind::InvalidParams, tonic::Code::InvalidArgument, "INVALID_REQUEST", OUR_DOMAIN),
        (A2aErrorKind::Unauthenticated, tonic::Code::Unauthenticated, "INVALID_REQUEST", OUR_DOMAIN),
        (A2aErrorKind::Forbidden, tonic::Code::PermissionDenied, "INVALID_REQUEST", OUR_DOMAIN),
        (A2aErrorKind::TooLarge, tonic::Code::ResourceExhausted, "INVALID_REQUEST", OUR_DOMAIN),
        (A2aErrorKind::Internal, tonic::Code::Internal, "INVALID_REQUEST", OUR_DOMAIN),
    ] {
        let fault = A2aError::new(kind, ErrorCode::InvalidRequest, "no", "do it right");
        let (seen, info, violations) = read(&fault);
        assert_eq!(seen, code, "{kind:?}");
        assert_eq!((info.reason.as_str(), info.domain.as_str()), (reason, domain), "{kind:?}");
        assert_eq!(info.metadata["code"], "invalid-request");
        assert_eq!(info.metadata["next"], "do it right");
        assert_eq!(violations, []);
    }
    let stopping = A2aError::new(A2aErrorKind::Internal, ErrorCode::Stopping, "no", "later");
    assert_eq!(read(&stopping).0, tonic::Code::Unavailable);
}

/// Proves X5.
#[test]
fn fields_are_named_and_details_fit_into_trailers() {
    let fault = A2aError::invalid_param_error("/params/message/parts/0/url", "it is empty", "send it");
    let (_, _, violations) = read(&fault);
    assert_eq!(violations[0].field, "message.parts.0.url");
    assert_eq!(violations[0].description, "it is empty");

    let problem = |index| ValidationError {
        path: format!("/{index}"),
        code: "type".to_owned(),
        message: "long ".repeat(1_000),
        expected: json!("object"),
        got: None,
        hint: None,
    };
    let fault = A2aError::invalid_input((0..1_000).map(problem).collect(), json!({}));
    let (_, info, violations) = read(&fault);
    assert_eq!(info.metadata["code"], "invalid-input");
    assert_eq!(violations[0].field, "0");
    assert!(to_grpc_status(&fault).details().len() < 2 * DETAILS_BYTES_MAX);
}
