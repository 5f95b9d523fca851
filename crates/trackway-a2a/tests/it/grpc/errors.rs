//! Refused requests and their statuses.

use std::sync::Arc;

use prost_types::{ListValue, value::Kind};
use tonic::Code;
use trackway_a2a::Options;
use trackway_domain::{Caller, Scopes};
use trackway_ports::{Authenticator, Credentials, Identity, PortFuture, Unauthenticated};

use super::{
    grpc_server::{
        GrpcTestServer, error_details,
        pb::v1::{self as pb, part::Content},
        with_header,
    },
    v1::{message, send, send_request},
};

/// Proves X5.
#[tokio::test]
async fn refusals_have_a_code_a_reason_and_the_field() {
    let line = GrpcTestServer::new().await;
    let mut client = line.v1();
    let unknown = pb::GetTaskRequest { id: "nobody".into(), ..Default::default() };
    let refused = client.get_task(unknown).await.unwrap_err();
    assert_eq!(refused.code(), Code::NotFound);
    assert!(!refused.message().is_empty());
    let protocol = "a2a-protocol.org".to_owned();
    assert_eq!(error_details(&refused), ("TASK_NOT_FOUND".into(), protocol, vec![]));

    let refused = client.get_task(pb::GetTaskRequest::default()).await.unwrap_err();
    assert_eq!(refused.code(), Code::InvalidArgument);
    let ours = "trackway".to_owned();
    assert_eq!(error_details(&refused), ("INVALID_REQUEST".into(), ours.clone(), vec!["id".into()]));

    let stranger = pb::SendMessageRequest { tenant: "nobody".into(), ..Default::default() };
    let refused = client.send_message(stranger).await.unwrap_err();
    assert_eq!(refused.code(), Code::NotFound);
    assert_eq!(error_details(&refused), ("UNKNOWN_WORKFLOW".into(), ours, vec![]));

    let push = pb::TaskPushNotificationConfig {
        task_id: send(&mut client, "m-1", "hello").await.id,
        url: "https://example.com".into(),
        ..Default::default()
    };
    let refused = client.create_task_push_notification_config(push).await.unwrap_err();
    assert_eq!(refused.code(), Code::FailedPrecondition);
    assert_eq!(error_details(&refused).0, "PUSH_NOTIFICATION_NOT_SUPPORTED");
}

/// Proves X5.
#[tokio::test]
async fn the_version_may_be_named_and_must_be_the_one_of_the_service() {
    let line = GrpcTestServer::new().await;
    let mut client = line.v1();
    let list = pb::ListTasksRequest::default;
    for good in ["1.0", "1.0.1", ""] {
        client.list_tasks(with_header(list(), "a2a-version", good)).await.unwrap();
    }
    for bad in ["0.3", "99.0", "1"] {
        let refused = client.list_tasks(with_header(list(), "a2a-version", bad)).await.unwrap_err();
        assert_eq!(refused.code(), Code::FailedPrecondition, "{bad}");
        assert_eq!(error_details(&refused).0, "VERSION_NOT_SUPPORTED", "{bad}");
    }
}

/// Proves X5.
#[tokio::test]
async fn what_is_too_large_or_unreadable_is_refused_and_the_connection_goes_on() {
    let options =
        Options { default_agent: Some("script".into()), body_bytes_max: 2_000, ..Options::default() };
    let line = GrpcTestServer::with_options(options).await;
    let mut client = line.v1();
    let large = send_request(message("m-1", &"x".repeat(3_000)));
    let refused = client.send_message(large).await.unwrap_err();
    assert_eq!(refused.code(), Code::ResourceExhausted);
    assert_eq!(error_details(&refused).0, "TOO_LARGE");

    let nested = (0..150).fold(Kind::BoolValue(true), |inner, _| {
        Kind::ListValue(ListValue { values: vec![prost_types::Value { kind: Some(inner) }] })
    });
    let data = prost_types::Value { kind: Some(nested) };
    let part = pb::Part { content: Some(Content::Data(data)), ..Default::default() };
    let deep = pb::Message { parts: vec![part], ..message("m-2", "") };
    let refused = client.send_message(send_request(deep)).await.unwrap_err();
    assert_eq!(refused.code(), Code::InvalidArgument);
    assert_eq!(error_details(&refused).0, "INVALID_REQUEST");

    send(&mut client, "m-3", "fine").await;
}

#[derive(Debug)]
struct Keys;

impl Authenticator for Keys {
    fn authenticate<'a>(
        &'a self,
        credentials: Credentials<'a>,
    ) -> PortFuture<'a, Result<Identity, Unauthenticated>> {
        let known =
            |scope: &str| Ok(Identity::new(Caller::local_without_auth(), Scopes::new([scope]).unwrap()));
        let identity = match credentials.bearer {
            Some("right") => known("workflow:script:run"),
            Some("other") => known("workflow:other:run"),
            _ => Err(Unauthenticated::Missing),
        };
        Box::pin(async { identity })
    }
}

/// Proves X6.
#[tokio::test]
async fn unauthenticated_callers_are_refused_before_parsing_errors() {
    let options = Options {
        default_agent: Some("script".into()),
        gatekeeper: Some(Arc::new(Keys)),
        ..Options::default()
    };
    let line = GrpcTestServer::with_options(options).await;
    let mut client = line.v1();
    let empty = pb::SendMessageRequest::default;
    let refused = client.send_message(empty()).await.unwrap_err();
    assert_eq!(refused.code(), Code::Unauthenticated);
    let other = with_header(empty(), "authorization", "Bearer other");
    assert_eq!(client.send_message(other).await.unwrap_err().code(), Code::PermissionDenied);
    let right = with_header(empty(), "authorization", "Bearer right");
    assert_eq!(client.send_message(right).await.unwrap_err().code(), Code::InvalidArgument);
    let right = with_header(send_request(message("m-1", "hi")), "authorization", "Bearer right");
    client.send_message(right).await.unwrap();
}

/// Proves X5.
#[tokio::test]
async fn a_server_that_stops_ends_its_streams() {
    let line = GrpcTestServer::new().await;
    let mut client = line.v1();
    let asked = send(&mut client, "m-1", "ask").await;
    let subscribe = pb::SubscribeToTaskRequest { id: asked.id, ..Default::default() };
    let mut stream = client.subscribe_to_task(subscribe).await.unwrap().into_inner();
    stream.message().await.unwrap().unwrap();
    let (ended, ()) = tokio::join!(stream.message(), line.stop());
    assert_eq!(ended.unwrap(), None);
}
