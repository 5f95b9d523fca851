//! The descriptors: reflection returns them if it is enabled, and every method in them is served.

use futures_util::StreamExt;
use prost::Message;
use prost_types::FileDescriptorSet;
use tonic::{Code, Request, client::Grpc, codegen::http::uri::PathAndQuery};
use tonic_prost::ProstCodec;
use tonic_reflection::pb::v1::{
    ServerReflectionRequest, server_reflection_client::ServerReflectionClient,
    server_reflection_request::MessageRequest, server_reflection_response::MessageResponse,
};
use trackway_a2a::Options;

use super::grpc_server::GrpcTestServer;

async fn services(line: &GrpcTestServer) -> Result<Vec<String>, Code> {
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
async fn reflection_lists_both_services_when_enabled() {
    assert_eq!(services(&GrpcTestServer::new().await).await, Err(Code::Unimplemented));
    let line = GrpcTestServer::with_options(Options { grpc_reflection: true, ..Options::default() }).await;
    let told = services(&line).await.unwrap();
    for service in ["lf.a2a.v1.A2AService", "a2a.v1.A2AService"] {
        assert!(told.iter().any(|name| name == service), "{told:?}");
    }
}

/// Proves X5: methods are routed by hand, and none is missing.
#[tokio::test]
async fn every_method_of_the_descriptors_is_served_and_no_other() {
    let line = GrpcTestServer::new().await;
    let bytes: &[u8] = include_bytes!("../../../proto/generated/descriptors.bin");
    let descriptors = FileDescriptorSet::decode(bytes).unwrap();
    let mut served = 0;
    for file in &descriptors.file {
        for service in &file.service {
            for method in service.method.iter().map(|method| method.name()).chain(["Nothing"]) {
                let path = format!("/{}.{}/{method}", file.package(), service.name());
                let mut client = Grpc::new(line.channel.clone());
                client.ready().await.unwrap();
                let codec = ProstCodec::<(), ()>::default();
                let target = PathAndQuery::try_from(path.as_str()).unwrap();
                let called = client.unary(Request::new(()), target, codec).await;
                let is_unknown = called.is_err_and(|status| status.code() == Code::Unimplemented);
                assert_eq!(is_unknown, method == "Nothing", "{path}");
                served += usize::from(!is_unknown);
            }
        }
    }
    assert_eq!(served, 21);
}
