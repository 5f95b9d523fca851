//! When a request is retried, and when it is not.

use std::time::Duration;

use serde_json::json;
use trackway_a2a_client::{
    AddressedMessage, AgentRefusalKind, ClientError, Options, ProtocolVersion, ResendPolicy, SendOptions,
    SendReply, TaskState,
};

use super::{
    agent_messages::{BOTH, bare_task, task},
    options, read_all,
    scripted_agent::{ScriptedAgent, ScriptedStep, StreamEnd},
    summarize, user_message,
};

async fn send(agent: &ScriptedAgent, options: Options) -> Result<SendReply, ClientError> {
    let client = agent.client(ProtocolVersion::V1, options);
    client.send_message(&user_message("m-1", "hi"), &SendOptions::default()).await
}

fn done() -> ScriptedStep {
    ScriptedStep::result(&task(ProtocolVersion::V1, "completed", 1, &[]))
}

#[tokio::test]
async fn a_busy_agent_is_asked_again_with_the_same_message() {
    for status in [429, 502, 503, 504] {
        let wait = "retry-after: 0\r\n";
        let agent = ScriptedAgent::new([
            ScriptedStep::status(status, wait),
            ScriptedStep::status(status, ""),
            done(),
        ])
        .await;
        let reply = send(&agent, options()).await.unwrap();
        assert_eq!(reply.as_task().unwrap().status.state, TaskState::Completed);
        let asked = agent.recorded_requests();
        let same = asked.iter().all(|other| other.body == asked[0].body);
        assert!(same && asked.len() == 3, "the same message under the same id: {asked:?}");
    }
}

#[tokio::test]
async fn an_agent_that_stays_busy_is_left_alone_after_the_last_try() {
    let agent = ScriptedAgent::new([503, 503, 503].map(|status| ScriptedStep::status(status, ""))).await;
    let error = send(&agent, options()).await.unwrap_err();
    assert!(matches!(error, ClientError::Status { status: 503, .. }), "{error}");
    assert_eq!(agent.recorded_requests().len(), 3);
    let agent = ScriptedAgent::new([ScriptedStep::status(503, "retry-after: 3600\r\n")]).await;
    let error = send(&agent, options()).await.unwrap_err();
    let hour = Some(Duration::from_secs(3_600));
    assert!(matches!(error, ClientError::Status { retry_after, .. } if retry_after == hour));
}

#[tokio::test]
async fn a_lost_message_is_sent_again_only_where_that_is_said_to_be_safe() {
    let agent = ScriptedAgent::new([ScriptedStep::Hang]).await;
    let error = send(&agent, options()).await.unwrap_err();
    assert!(matches!(error, ClientError::Transport { .. }), "{error:?}");
    assert_eq!(agent.recorded_requests().len(), 1, "the agent may have acted on it");

    let agent = ScriptedAgent::new([ScriptedStep::Hang, done()]).await;
    let safe = Options { resend: ResendPolicy::WhenLost, ..options() };
    send(&agent, safe).await.unwrap();
    let asked = agent.recorded_requests();
    assert_eq!(asked[0].body, asked[1].body);

    // Reads are harmless.
    for generation in BOTH {
        let result = ScriptedStep::result(&bare_task(generation, "working", 1, &[]));
        let agent = ScriptedAgent::new([ScriptedStep::Hang, result]).await;
        agent.client(generation, options()).get_task("t-1", None).await.unwrap();
        assert_eq!(agent.recorded_requests().len(), 2);
    }
}

#[tokio::test]
async fn connection_refused_and_no_answer_are_errors() {
    let agent = ScriptedAgent::new([]).await;
    let url = agent.url.clone();
    drop(agent);
    // The port is free again; the next process that gets it is not an agent.
    let client = trackway_a2a_client::Client::for_json_rpc(&url, ProtocolVersion::V1, options()).unwrap();
    let error = client.get_task("t-1", None).await.unwrap_err();
    assert!(matches!(error, ClientError::Transport { .. }), "{error:?}");

    let agent = ScriptedAgent::new([ScriptedStep::Silence]).await;
    let short = Options { idle_timeout: Duration::from_millis(500), ..options() };
    let error = send(&agent, short).await.unwrap_err();
    assert!(matches!(error, ClientError::Timeout { .. }), "{error:?}");
    assert_eq!(agent.recorded_requests().len(), 1, "its time is over");
}

#[tokio::test]
async fn a_stream_is_opened_again_like_a_send() {
    for generation in BOTH {
        let events = ScriptedStep::events(&[task(generation, "completed", 1, &[])], StreamEnd::Proper);
        let agent = ScriptedAgent::new([ScriptedStep::status(503, ""), events]).await;
        let client = agent.client(generation, options());
        let mut updates =
            client.stream_message(&user_message("m-1", "hi"), &SendOptions::default()).await.unwrap();
        assert_eq!(summarize(&read_all(&mut updates).await.0), ["task:completed"]);
        assert_eq!(agent.recorded_requests()[0].body, agent.recorded_requests()[1].body);
    }
}

#[tokio::test]
async fn refusals_have_their_names_and_are_final() {
    for (code, kind) in [
        (-32700, AgentRefusalKind::Parse),
        (-32600, AgentRefusalKind::InvalidRequest),
        (-32601, AgentRefusalKind::MethodNotFound),
        (-32602, AgentRefusalKind::InvalidParams),
        (-32603, AgentRefusalKind::Internal),
        (-32001, AgentRefusalKind::TaskNotFound),
        (-32002, AgentRefusalKind::TaskNotCancelable),
        (-32003, AgentRefusalKind::PushNotificationNotSupported),
        (-32004, AgentRefusalKind::UnsupportedOperation),
        (-32005, AgentRefusalKind::ContentTypeNotSupported),
        (-32006, AgentRefusalKind::InvalidAgentResponse),
        (-32007, AgentRefusalKind::ExtendedCardNotConfigured),
        (-32008, AgentRefusalKind::ExtensionSupportRequired),
        (-32009, AgentRefusalKind::VersionNotSupported),
        (-1, AgentRefusalKind::Other),
    ] {
        let agent = ScriptedAgent::new([ScriptedStep::error(code, &json!({"next": "x"}))]).await;
        let Err(ClientError::Refused(refusal)) = send(&agent, options()).await else {
            panic!("{code} is a refusal");
        };
        assert_eq!((refusal.kind, refusal.code, refusal.status), (kind, code, 200));
        assert_eq!((refusal.message.as_str(), &refusal.data["next"]), ("no", &json!("x")));
    }
    // A refusal may have a different HTTP status, and a stream may be refused too.
    let body = json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32001, "message": "no"}});
    let agent = ScriptedAgent::new([ScriptedStep::Answer(404, "", body.to_string())]).await;
    let Err(ClientError::Refused(refusal)) = send(&agent, options()).await else { panic!() };
    assert_eq!((refusal.kind, refusal.status), (AgentRefusalKind::TaskNotFound, 404));
    let agent = ScriptedAgent::new([ScriptedStep::error(-32602, &json!(null))]).await;
    let client = agent.client(ProtocolVersion::V03, options());
    let error = client.stream_message(&user_message("m-1", "hi"), &SendOptions::default()).await.unwrap_err();
    assert_eq!(error.refusal_kind(), Some(AgentRefusalKind::InvalidParams));
}

#[tokio::test]
async fn garbage_is_malformed_and_not_asked_for_twice() {
    let json = "content-type: application/json\r\n";
    for step in [
        ScriptedStep::Answer(200, json, "<html>".to_owned()),
        ScriptedStep::Answer(200, json, String::new()),
        ScriptedStep::Answer(200, json, "{\"result\": 5}".to_owned()),
        ScriptedStep::Answer(200, json, "{}".to_owned()),
        ScriptedStep::result(&json!({"task": {"id": "t"}})),
    ] {
        let agent = ScriptedAgent::new([step.clone()]).await;
        let error = send(&agent, options()).await.unwrap_err();
        assert!(matches!(error, ClientError::MalformedResponse { .. }), "{step:?}: {error:?}");
        assert_eq!(agent.recorded_requests().len(), 1);
    }
    let agent = ScriptedAgent::new([done()]).await;
    let client = agent.client(ProtocolVersion::V1, options());
    let envelope: AddressedMessage = user_message("m-1", "hi");
    let error = client.stream_message(&envelope, &SendOptions::default()).await.unwrap_err();
    assert!(matches!(error, ClientError::MalformedResponse { .. }), "a stream was asked for: {error:?}");
    let agent = ScriptedAgent::new([ScriptedStep::status(401, "")]).await;
    let error = send(&agent, options()).await.unwrap_err();
    assert!(matches!(error, ClientError::Status { status: 401, .. }));
    assert!(error.to_string().contains("an error page"));
}
