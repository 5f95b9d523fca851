//! Protocol 0.3: the default agent, with the names of this generation.

use futures_util::StreamExt;
use tonic::{Code, Streaming};
use trackway_a2a::Options;

use super::grpc_server::{
    GrpcTestServer, V03, error_details,
    pb::v03::{
        self as pb, TaskState, part::Part, send_message_response::Payload as Sent, stream_response::Payload,
    },
    with_header,
};

fn send_request(id: &str, text: &str, blocking: bool) -> pb::SendMessageRequest {
    let message = pb::Message {
        message_id: id.into(),
        role: pb::Role::User.into(),
        content: vec![pb::Part { part: Some(Part::Text(text.into())), metadata: None }],
        ..Default::default()
    };
    let configuration = pb::SendMessageConfiguration { blocking, ..Default::default() };
    pb::SendMessageRequest { request: Some(message), configuration: Some(configuration) }
}

async fn send(client: &mut V03, request: pb::SendMessageRequest) -> pb::Task {
    match client.send_message(request).await.unwrap().into_inner().payload {
        Some(Sent::Task(task)) => task,
        other => panic!("{other:?} is no task"),
    }
}

fn state(task: &pb::Task) -> TaskState {
    task.status.as_ref().unwrap().state()
}

async fn summarize(mut stream: Streaming<pb::StreamResponse>) -> Vec<String> {
    let mut shown = Vec::new();
    while let Some(item) = stream.next().await {
        shown.push(match item.unwrap().payload.unwrap() {
            Payload::Task(task) => format!("task:{}", state(&task).as_str_name()),
            Payload::StatusUpdate(update) => {
                let last = if update.r#final { "!" } else { "" };
                format!("{}{last}", update.status.unwrap().state().as_str_name())
            }
            Payload::ArtifactUpdate(update) => format!("+{}", update.artifact.unwrap().artifact_id),
            Payload::Msg(message) => format!("said:{}", message.message_id),
        });
    }
    shown
}

/// Proves X5.
#[tokio::test]
async fn send_get_stream_subscribe_and_cancel() {
    let line = GrpcTestServer::new().await;
    let mut client = line.v03();
    let sent = send(&mut client, send_request("m-1", "hello", true)).await;
    assert_eq!(state(&sent), TaskState::Completed);
    let name = format!("tasks/{}", sent.id);
    let get = pb::GetTaskRequest { name: name.clone(), history_length: 0 };
    assert_eq!(client.get_task(get).await.unwrap().into_inner(), sent);

    let stream = client.send_streaming_message(send_request("m-2", "hello", false)).await.unwrap();
    let expected = [
        "task:TASK_STATE_SUBMITTED",
        "TASK_STATE_WORKING",
        "TASK_STATE_WORKING",
        "+said.txt",
        "TASK_STATE_COMPLETED!",
    ];
    assert_eq!(summarize(stream.into_inner()).await, expected);
    let stream = client.task_subscription(pb::TaskSubscriptionRequest { name }).await.unwrap();
    assert_eq!(summarize(stream.into_inner()).await, ["task:TASK_STATE_COMPLETED"]);

    let begun = send(&mut client, send_request("m-3", "wait", false)).await;
    let cancel = pb::CancelTaskRequest { name: format!("tasks/{}", begun.id) };
    let cancelled = client.cancel_task(cancel).await.unwrap().into_inner();
    assert_eq!(state(&cancelled), TaskState::Cancelled);
}

/// Proves X5.
#[tokio::test]
async fn unsupported_requests_are_refused() {
    let options = Options { default_agent: Some("script".into()), extended_card: true, ..Options::default() };
    let line = GrpcTestServer::with_options(options).await;
    let mut client = line.v03();
    let unknown = pb::GetTaskRequest { name: "tasks/nobody".into(), history_length: 0 };
    let refused = client.get_task(unknown).await.unwrap_err();
    assert_eq!((refused.code(), error_details(&refused).0.as_str()), (Code::NotFound, "TASK_NOT_FOUND"));
    let nameless = pb::GetTaskRequest { name: "nobody".into(), history_length: 0 };
    let refused = client.get_task(nameless).await.unwrap_err();
    assert_eq!(refused.code(), Code::InvalidArgument);
    assert_eq!(error_details(&refused).2, ["name"]);
    let newer = with_header(send_request("m-1", "hi", true), "a2a-version", "1.0");
    let refused = client.send_message(newer).await.unwrap_err();
    assert_eq!(error_details(&refused).0, "VERSION_NOT_SUPPORTED");
    // There is no authentication here, and the extended card of this generation is for authenticated
    // callers.
    let refused = client.get_agent_card(pb::GetAgentCardRequest {}).await.unwrap_err();
    assert_eq!(error_details(&refused).0, "EXTENDED_AGENT_CARD_NOT_CONFIGURED");
}
