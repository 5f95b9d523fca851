//! A site that is served over gRPC, and clients of it.

use std::collections::BTreeMap;

use prost::Message as _;
use tokio::{net::TcpListener, sync::oneshot, task::JoinHandle};
use tonic::{Request, Status, metadata::MetadataValue, transport::Channel};
use trackway_a2a::{Options, grpc};

use crate::site::Site;

/// Generated from the same files as the server, once more, with clients.
#[allow(
    clippy::all,
    missing_debug_implementations,
    unreachable_pub,
    reason = "generated code is as its generator writes it"
)]
pub(crate) mod pb {
    pub mod v03 {
        include!("../../../proto/generated/client/a2a.v1.rs");
    }
    pub mod v1 {
        include!("../../../proto/generated/client/lf.a2a.v1.rs");
    }
}

pub(crate) type V03 = pb::v03::a2a_service_client::A2aServiceClient<Channel>;
pub(crate) type V1 = pb::v1::a2a_service_client::A2aServiceClient<Channel>;

pub(crate) struct Line {
    site: Site,
    pub(crate) channel: Channel,
    end: oneshot::Sender<()>,
    serving: JoinHandle<()>,
}

impl Line {
    pub(crate) async fn new() -> Self {
        Self::with(Options { default_agent: Some("script".into()), ..Options::default() }).await
    }

    pub(crate) async fn with(options: Options) -> Self {
        let site = Site::with(options.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let options = Options { grpc_address: Some(address.to_string()), ..options };
        let service = grpc(site.runtime.clone(), options);
        let (end, ended) = oneshot::channel();
        let serving = tokio::spawn(async move {
            service.serve(listener, async { drop(ended.await) }).await.unwrap();
        });
        let channel = Channel::from_shared(format!("http://{address}")).unwrap();
        Self { site, channel: channel.connect().await.unwrap(), end, serving }
    }

    /// Stops the runtime and then the listener, and waits until it has gone.
    pub(crate) async fn stop(self) {
        self.site.runtime.stop().await;
        drop(self.end);
        self.serving.await.unwrap();
    }

    pub(crate) fn v03(&self) -> V03 {
        V03::new(self.channel.clone())
    }

    pub(crate) fn v1(&self) -> V1 {
        V1::new(self.channel.clone())
    }
}

/// The same request with an entry of metadata.
pub(crate) fn with<T>(message: T, name: &'static str, value: &str) -> Request<T> {
    let mut request = Request::new(message);
    request.metadata_mut().insert(name, MetadataValue::try_from(value).unwrap());
    request
}

/// `google.rpc.Status` in the trailers: reason, domain, and the fields that are to blame.
pub(crate) fn details(status: &Status) -> (String, String, Vec<String>) {
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
