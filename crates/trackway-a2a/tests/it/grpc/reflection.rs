//! Reflection: off, unless it is asked for.

use futures_util::StreamExt;
use tonic::Code;
use tonic_reflection::pb::v1::{
    ServerReflectionRequest, server_reflection_client::ServerReflectionClient,
    server_reflection_request::MessageRequest, server_reflection_response::MessageResponse,
};
use trackway_a2a::Options;

use super::line::Line;

async fn services(line: &Line) -> Result<Vec<String>, Code> {
    let request = ServerReflectionRequest {
        host: String::new(),
        message_request: Some(MessageRequest::ListServices(String::new())),
    };
    let mut client = ServerReflectionClient::new(line.channel.clone());
    let asked = futures_util::stream::iter([request]);
    let response = client.server_reflection_info(asked).await.map_err(|status| status.code())?;
    let first = response.into_inner().next().await.unwrap().map_err(|status| status.code())?;
    match first.message_response {
        Some(MessageResponse::ListServicesResponse(list)) => {
            Ok(list.service.into_iter().map(|service| service.name).collect())
        }
        other => panic!("{other:?} is no list"),
    }
}

/// Proves X5.
#[tokio::test]
async fn tools_are_told_of_both_services_only_where_that_is_wanted() {
    assert_eq!(services(&Line::new().await).await, Err(Code::Unimplemented));
    let line = Line::with(Options { grpc_reflection: true, ..Options::default() }).await;
    let told = services(&line).await.unwrap();
    for service in ["lf.a2a.v1.A2AService", "a2a.v1.A2AService"] {
        assert!(told.iter().any(|name| name == service), "{told:?}");
    }
}
