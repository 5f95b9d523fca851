//! The operations, one function each.

use super::{
    AddressedMessage, AgentCard, Client, ClientError, ProtocolVersion, PushConfig, SendOptions, SendReply,
    SendWait, Task, TaskPage, TaskQuery, TaskState, TaskUpdateStream,
    agent_operation::AgentOperation,
    remote_agent::RemoteAgent,
    request_retry::{RepeatEffect, retry_with_backoff},
    task_update_stream::StreamOrigin,
    wire,
};

/// Most pages of push configurations of one task that are read. Agents keep only a few.
/// Limit (A2A): pages of push configurations that our client reads for one task.
const PUSH_PAGES_MAX: usize = 100;

impl Client {
    /// Sends a message. It is retried under the conditions of [`Options::resend`](super::Options),
    /// always with the same message id.
    pub async fn send_message(
        &self,
        envelope: &AddressedMessage,
        options: &SendOptions,
    ) -> Result<SendReply, ClientError> {
        let peer = &self.peer;
        let params = wire::send_message_params(peer.generation, envelope, options, Some(options.wait));
        let patience = match options.wait {
            SendWait::UntilIdle => peer.options.idle_timeout,
            SendWait::ReturnImmediately => peer.options.timeout,
        };
        let request = peer.prepare_request(AgentOperation::Send, params);
        let result = peer.call_with_retry(&request, RepeatEffect::OnlyOnce, patience).await?;
        wire::parse_send_reply(peer.generation, result.get())
    }

    /// Sends a message and follows its results, until the task ends or waits for an action.
    pub async fn stream_message(
        &self,
        envelope: &AddressedMessage,
        options: &SendOptions,
    ) -> Result<TaskUpdateStream, ClientError> {
        let peer = &self.peer;
        let params = wire::send_message_params(peer.generation, envelope, options, None);
        let request = peer.prepare_request(AgentOperation::Stream, params);
        let open = || peer.open_event_stream(&request, None);
        let response = retry_with_backoff(&peer.options, RepeatEffect::OnlyOnce, open).await?;
        let task = envelope.task.clone();
        let origin = StreamOrigin::Message(task.is_none().then(|| request.clone()));
        Ok(TaskUpdateStream::new(peer.clone(), origin, task, None, response))
    }

    /// Follows a task: its current state and everything that follows. With the id of an earlier event,
    /// everything after that event, if the agent gives ids to its events.
    pub async fn subscribe_to_task(
        &self,
        task: &str,
        last_event_id: Option<&str>,
    ) -> Result<TaskUpdateStream, ClientError> {
        let peer = &self.peer;
        let request = peer.prepare_request(AgentOperation::Subscribe, wire::task_id_params(task));
        let open = || peer.open_event_stream(&request, last_event_id);
        let response = retry_with_backoff(&peer.options, RepeatEffect::Harmless, open).await?;
        let after = last_event_id.map(ToOwned::to_owned);
        let task = Some(task.to_owned());
        Ok(TaskUpdateStream::new(peer.clone(), StreamOrigin::Subscription, task, after, response))
    }

    /// `history`: the most messages of the history; the agent's default if absent.
    pub async fn get_task(&self, task: &str, history: Option<u32>) -> Result<Task, ClientError> {
        get_task(&self.peer, task, history).await
    }

    /// One page of tasks. Protocol 0.3 has no such operation.
    pub async fn list_tasks(&self, query: &TaskQuery) -> Result<TaskPage, ClientError> {
        let generation = self.peer.generation;
        let operation = match (generation, query.state) {
            (ProtocolVersion::V03, _) => Some("list tasks"),
            (ProtocolVersion::V1, Some(TaskState::Unknown)) => Some("list tasks of an unknown state"),
            (ProtocolVersion::V1, _) => None,
        };
        if let Some(operation) = operation {
            return Err(ClientError::Unsupported { operation, generation });
        }
        let result = self
            .call_operation(AgentOperation::List, wire::list_tasks_params(query), RepeatEffect::Harmless)
            .await?;
        wire::parse_task_page(result.get())
    }

    /// Cancels a task, and returns the task after that.
    pub async fn cancel_task(&self, task: &str) -> Result<Task, ClientError> {
        let params = wire::task_id_params(task);
        let result = self.call_operation(AgentOperation::Cancel, params, RepeatEffect::OnlyOnce).await?;
        wire::parse_task(self.peer.generation, result.get())
    }

    /// Makes the agent send notifications about a task. The answer contains the id of the
    /// configuration.
    pub async fn set_push_config(&self, task: &str, config: &PushConfig) -> Result<PushConfig, ClientError> {
        let generation = self.peer.generation;
        let params = wire::push_set_params(generation, task, config);
        // With an id from the caller a repetition replaces the configuration; otherwise it would add
        // another one.
        let effect = if config.id.is_some() { RepeatEffect::Harmless } else { RepeatEffect::OnlyOnce };
        let result = self.call_operation(AgentOperation::PushSet, params, effect).await?;
        wire::parse_push_config(generation, result.get())
    }

    pub async fn get_push_config(&self, task: &str, id: &str) -> Result<PushConfig, ClientError> {
        let generation = self.peer.generation;
        let params = wire::push_id_params(generation, task, Some(id));
        let result = self.call_operation(AgentOperation::PushGet, params, RepeatEffect::Harmless).await?;
        wire::parse_push_config(generation, result.get())
    }

    /// All configurations of a task.
    pub async fn list_push_configs(&self, task: &str) -> Result<Vec<PushConfig>, ClientError> {
        let generation = self.peer.generation;
        let mut params = wire::push_id_params(generation, task, None);
        let mut configs = Vec::new();
        for _ in 0..PUSH_PAGES_MAX {
            let result =
                self.call_operation(AgentOperation::PushList, params.clone(), RepeatEffect::Harmless).await?;
            let (page, next) = wire::parse_push_page(generation, result.get())?;
            configs.extend(page);
            let Some(next) = next else {
                return Ok(configs);
            };
            params.insert("pageToken".to_owned(), next.into());
        }
        Err(ClientError::malformed_response_error(format_args!("it has more than {PUSH_PAGES_MAX} pages")))
    }

    pub async fn delete_push_config(&self, task: &str, id: &str) -> Result<(), ClientError> {
        let params = wire::push_id_params(self.peer.generation, task, Some(id));
        self.call_operation(AgentOperation::PushDelete, params, RepeatEffect::Harmless).await.map(drop)
    }

    /// The card for authenticated callers.
    pub async fn get_extended_card(&self) -> Result<AgentCard, ClientError> {
        let result = self
            .call_operation(AgentOperation::ExtendedCard, Default::default(), RepeatEffect::Harmless)
            .await?;
        AgentCard::parse_card(result.get(), None)
    }

    async fn call_operation(
        &self,
        operation: AgentOperation,
        params: serde_json::Map<String, serde_json::Value>,
        effect: RepeatEffect,
    ) -> Result<Box<serde_json::value::RawValue>, ClientError> {
        let request = self.peer.prepare_request(operation, params);
        self.peer.call_with_retry(&request, effect, self.peer.options.timeout).await
    }
}

pub(super) async fn get_task(
    peer: &RemoteAgent,
    task: &str,
    history: Option<u32>,
) -> Result<Task, ClientError> {
    let request = peer.prepare_request(AgentOperation::Get, wire::get_task_params(task, history));
    let result = peer.call_with_retry(&request, RepeatEffect::Harmless, peer.options.timeout).await?;
    wire::parse_task(peer.generation, result.get())
}
