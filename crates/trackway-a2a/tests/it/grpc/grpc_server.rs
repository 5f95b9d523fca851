//! A test site over gRPC, and its clients.

use std::collections::BTreeMap;

use prost::Message as _;
use tokio::{net::TcpListener, sync::oneshot, task::JoinHandle};
use tonic::{
    IntoRequest, Request, Response, Status, Streaming, client::Grpc, codegen::http::uri::PathAndQuery,
    metadata::MetadataValue, transport::Channel,
};
use tonic_prost::ProstCodec;
use trackway_a2a::{Options, grpc_server};

use crate::test_server::TestServer;

/// The messages of the server.
#[allow(
    clippy::all,
    missing_debug_implementations,
    unreachable_pub,
    reason = "generated code is as its generator writes it"
)]
pub(crate) mod pb {
    pub mod v03 {
        include!("../../../proto/generated/a2a.v1.rs");
    }
    pub mod v1 {
        include!("../../../proto/generated/lf.a2a.v1.rs");
    }
}

/// A client of one service: its methods, by their names on the wire.
macro_rules! client {
    ($client:ident, $pb:ident, $service:literal: $(
        $method:ident($call:ident) $wire:literal $request:ident -> $response:ty;
    )+) => {
        pub(crate) struct $client(Grpc<Channel>);

        impl $client {
            $(pub(crate) async fn $method(
                &mut self,
                request: impl IntoRequest<pb::$pb::$request>,
            ) -> Result<Response<$response>, Status> {
                self.0.ready().await.unwrap();
                let path = PathAndQuery::from_static(concat!("/", $service, "/", $wire));
                self.0.$call(request.into_request(), path, ProstCodec::default()).await
            })+
        }
    };
}

client! { V1, v1, "lf.a2a.v1.A2AService":
    send_message(unary) "SendMessage" SendMessageRequest -> pb::v1::SendMessageResponse;
    send_streaming_message(server_streaming) "SendStreamingMessage"
        SendMessageRequest -> Streaming<pb::v1::StreamResponse>;
    get_task(unary) "GetTask" GetTaskRequest -> pb::v1::Task;
    list_tasks(unary) "ListTasks" ListTasksRequest -> pb::v1::ListTasksResponse;
    cancel_task(unary) "CancelTask" CancelTaskRequest -> pb::v1::Task;
    subscribe_to_task(server_streaming) "SubscribeToTask"
        SubscribeToTaskRequest -> Streaming<pb::v1::StreamResponse>;
    create_task_push_notification_config(unary) "CreateTaskPushNotificationConfig"
        TaskPushNotificationConfig -> pb::v1::TaskPushNotificationConfig;
    get_task_push_notification_config(unary) "GetTaskPushNotificationConfig"
        GetTaskPushNotificationConfigRequest -> pb::v1::TaskPushNotificationConfig;
    list_task_push_notification_configs(unary) "ListTaskPushNotificationConfigs"
        ListTaskPushNotificationConfigsRequest
        -> pb::v1::ListTaskPushNotificationConfigsResponse;
    delete_task_push_notification_config(unary) "DeleteTaskPushNotificationConfig"
        DeleteTaskPushNotificationConfigRequest -> ();
    get_extended_agent_card(unary) "GetExtendedAgentCard"
        GetExtendedAgentCardRequest -> pb::v1::AgentCard;
}

client! { V03, v03, "a2a.v1.A2AService":
    send_message(unary) "SendMessage" SendMessageRequest -> pb::v03::SendMessageResponse;
    send_streaming_message(server_streaming) "SendStreamingMessage"
        SendMessageRequest -> Streaming<pb::v03::StreamResponse>;
    get_task(unary) "GetTask" GetTaskRequest -> pb::v03::Task;
    cancel_task(unary) "CancelTask" CancelTaskRequest -> pb::v03::Task;
    task_subscription(server_streaming) "TaskSubscription"
        TaskSubscriptionRequest -> Streaming<pb::v03::StreamResponse>;
    create_task_push_notification_config(unary) "CreateTaskPushNotificationConfig"
        CreateTaskPushNotificationConfigRequest -> pb::v03::TaskPushNotificationConfig;
    get_task_push_notification_config(unary) "GetTaskPushNotificationConfig"
        GetTaskPushNotificationConfigRequest -> pb::v03::TaskPushNotificationConfig;
    list_task_push_notification_config(unary) "ListTaskPushNotificationConfig"
        ListTaskPushNotificationConfigRequest
        -> pb::v03::ListTaskPushNotificationConfigResponse;
    delete_task_push_notification_config(unary) "DeleteTaskPushNotificationConfig"
        DeleteTaskPushNotificationConfigRequest -> ();
    get_agent_card(unary) "GetAgentCard" GetAgentCardRequest -> pb::v03::AgentCard;
}

pub(crate) struct GrpcTestServer {
    site: TestServer,
    pub(crate) channel: Channel,
    end: oneshot::Sender<()>,
    serving: JoinHandle<()>,
}

impl GrpcTestServer {
    pub(crate) async fn new() -> Self {
        Self::with_options(Options { default_agent: Some("script".into()), ..Options::default() }).await
    }

    pub(crate) async fn with_options(options: Options) -> Self {
        let site = TestServer::with_options(options.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let options = Options { grpc_address: Some(address.to_string()), ..options };
        let service = grpc_server(site.runtime.clone(), options);
        let (end, ended) = oneshot::channel();
        let serving = tokio::spawn(async move {
            service.serve_listener(listener, async { drop(ended.await) }).await.unwrap();
        });
        let channel = Channel::from_shared(format!("http://{address}")).unwrap();
        Self { site, channel: channel.connect().await.unwrap(), end, serving }
    }

    /// Stops the runtime and then the listener, and waits for both.
    pub(crate) async fn stop(self) {
        self.site.runtime.stop_runtime().await;
        drop(self.end);
        self.serving.await.unwrap();
    }

    pub(crate) fn v03(&self) -> V03 {
        V03(Grpc::new(self.channel.clone()))
    }

    pub(crate) fn v1(&self) -> V1 {
        V1(Grpc::new(self.channel.clone()))
    }
}

/// The same request with a metadata entry.
pub(crate) fn with_header<T>(message: T, name: &'static str, value: &str) -> Request<T> {
    let mut request = Request::new(message);
    request.metadata_mut().insert(name, MetadataValue::try_from(value).unwrap());
    request
}

/// `google.rpc.Status` in the trailers: reason, domain, and the invalid fields.
pub(crate) fn error_details(status: &Status) -> (String, String, Vec<String>) {
    #[derive(Clone, PartialEq, prost::Message)]
    struct Rpc {
        #[prost(int32, tag = "1")]
        code: i32,
        #[prost(message, repeated, tag = "3")]
        details: Vec<prost_types::Any>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    struct ErrorInfo {
        #[prost(string, tag = "1")]
        reason: String,
        #[prost(string, tag = "2")]
        domain: String,
        #[prost(btree_map = "string, string", tag = "3")]
        metadata: BTreeMap<String, String>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    struct BadRequest {
        #[prost(message, repeated, tag = "1")]
        field_violations: Vec<Violation>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    struct Violation {
        #[prost(string, tag = "1")]
        field: String,
    }

    let rpc = Rpc::decode(status.details()).unwrap();
    assert_eq!(rpc.code, i32::from(status.code()));
    let info = ErrorInfo::decode(&*rpc.details[0].value).unwrap();
    assert!(!info.metadata["code"].is_empty() && !info.metadata["next"].is_empty());
    let bad = rpc.details.get(1).map(|any| BadRequest::decode(&*any.value).unwrap());
    let fields = bad.into_iter().flat_map(|bad| bad.field_violations);
    (info.reason, info.domain, fields.map(|violation| violation.field).collect())
}
