//! Hooks are served by one task that looks at what is due and starts a short-lived task for each. The
//! store is the queue: what is due, how far each has come and when to try again are rows, so memory
//! holds only the deliveries under way, and recovery is the first look.

mod backoff;
mod manage;
mod serve;
mod slots;

use std::{
    collections::{BTreeSet, HashSet},
    ops::ControlFlow,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::Notify;
use trackway_domain::{RunId, Timestamp};
use trackway_ports::{DueHook, Hook, ReadError, WorkClaim};

use self::slots::Slots;
use crate::{Error, Messenger, core::Core, supervise::Supervisor};

pub(crate) use manage::HookSetter;

/// Looks in a row for hooks of tenants that have not their share of slots yet. Each leaves out one more
/// tenant, at least; who is not found is found when a delivery has ended.
///
/// Limit (Push): tenants with more due than they have slots for that are passed over in one look.
const LOOKS_MAX: usize = 32;

/// The name of push among the background work.
const PUSH: &str = "push";

/// What is being served.
#[derive(Debug, Default)]
pub(crate) struct Hooks {
    /// Rung when a hook may have become due, and when a delivery has ended.
    bell: Notify,
    /// A std mutex: it is held to look something up.
    serving: Mutex<Slots>,
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
    fn serving(&self) -> MutexGuard<'_, Slots> {
        self.serving.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn passed_over(&self) -> MutexGuard<'_, HashSet<HookName>> {
        self.passed_over.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Serves hooks until the runtime stops.
pub(crate) async fn run(core: Arc<Core>, messenger: Arc<dyn Messenger>) {
    let mut stopping = core.stopping.subscribe();
    let mut supervisor = Supervisor::new(&core, PUSH);
    loop {
        let next = match look(&core, &messenger, core.now()).await {
            Ok(next) => next,
            Err(error) => match supervisor.failed(&error).await {
                ControlFlow::Continue(()) => continue,
                ControlFlow::Break(()) => return,
            },
        };
        supervisor.succeeded();
        tokio::select! {
            biased;
            _ = stopping.wait_for(|stop| *stop) => return,
            () = core.hooks.bell.notified() => {}
            () = core.sleep_until(next) => {}
        }
    }
}

/// Starts what is due and free to start; when the next one will be due.
async fn look(
    core: &Arc<Core>,
    messenger: &Arc<dyn Messenger>,
    now: Timestamp,
) -> Result<Option<Timestamp>, ReadError> {
    let mut except = Vec::new();
    for _ in 0..LOOKS_MAX {
        let (serving, free) = {
            let slots = core.hooks.serving();
            (slots.len(), slots.free())
        };
        if free == 0 {
            // The end of a delivery rings.
            return Ok(None);
        }
        // Those at work are due too, until they are told.
        let limit = free + serving + core.hooks.passed_over().len();
        let claim = WorkClaim { worker: core.worker.id(), now, limit };
        let due = core.options.journal.claim_hooks(claim, except.clone()).await?;
        let mut blocked = BTreeSet::new();
        for DueHook { tenant, hook } in due {
            let name = name(&hook);
            if core.hooks.passed_over().contains(&name) || core.hooks.serving().has(&name) {
                continue;
            }
            if core.hooks.serving().take(&name, &tenant, &messenger.target(&hook)) {
                start(core, messenger, name);
            } else {
                blocked.insert(tenant);
            }
        }
        if blocked.is_empty() {
            break;
        }
        except.extend(blocked);
    }
    core.options.journal.next_hook(now).await
}

/// Delivers to a hook that has its slot.
fn start(core: &Arc<Core>, messenger: &Arc<dyn Messenger>, name: HookName) {
    let turn = Turn { core: core.clone(), name };
    let messenger = messenger.clone();
    core.tokio.spawn(async move {
        let (run, hook) = &turn.name;
        let mut supervisor = Supervisor::new(&turn.core, PUSH);
        loop {
            match serve::serve(&turn.core, &*messenger, *run, hook).await {
                Ok(()) | Err(Error::Stopping) => return,
                // The store is tried again, not the receiver: what was delivered is noted where it can be.
                Err(error) if error.is_transient() => {
                    if supervisor.failed(&error).await.is_break() {
                        return;
                    }
                }
                Err(error) => {
                    tracing::warn!(%run, hook, %error, "a hook is not served until the next start");
                    turn.core.hooks.passed_over().insert(turn.name.clone());
                    return;
                }
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
        self.core.hooks.serving().release(&self.name);
        // It may have become due again after it was told, while it still counted as served.
        self.core.hooks.ring();
    }
}

fn name(hook: &Hook) -> HookName {
    (hook.run, hook.id.clone())
}
