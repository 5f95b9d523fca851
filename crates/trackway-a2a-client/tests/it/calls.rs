//! The operations and what they send, in both generations.

use serde_json::{Value, json};
use trackway_a2a_client::{
    Client, ClientError, Options, ProtocolVersion, PushConfig, SendOptions, SendReply, TaskQuery, TaskState,
};

use super::{
    agent_messages::{BOTH, bare_task, message, task},
    options,
    scripted_agent::{ScriptedAgent, ScriptedStep},
    user_message,
};

#[tokio::test]
async fn headers_say_who_speaks_which_protocol() {
    for generation in BOTH {
        let agent = ScriptedAgent::new([ScriptedStep::result(&task(generation, "working", 1, &[]))]).await;
        let options = Options {
            token: Some("key-1".to_owned()),
            extensions: vec!["urn:a".to_owned(), "urn:b".to_owned()],
            ..options()
        };
        let client = agent.client(generation, options);
        assert!(!format!("{client:?}").contains("key-1"));
        client.send_message(&user_message("m-1", "hi"), &SendOptions::return_immediately()).await.unwrap();
        let asked = agent.recorded_requests().remove(0);
        assert_eq!(asked.header("authorization"), Some("Bearer key-1"));
        assert_eq!(asked.header("content-type"), Some("application/json"));
        let (ours, others, version) = match generation {
            ProtocolVersion::V03 => ("x-a2a-extensions", "a2a-extensions", None),
            ProtocolVersion::V1 => ("a2a-extensions", "x-a2a-extensions", Some("1.0")),
        };
        assert_eq!((asked.header(ours), asked.header(others)), (Some("urn:a, urn:b"), None));
        assert_eq!(asked.header("a2a-version"), version);
    }
}

#[tokio::test]
async fn each_operation_has_its_name_and_parameters() {
    for (generation, expected) in [
        (
            ProtocolVersion::V03,
            [
                ("message/send", "m-1"),
                ("tasks/get", "t-1"),
                ("tasks/cancel", "t-1"),
                ("tasks/pushNotificationConfig/set", "t-1"),
                ("tasks/pushNotificationConfig/get", "t-1"),
                ("tasks/pushNotificationConfig/list", "t-1"),
                ("tasks/pushNotificationConfig/delete", "t-1"),
                ("agent/getAuthenticatedExtendedCard", ""),
            ],
        ),
        (
            ProtocolVersion::V1,
            [
                ("SendMessage", "m-1"),
                ("GetTask", "t-1"),
                ("CancelTask", "t-1"),
                ("CreateTaskPushNotificationConfig", "t-1"),
                ("GetTaskPushNotificationConfig", "t-1"),
                ("ListTaskPushNotificationConfigs", "t-1"),
                ("DeleteTaskPushNotificationConfig", "t-1"),
                ("GetExtendedAgentCard", ""),
            ],
        ),
    ] {
        let config = match generation {
            ProtocolVersion::V03 => {
                json!({"taskId": "t-1", "pushNotificationConfig": {"id": "p", "url": "http://me/"}})
            }
            ProtocolVersion::V1 => json!({"taskId": "t-1", "id": "p", "url": "http://me/"}),
        };
        let configs = match generation {
            ProtocolVersion::V03 => json!([config]),
            ProtocolVersion::V1 => json!({ "configs": [config] }),
        };
        let agent = ScriptedAgent::new([
            ScriptedStep::result(&message(generation)),
            ScriptedStep::result(&bare_task(generation, "working", 1, &["a"])),
            ScriptedStep::result(&bare_task(generation, "canceled", 2, &[])),
            ScriptedStep::result(&config),
            ScriptedStep::result(&config),
            ScriptedStep::result(&configs),
            ScriptedStep::result(&Value::Null),
            ScriptedStep::result(&json!({"name": "secret agent"})),
        ])
        .await;
        let client = agent.client(generation, options());
        let reply = client.send_message(&user_message("m-1", "hi"), &SendOptions::default()).await.unwrap();
        assert!(matches!(reply, SendReply::Message(said) if said.context.as_deref() == Some("c-1")));
        let task = client.get_task("t-1", Some(2)).await.unwrap();
        assert_eq!((task.artifacts.len(), task.status.state), (1, TaskState::Working));
        assert_eq!(client.cancel_task("t-1").await.unwrap().status.state, TaskState::Canceled);
        let set = client.set_push_config("t-1", &PushConfig::new("http://me/")).await.unwrap();
        assert_eq!(set.id.as_deref(), Some("p"));
        assert_eq!(client.get_push_config("t-1", "p").await.unwrap(), set);
        assert_eq!(client.list_push_configs("t-1").await.unwrap(), [set]);
        client.delete_push_config("t-1", "p").await.unwrap();
        assert_eq!(client.get_extended_card().await.unwrap().name, "secret agent");
        let asked = agent.recorded_requests();
        for (asked, (method, named)) in asked.iter().zip(expected) {
            assert_eq!(asked.method(), method);
            assert!(asked.body["params"].to_string().contains(named), "{asked:?}");
        }
        assert_eq!(asked[1].body["params"]["historyLength"], 2);
    }
}

#[tokio::test]
async fn tasks_are_listed_by_those_who_can() {
    let page = json!({"tasks": [bare_task(ProtocolVersion::V1, "working", 1, &[])], "nextPageToken": "n",
        "pageSize": 1, "totalSize": 2});
    let agent = ScriptedAgent::new([ScriptedStep::result(&page)]).await;
    let query = TaskQuery { page_size: Some(1), ..TaskQuery::default() };
    let page = agent.client(ProtocolVersion::V1, options()).list_tasks(&query).await.unwrap();
    assert_eq!((page.tasks.len(), page.next.as_deref(), page.total), (1, Some("n"), 2));
    let asked = agent.recorded_requests().remove(0);
    assert_eq!((asked.method(), &asked.body["params"]), ("ListTasks", &json!({"pageSize": 1})));

    let old = agent.client(ProtocolVersion::V03, options());
    let error = old.list_tasks(&query).await.unwrap_err();
    assert!(matches!(error, ClientError::Unsupported { generation: ProtocolVersion::V03, .. }));
    let unknown = TaskQuery { state: Some(TaskState::Unknown), ..TaskQuery::default() };
    let error = agent.client(ProtocolVersion::V1, options()).list_tasks(&unknown).await.unwrap_err();
    assert!(matches!(error, ClientError::Unsupported { .. }));
}

#[tokio::test]
async fn push_configurations_are_read_from_every_page() {
    let config = |id: &str| json!({"taskId": "t-1", "id": id, "url": "http://me/"});
    let agent = ScriptedAgent::new([
        ScriptedStep::result(&json!({"configs": [config("a")], "nextPageToken": "n"})),
        ScriptedStep::result(&json!({"configs": [config("b")], "nextPageToken": ""})),
    ])
    .await;
    let all = agent.client(ProtocolVersion::V1, options()).list_push_configs("t-1").await.unwrap();
    assert_eq!(all.iter().map(|config| config.id.as_deref().unwrap()).collect::<String>(), "ab");
    assert_eq!(agent.recorded_requests()[1].body["params"]["pageToken"], "n");
}

#[tokio::test]
async fn a_card_leads_to_its_agent_and_is_asked_for_by_its_tag() {
    let card = |name: &str| {
        json!({"name": name, "supportedInterfaces": [
            {"url": "/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "1.0", "tenant": "blue"}]})
        .to_string()
    };
    let agent = ScriptedAgent::new([
        ScriptedStep::status(503, ""),
        ScriptedStep::Answer(200, "etag: \"v1\"\r\n", card("one")),
        ScriptedStep::result(&bare_task(ProtocolVersion::V1, "working", 1, &[])),
        ScriptedStep::Answer(304, "", String::new()),
        ScriptedStep::Answer(200, "etag: \"v2\"\r\n", card("two")),
    ])
    .await;
    let client = Client::discover(&format!("{}/x/", agent.url), options()).await.unwrap();
    assert_eq!(client.protocol_version(), ProtocolVersion::V1);
    assert_eq!(client.agent_url(), format!("{}/rpc", agent.url));
    assert_eq!(client.agent_card().unwrap().name, "one");
    client.get_task("t-1", None).await.unwrap();
    assert!(client.rediscover_if_card_changed().await.unwrap().is_none(), "it has not changed");
    let newer = client.rediscover_if_card_changed().await.unwrap().expect("it has changed");
    assert_eq!(newer.agent_card().unwrap().etag.as_deref(), Some("\"v2\""));
    let asked = agent.recorded_requests();
    assert_eq!(asked[1].request_line(), "GET /x/.well-known/agent-card.json HTTP/1.1");
    assert_eq!(asked[2].request_line(), "POST /rpc HTTP/1.1");
    assert_eq!(asked[2].body["params"], json!({"id": "t-1", "tenant": "blue"}));
    assert_eq!(asked[3].header("if-none-match"), Some("\"v1\""));
}

#[tokio::test]
async fn addresses_that_cannot_be_spoken_to_are_refused_at_once() {
    for url in ["", "agent", "ftp://agent/", "mailto:agent"] {
        let error = Client::for_json_rpc(url, ProtocolVersion::V1, options()).unwrap_err();
        assert!(matches!(error, ClientError::InvalidAddress { .. }), "{url}");
        let error = Client::discover(url, options()).await.unwrap_err();
        assert!(matches!(error, ClientError::InvalidAddress { .. }), "{url}");
    }
    let client = Client::for_json_rpc("http://agent/", ProtocolVersion::V03, options()).unwrap();
    assert!(client.agent_card().is_none() && client.rediscover_if_card_changed().await.unwrap().is_none());
}
