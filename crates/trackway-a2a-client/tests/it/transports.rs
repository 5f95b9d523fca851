//! Requests that do not travel over HTTP, and the headers that a caller adds.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use trackway_a2a_client::{
    Client, ClientError, HeaderMap, HeaderName, HeaderValue, ProtocolVersion, RequestHeaderSource,
    RequestPurpose, RequestTransport, SendOptions, SendReply, ServiceTransport, TaskState, TransportError,
    TransportFuture, TransportRequest,
};

use super::{
    agent_messages::bare_task,
    options, read_all,
    scripted_agent::{ScriptedAgent, ScriptedStep, StreamEnd},
    summarize,
    test_server::TestServer,
    user_message,
};

const AGENT: &str = "http://in-process/a2a/agents/script";

/// Refuses each request in the same way, and remembers what it was about.
#[derive(Debug, Default)]
struct RefusingTransport {
    purposes: std::sync::Mutex<Vec<RequestPurpose>>,
}

impl RequestTransport for RefusingTransport {
    fn send_request(&self, request: TransportRequest) -> TransportFuture<'_> {
        self.purposes.lock().unwrap().push(request.purpose);
        Box::pin(async { Err(TransportError::TooLarge { bytes: 2, bytes_max: 1 }) })
    }
}

/// A number that is higher each time.
#[derive(Debug, Default)]
struct CountingHeaders(AtomicU32);

impl RequestHeaderSource for CountingHeaders {
    fn headers_for_request(&self) -> HeaderMap {
        let number = self.0.fetch_add(1, Ordering::Relaxed);
        HeaderMap::from_iter([(HeaderName::from_static("trackway-call"), HeaderValue::from(number))])
    }
}

#[tokio::test]
async fn a_router_in_the_same_process_is_an_agent_like_any_other() {
    let server = TestServer::open().await;
    let transport = Arc::new(ServiceTransport::new(server.router.clone()));
    let client = Client::discover_with_transport(AGENT, transport, options()).await.unwrap();
    assert_eq!(client.agent_card().unwrap().name, "script");
    assert!(client.rediscover_if_card_changed().await.unwrap().is_none(), "the tag travels too");

    let mut updates =
        client.stream_message(&user_message("m-1", "two words"), &SendOptions::default()).await.unwrap();
    let (seen, error) = read_all(&mut updates).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(summarize(&seen).last().map(String::as_str), Some("completed!"));
    let task = seen[0].task_id().unwrap().to_owned();
    assert!(updates.last_event_id().is_some());

    let asked = client.send_message(&user_message("m-2", "ask"), &SendOptions::default()).await.unwrap();
    let SendReply::Task(asked) = asked else { panic!("a task") };
    assert_eq!(asked.status.state, TaskState::InputRequired);
    assert_eq!(client.cancel_task(&asked.id).await.unwrap().status.state, TaskState::Canceled);
    assert_eq!(client.get_task(&task, None).await.unwrap().status.state, TaskState::Completed);
}

#[tokio::test]
async fn a_transport_learns_what_a_request_is_about_and_its_refusal_is_final() {
    let transport = Arc::new(RefusingTransport::default());
    let server = TestServer::open().await;
    let card = server.client().await.agent_card().unwrap().clone();
    let client = Client::with_transport(&server.url(), card, Arc::clone(&transport) as _, options()).unwrap();
    let mut continued = user_message("m-2", "hi");
    continued.task = Some("t-1".to_owned());
    for message in [&user_message("m-1", "hi"), &continued] {
        let error = client.send_message(message, &SendOptions::default()).await.unwrap_err();
        assert!(matches!(error, ClientError::RequestTooLarge { bytes: 2, bytes_max: 1 }), "{error:?}");
        assert!(error.to_string().contains("artifact"), "{error}");
    }
    client.get_task("t-1", None).await.unwrap_err();
    client.get_push_config("t-1", "p-1").await.unwrap_err();
    client.get_extended_card().await.unwrap_err();
    let task = |task: &str| RequestPurpose::Task { task: task.to_owned() };
    let message = |message: &str, task: Option<&str>| RequestPurpose::Message {
        message: message.to_owned(),
        task: task.map(str::to_owned),
    };
    assert_eq!(
        *transport.purposes.lock().unwrap(),
        [message("m-1", None), message("m-2", Some("t-1")), task("t-1"), task("t-1"), RequestPurpose::Agent],
        "each was sent once"
    );
}

#[tokio::test]
async fn added_headers_travel_with_each_request_and_fresh_ones_with_each_attempt() {
    let generation = ProtocolVersion::V1;
    let working = bare_task(generation, "working", 1, &[]);
    let agent = ScriptedAgent::new([
        ScriptedStep::result(&working),
        ScriptedStep::status(503, ""),
        ScriptedStep::result(&working),
        ScriptedStep::numbered_events(1, &[serde_json::json!({ "task": working })], StreamEnd::Cut),
        ScriptedStep::numbered_events(
            2,
            &[serde_json::json!({ "task": bare_task(generation, "completed", 2, &[]) })],
            StreamEnd::Proper,
        ),
    ])
    .await;
    let plain = agent.client(generation, options());
    let with_one = plain.with_header(HeaderName::from_static("x-team"), HeaderValue::from_static("red"));
    with_one.get_task("t-1", None).await.unwrap();
    let fresh = with_one.with_header_source(Arc::new(CountingHeaders::default()));
    fresh.get_task("t-1", None).await.unwrap();
    let mut updates = fresh.subscribe_to_task("t-1", None).await.unwrap();
    let (seen, error) = read_all(&mut updates).await;
    assert!(error.is_none() && seen.len() == 2, "{seen:?} {error:?}");
    let asked = agent.recorded_requests();
    let sent: Vec<_> = asked.iter().map(|request| request.header("trackway-call")).collect();
    assert_eq!(sent, [None, Some("0"), Some("1"), Some("2"), Some("3")]);
    assert!(asked.iter().all(|request| request.header("x-team") == Some("red")));
    assert!(!format!("{fresh:?}").contains("\"red\""));
}

#[tokio::test]
async fn a_credential_that_no_header_can_carry_is_an_error_at_once() {
    let options = trackway_a2a_client::Options { token: Some("a\nb".to_owned()), ..options() };
    let client = Client::for_json_rpc("http://agent/", ProtocolVersion::V1, options).unwrap();
    let error = client.get_task("t-1", None).await.unwrap_err();
    assert!(matches!(error, ClientError::InvalidHeader { name: "authorization" }), "{error:?}");
}
