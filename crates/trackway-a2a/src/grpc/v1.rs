//! The service of protocol 1.0. Every method is: read, perform, write.

mod card;
mod incoming;
mod push;
mod written;

use std::sync::Arc;

use axum::http::HeaderMap;
use tonic::{Request, Response, Status};
use trackway_domain::SessionId;

use super::{
    pb::v1 as pb,
    perform::{Asking, Items, Performed, page_of, perform},
    value::{self, given},
};
use crate::{
    asked,
    door::Door,
    fault::Fault,
    ops::{Call, Ended, History, Incoming, Outcome, Query, Strangers, Wait},
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
        perform(&self.door, Generation::V1, request, read).await
    }
}

#[tonic::async_trait]
impl A2aService for Service {
    type SendStreamingMessageStream = Items<pb::StreamResponse>;
    type SubscribeToTaskStream = Items<pb::StreamResponse>;

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
            Ok(Call::Get { task: id(asked.id, "id")?, history })
        };
        self.perform(request, read).await?.answer(written::only)
    }

    async fn list_tasks(
        &self,
        request: Request<pb::ListTasksRequest>,
    ) -> Result<Response<pb::ListTasksResponse>, Status> {
        self.perform(request, |asked, _| list(asked)).await?.answer(written::page)
    }

    async fn cancel_task(
        &self,
        request: Request<pb::CancelTaskRequest>,
    ) -> Result<Response<pb::Task>, Status> {
        let read = |asked: pb::CancelTaskRequest, _: &HeaderMap| {
            Ok(Call::Cancel { task: id(asked.id, "id")? })
        };
        self.perform(request, read).await?.answer(written::only)
    }

    async fn subscribe_to_task(
        &self,
        request: Request<pb::SubscribeToTaskRequest>,
    ) -> Result<Response<Self::SubscribeToTaskStream>, Status> {
        let read = |asked: pb::SubscribeToTaskRequest, headers: &HeaderMap| {
            let task = id(asked.id, "id")?;
            let after = asked::last_event(headers)?;
            let history = asked::HISTORY_MESSAGES_MAX;
            Ok(Call::Subscribe { task, after, ended: Ended::Refused, history })
        };
        self.perform(request, read).await?.stream(written::item, written::said)
    }

    async fn create_task_push_notification_config(
        &self,
        request: Request<pb::TaskPushNotificationConfig>,
    ) -> Result<Response<pb::TaskPushNotificationConfig>, Status> {
        let read = |mut asked: pb::TaskPushNotificationConfig, _: &HeaderMap| {
            let task = id(std::mem::take(&mut asked.task_id), "taskId")?;
            Ok(Call::SetPush { task, push: Box::new(push::read(asked, "/params")?) })
        };
        self.perform(request, read).await?.answer(push::written)
    }

    async fn get_task_push_notification_config(
        &self,
        request: Request<pb::GetTaskPushNotificationConfigRequest>,
    ) -> Result<Response<pb::TaskPushNotificationConfig>, Status> {
        let read = |asked: pb::GetTaskPushNotificationConfigRequest, _: &HeaderMap| {
            let task = id(asked.task_id, "taskId")?;
            Ok(Call::GetPush { task, id: Some(id(asked.id, "id")?) })
        };
        self.perform(request, read).await?.answer(push::written)
    }

    async fn list_task_push_notification_configs(
        &self,
        request: Request<pb::ListTaskPushNotificationConfigsRequest>,
    ) -> Result<Response<pb::ListTaskPushNotificationConfigsResponse>, Status> {
        let read = |asked: pb::ListTaskPushNotificationConfigsRequest, _: &HeaderMap| {
            let page = page_of(asked.page_size, asked.page_token);
            Ok(Call::ListPushes { task: id(asked.task_id, "taskId")?, page })
        };
        self.perform(request, read).await?.answer(push::list)
    }

    async fn delete_task_push_notification_config(
        &self,
        request: Request<pb::DeleteTaskPushNotificationConfigRequest>,
    ) -> Result<Response<()>, Status> {
        let read = |asked: pb::DeleteTaskPushNotificationConfigRequest, _: &HeaderMap| {
            let task = id(asked.task_id, "taskId")?;
            Ok(Call::RemovePush { task, id: id(asked.id, "id")? })
        };
        let done = |outcome: &Outcome| matches!(outcome, Outcome::Done).then_some(());
        self.perform(request, read).await?.answer(done)
    }

    async fn get_extended_agent_card(
        &self,
        request: Request<pb::GetExtendedAgentCardRequest>,
    ) -> Result<Response<pb::AgentCard>, Status> {
        let read = |_, _: &HeaderMap| Ok(Call::ExtendedCard { strangers: Strangers::Served });
        self.perform(request, read).await?.card(card::card)
    }
}

fn sent(asked: pb::SendMessageRequest) -> Result<(Box<Incoming>, Wait, History), Fault> {
    let message = asked
        .message
        .ok_or_else(|| Fault::param("/params/message", "message is missing", "send a message"))?;
    let mut incoming = incoming::incoming(message)?;
    let configuration = asked.configuration.unwrap_or_default();
    incoming.accepted = configuration.accepted_output_modes;
    let place = "/params/configuration/taskPushNotificationConfig";
    let push = configuration.task_push_notification_config;
    incoming.push = push.map(|config| push::read(config, place)).transpose()?;
    let history = history(configuration.history_length, "/params/configuration/historyLength")?;
    let wait = if configuration.return_immediately { Wait::Commit } else { Wait::Rest };
    Ok((Box::new(incoming), wait, history))
}

fn list(asked: pb::ListTasksRequest) -> Result<Call, Fault> {
    let session = given(asked.context_id).as_deref().map(SessionId::new).transpose();
    let session = session.map_err(|bad| {
        let why = format!("contextId: {bad}");
        Fault::param("/params/contextId", why, "send the contextId of a task, or none")
    })?;
    let state = written::state_named(asked.status).map_err(|number| {
        let why = format!("status: {number} is not a state");
        Fault::param("/params/status", why, "send a state such as TASK_STATE_WORKING")
    })?;
    let since = match asked.status_timestamp_after {
        None => None,
        Some(moment) => Some(value::timestamp(moment).ok_or_else(|| {
            let why = "statusTimestampAfter: it is beyond all time";
            Fault::param("/params/statusTimestampAfter", why, "send a moment, or none")
        })?),
    };
    let page_size = asked.page_size.map(i64::from);
    let query = Query { session, state, since, page_size, page_token: asked.page_token };
    let history = history(asked.history_length, "/params/historyLength")?;
    let artifacts = asked.include_artifacts == Some(true);
    Ok(Call::List { query: Box::new(query), history, artifacts })
}

fn history(length: Option<i32>, path: &str) -> Result<History, Fault> {
    asked::history(length.map(i64::from), path)
}

/// An id that must be there. Protobuf does not tell an empty text from one that was not sent.
fn id(sent: String, field: &str) -> Result<String, Fault> {
    given(sent).ok_or_else(|| {
        let why = format!("{field} is missing");
        Fault::param(format!("/params/{field}"), why, "send the id")
    })
}

macro_rules! asking {
    ($($request:ident),+ $(,)?) => {
        $(impl Asking for pb::$request {
            fn tenant(&self) -> &str {
                &self.tenant
            }
        })+
    };
}

asking!(
    SendMessageRequest,
    GetTaskRequest,
    ListTasksRequest,
    CancelTaskRequest,
    SubscribeToTaskRequest,
    TaskPushNotificationConfig,
    GetTaskPushNotificationConfigRequest,
    ListTaskPushNotificationConfigsRequest,
    DeleteTaskPushNotificationConfigRequest,
    GetExtendedAgentCardRequest,
);

#[cfg(test)]
mod tests;
