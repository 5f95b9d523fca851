//! Serves one hook: delivers every update after its cursor, in order, until it has caught up or one fails.

use std::{panic::AssertUnwindSafe, sync::Arc};

use futures_util::FutureExt as _;
use trackway_domain::{RunId, Seq};
use trackway_engine::{RunView, is_visible};
use trackway_ports::{Hook, HookChange, StoredEvent};

use crate::{
    Error, HookDeliveryError, HookMessenger, hook_queue::hook_backoff::next_delivery_attempt_at,
    live_run::LiveRunRef, runtime_core::RuntimeCore,
};

/// Events read from the store at once.
const PAGE_EVENTS: usize = 64;

/// Delivers everything that the hook has not received. Its cursor is durable after each update.
pub(super) async fn deliver_pending_hook_updates(
    core: &Arc<RuntimeCore>,
    messenger: &dyn HookMessenger,
    run: RunId,
    id: &str,
) -> Result<(), Error> {
    // Looked up again, now that no other task serves it: the previous one may have just finished.
    let hook = core.options.journal.find_hook(run, id.to_owned()).await?;
    let now = core.now();
    let Some(mut hook) = hook.filter(|hook| hook.due.is_some_and(|due| due <= now)) else {
        return Ok(());
    };
    let live = core.load_run_for_write(hook.run).await?;
    let mut telling = RunViewAtEvent { core, live, view: None };
    loop {
        let page = core.options.journal.list_events(hook.run, hook.delivered_through, PAGE_EVENTS).await?;
        let (mut read_up_to, is_empty) = (hook.delivered_through, page.is_empty());
        for stored in page {
            read_up_to = stored.seq;
            telling.apply_event(&stored);
            // A hook that was removed and set again in the meantime begins later.
            if !is_visible(&stored.event) || stored.seq <= hook.delivered_through {
                continue;
            }
            let view = telling.load_view_at_event(&stored).await?;
            if let Err(error) = try_deliver_hook_update(core, messenger, &hook, &stored, &view).await {
                return record_failed_hook_delivery(core, &hook, error).await;
            }
            match mark_hook_delivered_up_to(core, &hook, stored.seq).await? {
                Some(fresh) => hook = fresh,
                None => return Ok(()),
            }
        }
        if read_up_to > hook.delivered_through || is_empty {
            // The remaining events are not visible; the hook moves past them.
            match mark_hook_delivered_up_to(core, &hook, read_up_to).await? {
                Some(fresh) => hook = fresh,
                None => return Ok(()),
            }
        }
    }
}

/// One attempt. A messenger that panics has not delivered.
async fn try_deliver_hook_update(
    core: &RuntimeCore,
    messenger: &dyn HookMessenger,
    hook: &Hook,
    stored: &StoredEvent,
    view: &RunView,
) -> Result<(), HookDeliveryError> {
    core.reach_fault_point("effect:hook");
    let delivery = AssertUnwindSafe(messenger.deliver_hook_update(hook, stored, view)).catch_unwind().await;
    delivery.unwrap_or_else(|_| Err(HookDeliveryError::Transient { reason: "it panicked".to_owned() }))
}

/// Records that everything up to this event was delivered. Returns the current hook if there is more: it may
/// have been set again, and must not receive more at its old target.
async fn mark_hook_delivered_up_to(
    core: &Arc<RuntimeCore>,
    hook: &Hook,
    after: Seq,
) -> Result<Option<Hook>, Error> {
    let commit =
        core.append_hook_change(hook.run, |_| HookChange::Delivered { id: hook.id.clone(), after }).await?;
    if !commit.hooks || core.is_stopping() {
        return Ok(None);
    }
    Ok(core.options.journal.find_hook(hook.run, hook.id.clone()).await?)
}

/// Records when it is tried again. An update that was refused, or tried for long enough, is given up: the
/// hook skips all current events and gets what comes next.
async fn record_failed_hook_delivery(
    core: &Arc<RuntimeCore>,
    hook: &Hook,
    error: HookDeliveryError,
) -> Result<(), Error> {
    let now = core.now();
    let (failing_since, attempts) = (hook.failing_since.unwrap_or(now), hook.attempts + 1);
    let next = match &error {
        HookDeliveryError::Refused { .. } => None,
        HookDeliveryError::Transient { .. } => {
            next_delivery_attempt_at(now, failing_since, attempts, core.options.ids.random_u64())
        }
    };
    let (run, id) = (hook.run, &hook.id);
    let change = |newest| match next {
        Some(due) => HookChange::Failed { id: id.clone(), due, failing_since, attempts },
        None => HookChange::Delivered { id: id.clone(), after: newest },
    };
    match next {
        Some(due) => tracing::debug!(%run, hook = id, %error, %due, "an update was not delivered"),
        None => tracing::warn!(%run, hook = id, %error, attempts, "updates were given up"),
    }
    core.append_hook_change(hook.run, change).await.map(drop)
}

/// The run at the event that is delivered.
struct RunViewAtEvent<'a> {
    core: &'a RuntimeCore,
    live: LiveRunRef,
    view: Option<RunView>,
}

impl RunViewAtEvent<'_> {
    /// Folds in one event, if the run was needed before.
    fn apply_event(&mut self, stored: &StoredEvent) {
        if let Some(view) = &mut self.view {
            view.apply_event(&stored.event, stored.at, stored.pos);
        }
    }

    /// A hook that keeps up finds the view in memory; others fold the log once and continue from there. A
    /// hook that was removed and set again begins later: events were skipped, so the log is folded again.
    async fn load_view_at_event(&mut self, stored: &StoredEvent) -> Result<RunView, Error> {
        if self.view.as_ref().is_none_or(|view| view.seq != stored.seq) {
            let shown = self.live.lock_committed_state().view.clone();
            self.view = match shown.filter(|view| view.seq == stored.seq) {
                Some(view) => Some(view),
                None => Some(self.core.load_view_at_seq(self.live.id, stored.seq).await?),
            };
        }
        self.view.clone().ok_or(Error::Stopping)
    }
}
