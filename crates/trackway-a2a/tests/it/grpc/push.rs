//! Push notification configurations, in both generations.

use tonic::Code;
use trackway_a2a::{Options, PushSender, PushSenderOptions};

use super::{
    grpc_server::{
        GrpcTestServer,
        pb::{v1 as pb, v03},
    },
    v1::send,
};

/// Nothing happens to the tasks below after the subscription, so no notification is sent.
async fn line() -> GrpcTestServer {
    let options = Options {
        default_agent: Some("script".into()),
        outgoing: Some(PushSender::new(PushSenderOptions::default())),
        ..Options::default()
    };
    GrpcTestServer::with_options(options).await
}

/// Proves X5.
#[tokio::test]
async fn configurations_are_created_got_listed_and_deleted() {
    let line = line().await;
    let mut client = line.v1();
    let task_id = send(&mut client, "m-1", "ask").await.id;
    let config = pb::TaskPushNotificationConfig {
        id: "mine".into(),
        task_id: task_id.clone(),
        url: "https://example.com/hook".into(),
        token: "t".into(),
        authentication: Some(pb::AuthenticationInfo {
            scheme: "Bearer".into(),
            credentials: "secret".into(),
        }),
        ..Default::default()
    };
    let created = client.create_task_push_notification_config(config.clone()).await.unwrap();
    assert_eq!(created.into_inner(), config);
    let named = || pb::GetTaskPushNotificationConfigRequest {
        task_id: task_id.clone(),
        id: "mine".into(),
        ..Default::default()
    };
    let got = client.get_task_push_notification_config(named()).await.unwrap();
    assert_eq!(got.into_inner(), config);
    let all = pb::ListTaskPushNotificationConfigsRequest { task_id: task_id.clone(), ..Default::default() };
    let listed = client.list_task_push_notification_configs(all).await.unwrap().into_inner();
    assert_eq!(listed.configs, [config]);
    for _twice in 0..2 {
        let delete = pb::DeleteTaskPushNotificationConfigRequest {
            task_id: task_id.clone(),
            id: "mine".into(),
            ..Default::default()
        };
        client.delete_task_push_notification_config(delete).await.unwrap();
    }
    let gone = client.get_task_push_notification_config(named()).await.unwrap_err();
    assert_eq!(gone.code(), Code::NotFound);
}

/// Proves X5.
#[tokio::test]
async fn v03_configurations_have_resource_names() {
    let line = line().await;
    let task = send(&mut line.v1(), "m-1", "ask").await.id;
    let mut client = line.v03();
    let create = v03::CreateTaskPushNotificationConfigRequest {
        parent: format!("tasks/{task}"),
        config_id: "mine".into(),
        config: Some(v03::TaskPushNotificationConfig {
            name: String::new(),
            push_notification_config: Some(v03::PushNotificationConfig {
                url: "https://example.com/hook".into(),
                ..Default::default()
            }),
        }),
    };
    let created = client.create_task_push_notification_config(create).await.unwrap().into_inner();
    assert_eq!(created.name, format!("tasks/{task}/pushNotificationConfigs/mine"));
    let name = || created.name.clone();
    let get = v03::GetTaskPushNotificationConfigRequest { name: name() };
    let got = client.get_task_push_notification_config(get).await.unwrap().into_inner();
    assert_eq!(got, created);
    let parent = format!("tasks/{task}");
    let all = v03::ListTaskPushNotificationConfigRequest { parent, ..Default::default() };
    let listed = client.list_task_push_notification_config(all).await.unwrap().into_inner();
    assert_eq!(listed.configs, std::slice::from_ref(&created));
    let delete = v03::DeleteTaskPushNotificationConfigRequest { name: name() };
    client.delete_task_push_notification_config(delete).await.unwrap();
}
