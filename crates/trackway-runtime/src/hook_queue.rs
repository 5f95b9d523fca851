//! One task serves all hooks: it looks for due deliveries and starts a short-lived task for each. The store
//! is the queue: what is due, how far each hook has come and when to try again are rows. So memory holds only
//! the deliveries in flight, and recovery is the first look.

mod hook_backoff;
mod hook_delivery;
mod hook_delivery_slots;
mod hook_registration;

use std::{
    collections::{BTreeSet, HashSet},
    ops::ControlFlow,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::Notify;
use trackway_domain::{RunId, Timestamp};
use trackway_ports::{DueHook, Hook, ReadError, WorkClaim};

use self::hook_delivery_slots::HookDeliverySlots;
use crate::{Error, HookMessenger, runtime_core::RuntimeCore, task_supervisor::TaskSupervisor};

pub(crate) use hook_registration::ValidatedHook;

/// Queries in a row for hooks of tenants that still have free slots. Each query leaves out at least one more
/// tenant. A tenant that is not found now is found when a delivery has ended.
///
/// Limit (Push): tenants without a free slot that are skipped in one look.
const LOOKS_MAX: usize = 32;

/// The name of push in the list of background work.
const PUSH: &str = "push";

/// The state of the hook deliveries.
#[derive(Debug, Default)]
pub(crate) struct HookDeliveryQueue {
    /// Signalled when a hook may have become due, and when a delivery has ended.
    due_signal: Notify,
    /// A std mutex: it is only locked for a lookup.
    slots: Mutex<HookDeliverySlots>,
    /// Hooks whose run cannot be read or written: they stay where they are until the next start.
    skipped: Mutex<HashSet<HookKey>>,
}

type HookKey = (RunId, String);

impl HookDeliveryQueue {
    /// A hook has something to deliver.
    pub(crate) fn signal_hook_due(&self) {
        self.due_signal.notify_one();
    }

    /// Deliveries in flight.
    fn lock_delivery_slots(&self) -> MutexGuard<'_, HookDeliverySlots> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_skipped_hooks(&self) -> MutexGuard<'_, HashSet<HookKey>> {
        self.skipped.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Serves hooks until the runtime stops.
pub(crate) async fn run_hook_delivery_loop(core: Arc<RuntimeCore>, messenger: Arc<dyn HookMessenger>) {
    let mut stopping = core.stopping.subscribe();
    let mut supervisor = TaskSupervisor::new(&core, PUSH);
    loop {
        let next = match start_due_hook_deliveries(&core, &messenger, core.now()).await {
            Ok(next) => next,
            Err(error) => match supervisor.back_off_after_failure(&error).await {
                ControlFlow::Continue(()) => continue,
                ControlFlow::Break(()) => return,
            },
        };
        supervisor.on_task_success();
        tokio::select! {
            biased;
            _ = stopping.wait_for(|stop| *stop) => return,
            () = core.hooks.due_signal.notified() => {}
            () = core.sleep_until(next) => {}
        }
    }
}

/// Starts the deliveries that are due and have a free slot. Returns when the next one is due.
async fn start_due_hook_deliveries(
    core: &Arc<RuntimeCore>,
    messenger: &Arc<dyn HookMessenger>,
    now: Timestamp,
) -> Result<Option<Timestamp>, ReadError> {
    let mut except = Vec::new();
    for _ in 0..LOOKS_MAX {
        let (serving, free) = {
            let slots = core.hooks.lock_delivery_slots();
            (slots.active_delivery_count(), slots.free_slot_count())
        };
        if free == 0 {
            // The end of a delivery signals.
            return Ok(None);
        }
        // Hooks that are being served stay due until their delivery is recorded.
        let limit = free + serving + core.hooks.lock_skipped_hooks().len();
        let claim = WorkClaim { worker: core.worker.worker_id(), now, limit };
        let due = core.options.journal.claim_due_hooks(claim, except.clone()).await?;
        let mut blocked = BTreeSet::new();
        for DueHook { tenant, hook } in due {
            let name = hook_key(&hook);
            if core.hooks.lock_skipped_hooks().contains(&name)
                || core.hooks.lock_delivery_slots().has_active_delivery(&name)
            {
                continue;
            }
            if core.hooks.lock_delivery_slots().try_take_slot(
                &name,
                &tenant,
                &messenger.hook_target_host(&hook),
            ) {
                spawn_hook_delivery(core, messenger, name);
            } else {
                blocked.insert(tenant);
            }
        }
        if blocked.is_empty() {
            break;
        }
        except.extend(blocked);
    }
    core.options.journal.next_hook_due(now).await
}

/// Starts the delivery of a hook that has its slot.
fn spawn_hook_delivery(core: &Arc<RuntimeCore>, messenger: &Arc<dyn HookMessenger>, name: HookKey) {
    let turn = ActiveDeliveryGuard { core: core.clone(), name };
    let messenger = messenger.clone();
    core.tokio.spawn(async move {
        let (run, hook) = &turn.name;
        let mut supervisor = TaskSupervisor::new(&turn.core, PUSH);
        loop {
            match hook_delivery::deliver_pending_hook_updates(&turn.core, &*messenger, *run, hook).await {
                Ok(()) | Err(Error::Stopping) => return,
                // Retries the store, not the receiver: what was delivered is recorded when the store works
                // again.
                Err(error) if error.is_transient() => {
                    if supervisor.back_off_after_failure(&error).await.is_break() {
                        return;
                    }
                }
                Err(error) => {
                    tracing::warn!(%run, hook, %error, "a hook is not served until the next start");
                    turn.core.hooks.lock_skipped_hooks().insert(turn.name.clone());
                    return;
                }
            }
        }
    });
}

/// A delivery in flight. It ends when its task ends, for whatever reason.
struct ActiveDeliveryGuard {
    core: Arc<RuntimeCore>,
    name: HookKey,
}

impl Drop for ActiveDeliveryGuard {
    fn drop(&mut self) {
        self.core.hooks.lock_delivery_slots().release_slot(&self.name);
        // It may have become due again after its delivery, while it still counted as served.
        self.core.hooks.signal_hook_due();
    }
}

fn hook_key(hook: &Hook) -> HookKey {
    (hook.run, hook.id.clone())
}
