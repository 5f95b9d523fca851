//! The operations, one function each.

use super::{
    Card, Client, ClientError, Envelope, Generation, ListQuery, Page, PushConfig, Reply,
    SendOptions, Task, TaskState, Updates, Wait,
    operation::Operation,
    peer::Peer,
    retry::{Effect, retrying},
    updates::Origin,
    wire,
};

/// Most pages of push configurations of one task that are read. Agents keep only a few.
/// Limit (A2A): pages of push configurations that our client reads for one task.
const PUSH_PAGES_MAX: usize = 100;

impl Client {
    /// Sends a message. It is retried under the conditions of [`Options::resend`](super::Options),
    /// always with the same message id.
    pub async fn send(
        &self,
        envelope: &Envelope,
        options: &SendOptions,
    ) -> Result<Reply, ClientError> {
        let peer = &self.peer;
        let params = wire::send_params(peer.generation, envelope, options, Some(options.wait));
        let patience = match options.wait {
            Wait::Rest => peer.options.rest_timeout,
            Wait::No => peer.options.timeout,
        };
        let request = peer.request(Operation::Send, params);
        let result = peer.call(&request, Effect::Once, patience).await?;
        wire::reply(peer.generation, result.get())
    }

    /// Sends a message and follows its results, until the task ends or waits for an action.
    pub async fn stream(
        &self,
        envelope: &Envelope,
        options: &SendOptions,
    ) -> Result<Updates, ClientError> {
        let peer = &self.peer;
        let params = wire::send_params(peer.generation, envelope, options, None);
        let request = peer.request(Operation::Stream, params);
        let open = || peer.open(&request, None);
        let response = retrying(&peer.options, Effect::Once, open).await?;
        let task = envelope.task.clone();
        let origin = Origin::Message(task.is_none().then(|| request.clone()));
        Ok(Updates::new(peer.clone(), origin, task, None, response))
    }

    /// Follows a task: its current state and everything that follows. With the id of an earlier event,
    /// everything after that event, if the agent gives ids to its events.
    pub async fn subscribe(&self, task: &str, after: Option<&str>) -> Result<Updates, ClientError> {
        let peer = &self.peer;
        let request = peer.request(Operation::Subscribe, wire::task_params(task));
        let open = || peer.open(&request, after);
        let response = retrying(&peer.options, Effect::None, open).await?;
        let after = after.map(ToOwned::to_owned);
        let task = Some(task.to_owned());
        Ok(Updates::new(peer.clone(), Origin::Subscription, task, after, response))
    }

    /// `history`: the most messages of the history; the agent's default if absent.
    pub async fn get(&self, task: &str, history: Option<u32>) -> Result<Task, ClientError> {
        get(&self.peer, task, history).await
    }

    /// One page of tasks. Protocol 0.3 has no such operation.
    pub async fn list(&self, query: &ListQuery) -> Result<Page, ClientError> {
        let generation = self.peer.generation;
        let operation = match (generation, query.state) {
            (Generation::V03, _) => Some("list tasks"),
            (Generation::V1, Some(TaskState::Unknown)) => Some("list tasks of an unknown state"),
            (Generation::V1, _) => None,
        };
        if let Some(operation) = operation {
            return Err(ClientError::Unsupported { operation, generation });
        }
        let result = self.ask(Operation::List, wire::list_params(query), Effect::None).await?;
        wire::page(result.get())
    }

    /// Cancels a task, and returns the task after that.
    pub async fn cancel(&self, task: &str) -> Result<Task, ClientError> {
        let params = wire::task_params(task);
        let result = self.ask(Operation::Cancel, params, Effect::Once).await?;
        wire::task(self.peer.generation, result.get())
    }

    /// Makes the agent send notifications about a task. The answer contains the id of the
    /// configuration.
    pub async fn set_push(
        &self,
        task: &str,
        config: &PushConfig,
    ) -> Result<PushConfig, ClientError> {
        let generation = self.peer.generation;
        let params = wire::push_set_params(generation, task, config);
        // With an id from the caller a repetition replaces the configuration; otherwise it would add
        // another one.
        let effect = if config.id.is_some() { Effect::None } else { Effect::Once };
        let result = self.ask(Operation::PushSet, params, effect).await?;
        wire::push_config(generation, result.get())
    }

    pub async fn get_push(&self, task: &str, id: &str) -> Result<PushConfig, ClientError> {
        let generation = self.peer.generation;
        let params = wire::push_id_params(generation, task, Some(id));
        let result = self.ask(Operation::PushGet, params, Effect::None).await?;
        wire::push_config(generation, result.get())
    }

    /// All configurations of a task.
    pub async fn list_push(&self, task: &str) -> Result<Vec<PushConfig>, ClientError> {
        let generation = self.peer.generation;
        let mut params = wire::push_id_params(generation, task, None);
        let mut configs = Vec::new();
        for _ in 0..PUSH_PAGES_MAX {
            let result = self.ask(Operation::PushList, params.clone(), Effect::None).await?;
            let (page, next) = wire::push_page(generation, result.get())?;
            configs.extend(page);
            let Some(next) = next else {
                return Ok(configs);
            };
            params.insert("pageToken".to_owned(), next.into());
        }
        Err(ClientError::malformed(format_args!("it has more than {PUSH_PAGES_MAX} pages")))
    }

    pub async fn delete_push(&self, task: &str, id: &str) -> Result<(), ClientError> {
        let params = wire::push_id_params(self.peer.generation, task, Some(id));
        self.ask(Operation::PushDelete, params, Effect::None).await.map(drop)
    }

    /// The card for authenticated callers.
    pub async fn extended_card(&self) -> Result<Card, ClientError> {
        let result = self.ask(Operation::ExtendedCard, Default::default(), Effect::None).await?;
        Card::read(result.get(), None)
    }

    async fn ask(
        &self,
        operation: Operation,
        params: serde_json::Map<String, serde_json::Value>,
        effect: Effect,
    ) -> Result<Box<serde_json::value::RawValue>, ClientError> {
        let request = self.peer.request(operation, params);
        self.peer.call(&request, effect, self.peer.options.timeout).await
    }
}

pub(super) async fn get(
    peer: &Peer,
    task: &str,
    history: Option<u32>,
) -> Result<Task, ClientError> {
    let request = peer.request(Operation::Get, wire::get_params(task, history));
    let result = peer.call(&request, Effect::None, peer.options.timeout).await?;
    wire::task(peer.generation, result.get())
}
