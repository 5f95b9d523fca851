//! Hooks are served by one task that looks at what is due and starts a short-lived task for each. The
//! store is the queue: what is due, how far each has come and when to try again are rows, so memory
//! holds only the deliveries under way, and recovery is the first look.

mod backoff;
mod manage;
mod serve;

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::Notify;
use trackway_domain::{RunId, Timestamp};
use trackway_ports::{Hook, ReadError};

use crate::{Error, Messenger, core::Core};

pub(crate) use manage::HookSetter;

/// Deliveries at once. Each waits for somebody else's server most of the time and keeps its run in
/// memory meanwhile; beyond this they take turns, whoever is due first coming first.
/// Limit (Push): deliveries at once.
const DELIVERIES_MAX: usize = 128;

/// What is being served.
#[derive(Debug, Default)]
pub(crate) struct Hooks {
    /// Rung when a hook may have become due, and when a delivery has ended.
    bell: Notify,
    /// A std mutex: it is held to look something up.
    serving: Mutex<HashSet<HookName>>,
    /// Hooks whose run cannot be read or written: they stay where they are until the next start.
    passed_over: Mutex<HashSet<HookName>>,
}

type HookName = (RunId, String);

impl Hooks {
    /// A hook has something to deliver.
    pub(crate) fn ring(&self) {
        self.bell.notify_one();
    }

    /// Deliveries under way.
    fn serving(&self) -> MutexGuard<'_, HashSet<HookName>> {
        self.serving.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn passed_over(&self) -> MutexGuard<'_, HashSet<HookName>> {
        self.passed_over.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Serves hooks until the runtime stops.
pub(crate) async fn run(core: Arc<Core>, messenger: Arc<dyn Messenger>) {
    let mut stopping = core.stopping.subscribe();
    loop {
        let next = match look(&core, &messenger, core.now()).await {
            Ok(next) => next,
            // A store that is being closed answers no more; that is no news.
            Err(_) if core.is_stopping() => return,
            Err(error) => {
                tracing::error!(%error, "hooks cannot be read; nobody is told until a restart");
                return;
            }
        };
        tokio::select! {
            biased;
            _ = stopping.wait_for(|stop| *stop) => return,
            () = core.hooks.bell.notified() => {}
            () = until(&core, next) => {}
        }
    }
}

/// Starts what is due and free to start; when the next one will be due.
async fn look(
    core: &Arc<Core>,
    messenger: &Arc<dyn Messenger>,
    now: Timestamp,
) -> Result<Option<Timestamp>, ReadError> {
    let (serving, passed_over) = (core.hooks.serving().len(), core.hooks.passed_over().len());
    let free = DELIVERIES_MAX.saturating_sub(serving);
    if free == 0 {
        // The end of a delivery rings.
        return Ok(None);
    }
    // Those at work are due too, until they are told.
    let limit = free + serving + passed_over;
    let due = core.options.journal.hooks_due(now, limit).await?;
    let waiting = due.into_iter().filter(|hook| {
        let name = name(hook);
        !core.hooks.passed_over().contains(&name) && !core.hooks.serving().contains(&name)
    });
    for hook in waiting.take(free) {
        start(core, messenger, name(&hook));
    }
    core.options.journal.next_hook(now).await
}

fn start(core: &Arc<Core>, messenger: &Arc<dyn Messenger>, name: HookName) {
    let turn = Turn { core: core.clone(), name };
    core.hooks.serving().insert(turn.name.clone());
    let messenger = messenger.clone();
    core.tokio.spawn(async move {
        let (run, hook) = &turn.name;
        match serve::serve(&turn.core, &*messenger, *run, hook).await {
            Ok(()) | Err(Error::Stopping) => {}
            Err(error) => {
                tracing::warn!(%run, hook, %error, "a hook is not served until the next start");
                turn.core.hooks.passed_over().insert(turn.name.clone());
            }
        }
    });
}

/// A delivery under way; it ends however its task does.
struct Turn {
    core: Arc<Core>,
    name: HookName,
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.core.hooks.serving().remove(&self.name);
        // It may have become due again after it was told, while it still counted as served.
        self.core.hooks.ring();
    }
}

async fn until(core: &Core, moment: Option<Timestamp>) {
    match moment {
        Some(moment) => core.options.clock.sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

fn name(hook: &Hook) -> HookName {
    (hook.run, hook.id.clone())
}
