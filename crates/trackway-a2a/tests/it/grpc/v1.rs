//! Protocol 1.0: every operation, as a client sees it.

use futures_util::StreamExt;
use prost_types::value::Kind;
use tonic::{Code, Streaming};
use trackway_a2a::Options;

use super::grpc_server::{
    GrpcTestServer, V1, error_details,
    pb::v1::{
        self as pb, TaskState, part::Content, send_message_response::Payload as Sent,
        stream_response::Payload,
    },
    with_header,
};

pub(super) fn message(id: &str, text: &str) -> pb::Message {
    pb::Message {
        message_id: id.into(),
        role: pb::Role::User.into(),
        parts: vec![pb::Part { content: Some(Content::Text(text.into())), ..Default::default() }],
        ..Default::default()
    }
}

pub(super) fn send_request(message: pb::Message) -> pb::SendMessageRequest {
    pb::SendMessageRequest { message: Some(message), ..Default::default() }
}

fn get_request(id: &str) -> pb::GetTaskRequest {
    pb::GetTaskRequest { id: id.into(), ..Default::default() }
}

pub(super) async fn send(client: &mut V1, id: &str, text: &str) -> pb::Task {
    task(client.send_message(send_request(message(id, text))).await.unwrap().into_inner())
}

fn task(response: pb::SendMessageResponse) -> pb::Task {
    match response.payload {
        Some(Sent::Task(task)) => task,
        other => panic!("{other:?} is no task"),
    }
}

fn state(task: &pb::Task) -> TaskState {
    task.status.as_ref().unwrap().state()
}

/// The items of a stream in short form, and their positions.
async fn read(stream: &mut Streaming<pb::StreamResponse>) -> Option<(String, f64)> {
    let item = stream.next().await?.unwrap();
    let (shown, metadata) = match item.payload.unwrap() {
        Payload::Task(task) => (format!("task:{}", state(&task).as_str_name()), task.metadata),
        Payload::StatusUpdate(update) => {
            (update.status.unwrap().state().as_str_name().to_owned(), update.metadata)
        }
        Payload::ArtifactUpdate(update) => {
            (format!("+{}", update.artifact.unwrap().artifact_id), update.metadata)
        }
        Payload::Message(message) => return Some((format!("said:{}", text(&message)), 0.0)),
    };
    let Some(Kind::NumberValue(position)) = metadata.unwrap().fields["position"].kind else {
        panic!("every item has its position");
    };
    Some((shown.replace("TASK_STATE_", ""), position))
}

async fn all(stream: &mut Streaming<pb::StreamResponse>) -> Vec<(String, f64)> {
    let mut shown = Vec::new();
    while let Some(item) = read(stream).await {
        shown.push(item);
    }
    shown
}

fn names(shown: &[(String, f64)]) -> Vec<&str> {
    shown.iter().map(|(name, _)| name.as_str()).collect()
}

fn text(message: &pb::Message) -> &str {
    match message.parts[0].content.as_ref().unwrap() {
        Content::Text(text) => text,
        other => panic!("{other:?} is no text"),
    }
}

/// Proves X5.
#[tokio::test]
async fn send_get_list_and_refused_cancel() {
    let line = GrpcTestServer::new().await;
    let mut client = line.v1();
    let sent = send(&mut client, "m-1", "hello").await;
    assert_eq!(state(&sent), TaskState::Completed);
    assert_eq!(sent.artifacts[0].artifact_id, "said.txt");
    assert_eq!(text(&sent.history[0]), "hello");
    let output = &sent.metadata.as_ref().unwrap().fields["output"];
    assert!(matches!(output.kind, Some(Kind::StructValue(_))), "{output:?}");

    let got = client.get_task(get_request(&sent.id)).await.unwrap().into_inner();
    assert_eq!(got, sent);
    let none = pb::GetTaskRequest { history_length: Some(0), ..get_request(&sent.id) };
    assert_eq!(client.get_task(none).await.unwrap().into_inner().history, []);

    send(&mut client, "m-2", "again").await;
    let page = pb::ListTasksRequest { page_size: Some(1), ..Default::default() };
    let first = client.list_tasks(page.clone()).await.unwrap().into_inner();
    assert_eq!((first.tasks.len(), first.page_size, first.total_size), (1, 1, 2));
    assert_eq!(first.tasks[0].artifacts, []);
    let next =
        pb::ListTasksRequest { page_token: first.next_page_token, include_artifacts: Some(true), ..page };
    let second = client.list_tasks(next).await.unwrap().into_inner();
    assert_eq!(second.tasks[0].id, sent.id);
    assert_eq!(second.tasks[0].artifacts, sent.artifacts);
    assert_eq!(second.next_page_token, "");

    let cancel = pb::CancelTaskRequest { id: sent.id, ..Default::default() };
    let refused = client.cancel_task(cancel).await.unwrap_err();
    assert_eq!(refused.code(), Code::FailedPrecondition);
    assert_eq!(error_details(&refused).0, "TASK_NOT_CANCELABLE");
}

/// Proves X5.
#[tokio::test]
async fn a_task_that_waits_is_cancelled() {
    let line = GrpcTestServer::new().await;
    let mut client = line.v1();
    let configuration = pb::SendMessageConfiguration { return_immediately: true, ..Default::default() };
    let at_once =
        pb::SendMessageRequest { configuration: Some(configuration), ..send_request(message("m-1", "wait")) };
    let begun = task(client.send_message(at_once).await.unwrap().into_inner());
    let cancel = pb::CancelTaskRequest { id: begun.id, ..Default::default() };
    let canceled = client.cancel_task(cancel).await.unwrap().into_inner();
    assert_eq!(state(&canceled), TaskState::Canceled);
}

/// Proves X5.
#[tokio::test]
async fn a_stream_begins_with_the_task_and_ends_with_it() {
    let line = GrpcTestServer::new().await;
    let mut client = line.v1();
    let request = send_request(message("m-1", "hello"));
    let mut stream = client.send_streaming_message(request).await.unwrap().into_inner();
    let shown = all(&mut stream).await;
    let expected = ["task:SUBMITTED", "WORKING", "WORKING", "+said.txt", "COMPLETED"];
    assert_eq!(names(&shown), expected);
    assert!(shown.is_sorted_by(|one, next| one.1 < next.1), "{shown:?}");
}

/// Proves X5.
#[tokio::test]
async fn an_answer_that_needs_no_task_is_one_message() {
    let line = GrpcTestServer::new().await;
    let mut client = line.v1();
    let request = || send_request(message("m-1", "direct"));
    let response = client.send_message(request()).await.unwrap().into_inner();
    let Some(Sent::Message(said)) = response.payload else { panic!("no message") };
    assert_eq!((text(&said), said.role()), ("no task is needed for that", pb::Role::Agent));
    assert!(!said.context_id.is_empty() && said.task_id.is_empty());
    let mut stream = client.send_streaming_message(request()).await.unwrap().into_inner();
    assert_eq!(names(&all(&mut stream).await), ["said:no task is needed for that"]);
}

/// Proves X5.
#[tokio::test]
async fn subscription_spans_questions_and_resumes_at_a_position() {
    let line = GrpcTestServer::new().await;
    let mut client = line.v1();
    let asked = send(&mut client, "m-1", "ask").await;
    assert_eq!(state(&asked), TaskState::InputRequired);
    let subscribe = || pb::SubscribeToTaskRequest { id: asked.id.clone(), ..Default::default() };
    let mut stream = client.subscribe_to_task(subscribe()).await.unwrap().into_inner();
    let (first, _) = read(&mut stream).await.unwrap();
    assert_eq!(first, "task:INPUT_REQUIRED");

    for (id, fields) in
        [("m-2", ("amount", Kind::NumberValue(5.0))), ("m-3", ("signature", Kind::StringValue("me".into())))]
    {
        let (name, kind) = fields;
        let value = prost_types::Value { kind: Some(kind) };
        let fields = prost_types::Struct { fields: [(name.to_owned(), value)].into() };
        let data = prost_types::Value { kind: Some(Kind::StructValue(fields)) };
        let part = pb::Part { content: Some(Content::Data(data)), ..Default::default() };
        let answer = pb::Message { task_id: asked.id.clone(), parts: vec![part], ..message(id, "") };
        client.send_message(send_request(answer)).await.unwrap();
    }
    let shown = all(&mut stream).await;
    assert_eq!(names(&shown), ["WORKING", "AUTH_REQUIRED", "WORKING", "COMPLETED"]);

    // A client that received the first event gets the others, although the task has ended.
    let again = with_header(subscribe(), "last-event-id", &shown[0].1.to_string());
    let mut stream = client.subscribe_to_task(again).await.unwrap().into_inner();
    assert_eq!(all(&mut stream).await, shown[1..]);
    let refused = client.subscribe_to_task(subscribe()).await.unwrap_err();
    assert_eq!(error_details(&refused).0, "UNSUPPORTED_OPERATION");
}

/// Proves X5.
#[tokio::test]
async fn the_tenant_names_the_agent() {
    let line = GrpcTestServer::new().await;
    let mut client = line.v1();
    let other = pb::SendMessageRequest { tenant: "other".into(), ..send_request(message("m-1", "hi")) };
    let sent = task(client.send_message(other).await.unwrap().into_inner());
    let refused = client.get_task(get_request(&sent.id)).await.unwrap_err();
    assert_eq!(error_details(&refused).0, "TASK_NOT_FOUND");
    let there = pb::GetTaskRequest { tenant: "other".into(), ..get_request(&sent.id) };
    assert_eq!(client.get_task(there).await.unwrap().into_inner().id, sent.id);
}

/// Proves X5.
#[tokio::test]
async fn extended_card_and_requested_extensions() {
    let extended =
        Options { default_agent: Some("script".into()), extended_card: true, ..Options::default() };
    let line = GrpcTestServer::with_options(extended).await;
    let mut client = line.v1();
    let plain = pb::GetExtendedAgentCardRequest::default();
    let card = client.get_extended_agent_card(plain).await.unwrap().into_inner();
    assert_eq!((card.name.as_str(), card.skills.len()), ("script", 1));
    let bindings: Vec<_> = card
        .supported_interfaces
        .iter()
        .map(|known| format!("{} {}", known.protocol_binding, known.protocol_version))
        .collect();
    assert_eq!(bindings[..3], ["JSONRPC 1.0", "HTTP+JSON 1.0", "GRPC 1.0"]);
    assert!(card.supported_interfaces[0].url.ends_with("/a2a"), "{card:?}");
    let capabilities = card.capabilities.unwrap();
    assert_eq!(capabilities.extended_agent_card, Some(true));

    let uri = &capabilities.extensions[0].uri;
    let other = pb::GetExtendedAgentCardRequest { tenant: "other".into() };
    let request = with_header(other, "a2a-extensions", &format!("{uri}, urn:unknown"));
    let response = client.get_extended_agent_card(request).await.unwrap();
    assert_eq!(response.metadata().get("a2a-extensions").unwrap(), uri.as_str());
    let card = response.into_inner();
    let grpc = card.supported_interfaces.iter().find(|known| known.protocol_binding == "GRPC");
    assert_eq!(grpc.unwrap().tenant, "other");

    let line = GrpcTestServer::new().await;
    let plain = pb::GetExtendedAgentCardRequest::default();
    let refused = line.v1().get_extended_agent_card(plain).await.unwrap_err();
    assert_eq!(error_details(&refused).0, "UNSUPPORTED_OPERATION");
}
