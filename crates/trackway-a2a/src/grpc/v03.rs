//! The service of protocol 0.3, which knows one agent: the default one. Every method is: read, perform,
//! write.

mod card;
mod incoming;
mod name;
mod push;
mod written;

use std::sync::Arc;

use axum::http::HeaderMap;
use tonic::{Request, Response, Status};

use super::{
    pb::v03 as pb,
    perform::{Asking, Items, Performed, page_of, perform},
    value::given,
};
use crate::{
    asked,
    door::Door,
    fault::Fault,
    ops::{Call, Ended, History, Incoming, Outcome, Strangers, Wait},
    version::Generation,
};
use pb::a2a_service_server::{A2aService, A2aServiceServer};

pub(super) fn service(door: Arc<Door>) -> A2aServiceServer<Service> {
    A2aServiceServer::new(Service { door })
}

#[derive(Debug)]
pub(super) struct Service {
    door: Arc<Door>,
}

impl Service {
    async fn perform<M: Asking>(
        &self,
        request: Request<M>,
        read: impl FnOnce(M, &HeaderMap) -> Result<Call, Fault>,
    ) -> Result<Performed<'_>, Status> {
        perform(&self.door, Generation::V03, request, read).await
    }
}

#[tonic::async_trait]
impl A2aService for Service {
    type SendStreamingMessageStream = Items<pb::StreamResponse>;
    type TaskSubscriptionStream = Items<pb::StreamResponse>;

    async fn send_message(
        &self,
        request: Request<pb::SendMessageRequest>,
    ) -> Result<Response<pb::SendMessageResponse>, Status> {
        let read = |asked, _: &HeaderMap| {
            let (incoming, wait, history) = sent(asked)?;
            Ok(Call::Send { incoming, wait, history })
        };
        self.perform(request, read).await?.answer(written::reply)
    }

    async fn send_streaming_message(
        &self,
        request: Request<pb::SendMessageRequest>,
    ) -> Result<Response<Self::SendStreamingMessageStream>, Status> {
        let read = |asked, _: &HeaderMap| {
            let (incoming, _, history) = sent(asked)?;
            Ok(Call::Stream { incoming, history })
        };
        self.perform(request, read).await?.stream(written::item, written::said)
    }

    async fn get_task(
        &self,
        request: Request<pb::GetTaskRequest>,
    ) -> Result<Response<pb::Task>, Status> {
        let read = |asked: pb::GetTaskRequest, _: &HeaderMap| {
            let history = history(asked.history_length, "/params/historyLength")?;
            Ok(Call::Get { task: name::task(&asked.name, "name")?, history })
        };
        self.perform(request, read).await?.answer(written::only)
    }

    async fn cancel_task(
        &self,
        request: Request<pb::CancelTaskRequest>,
    ) -> Result<Response<pb::Task>, Status> {
        let read = |asked: pb::CancelTaskRequest, _: &HeaderMap| {
            Ok(Call::Cancel { task: name::task(&asked.name, "name")? })
        };
        self.perform(request, read).await?.answer(written::only)
    }

    async fn task_subscription(
        &self,
        request: Request<pb::TaskSubscriptionRequest>,
    ) -> Result<Response<Self::TaskSubscriptionStream>, Status> {
        let read = |asked: pb::TaskSubscriptionRequest, headers: &HeaderMap| {
            let task = name::task(&asked.name, "name")?;
            let after = asked::last_event(headers)?;
            let history = asked::HISTORY_MESSAGES_MAX;
            Ok(Call::Subscribe { task, after, ended: Ended::Shown, history })
        };
        self.perform(request, read).await?.stream(written::item, written::said)
    }

    async fn create_task_push_notification_config(
        &self,
        request: Request<pb::CreateTaskPushNotificationConfigRequest>,
    ) -> Result<Response<pb::TaskPushNotificationConfig>, Status> {
        self.perform(request, |asked, _| push::set(asked)).await?.answer(push::written)
    }

    async fn get_task_push_notification_config(
        &self,
        request: Request<pb::GetTaskPushNotificationConfigRequest>,
    ) -> Result<Response<pb::TaskPushNotificationConfig>, Status> {
        let read = |asked: pb::GetTaskPushNotificationConfigRequest, _: &HeaderMap| {
            let (task, id) = name::push(&asked.name)?;
            Ok(Call::GetPush { task, id: Some(id) })
        };
        self.perform(request, read).await?.answer(push::written)
    }

    async fn list_task_push_notification_config(
        &self,
        request: Request<pb::ListTaskPushNotificationConfigRequest>,
    ) -> Result<Response<pb::ListTaskPushNotificationConfigResponse>, Status> {
        let read = |asked: pb::ListTaskPushNotificationConfigRequest, _: &HeaderMap| {
            let page = page_of(asked.page_size, asked.page_token);
            Ok(Call::ListPushes { task: name::task(&asked.parent, "parent")?, page })
        };
        self.perform(request, read).await?.answer(push::list)
    }

    async fn delete_task_push_notification_config(
        &self,
        request: Request<pb::DeleteTaskPushNotificationConfigRequest>,
    ) -> Result<Response<()>, Status> {
        let read = |asked: pb::DeleteTaskPushNotificationConfigRequest, _: &HeaderMap| {
            let (task, id) = name::push(&asked.name)?;
            Ok(Call::RemovePush { task, id })
        };
        let done = |outcome: &Outcome| matches!(outcome, Outcome::Done).then_some(());
        self.perform(request, read).await?.answer(done)
    }

    async fn get_agent_card(
        &self,
        request: Request<pb::GetAgentCardRequest>,
    ) -> Result<Response<pb::AgentCard>, Status> {
        let read = |_, _: &HeaderMap| Ok(Call::ExtendedCard { strangers: Strangers::Refused });
        self.perform(request, read).await?.card(|card, _| card::card(card))
    }
}

fn sent(asked: pb::SendMessageRequest) -> Result<(Box<Incoming>, Wait, History), Fault> {
    let message = asked
        .request
        .ok_or_else(|| Fault::param("/params/message", "message is missing", "send a message"))?;
    let mut incoming = incoming::incoming(message)?;
    let configuration = asked.configuration.unwrap_or_default();
    incoming.accepted = configuration.accepted_output_modes;
    let place = "/params/configuration/pushNotification";
    let push = configuration.push_notification;
    incoming.push = push.map(|config| push::read(config, place)).transpose()?;
    let history = history(configuration.history_length, "/params/configuration/historyLength")?;
    let wait = if configuration.blocking { Wait::Rest } else { Wait::Commit };
    Ok((Box::new(incoming), wait, history))
}

/// This generation does not tell zero from a number that was not sent, so zero is no number.
fn history(length: i32, path: &str) -> Result<History, Fault> {
    asked::history((length != 0).then_some(i64::from(length)), path)
}

impl Asking for pb::SendMessageRequest {}
impl Asking for pb::GetTaskRequest {}
impl Asking for pb::CancelTaskRequest {}
impl Asking for pb::TaskSubscriptionRequest {}
impl Asking for pb::CreateTaskPushNotificationConfigRequest {}
impl Asking for pb::GetTaskPushNotificationConfigRequest {}
impl Asking for pb::ListTaskPushNotificationConfigRequest {}
impl Asking for pb::DeleteTaskPushNotificationConfigRequest {}
impl Asking for pb::GetAgentCardRequest {}

#[cfg(test)]
mod tests;
