//! Serving one hook: every update after its place, in order, until it has caught up or one fails.

use std::{panic::AssertUnwindSafe, sync::Arc};

use futures_util::FutureExt as _;
use trackway_domain::{RunId, Seq};
use trackway_engine::{RunView, shows};
use trackway_ports::{Hook, HookChange, Stored};

use crate::{
    Error, Messenger, Undelivered, core::Core, hooks::backoff::next_attempt, live::LiveRef,
};

/// Events read from the store at once.
const PAGE_EVENTS: usize = 64;

/// Tells the hook of everything that it has not been told of. Its place is durable after each update.
pub(super) async fn serve(
    core: &Arc<Core>,
    messenger: &dyn Messenger,
    run: RunId,
    id: &str,
) -> Result<(), Error> {
    // Looked up again, now that nobody else serves it: the one who did may just have finished.
    let hook = core.options.journal.hook(run, id.to_owned()).await?;
    let now = core.now();
    let Some(mut hook) = hook.filter(|hook| hook.due.is_some_and(|due| due <= now)) else {
        return Ok(());
    };
    let live = core.load(hook.run).await?;
    let mut telling = Telling { core, live, view: None };
    loop {
        let page = core.options.journal.events(hook.run, hook.after, PAGE_EVENTS).await?;
        let (mut read_up_to, is_empty) = (hook.after, page.is_empty());
        for stored in page {
            read_up_to = stored.seq;
            telling.read(&stored);
            // A hook that was removed and set again meanwhile begins later.
            if !shows(&stored.event) || stored.seq <= hook.after {
                continue;
            }
            let view = telling.view_at(&stored).await?;
            if let Err(error) = tell(core, messenger, &hook, &stored, &view).await {
                return undelivered(core, &hook, error).await;
            }
            match told(core, &hook, stored.seq).await? {
                Some(fresh) => hook = fresh,
                None => return Ok(()),
            }
        }
        if read_up_to > hook.after || is_empty {
            // Nobody is told of the events that are left; the hook is done with them all the same.
            match told(core, &hook, read_up_to).await? {
                Some(fresh) => hook = fresh,
                None => return Ok(()),
            }
        }
    }
}

/// One attempt. A messenger that panics has not delivered.
async fn tell(
    core: &Core,
    messenger: &dyn Messenger,
    hook: &Hook,
    stored: &Stored,
    view: &RunView,
) -> Result<(), Undelivered> {
    core.reach("effect:hook");
    let delivery = AssertUnwindSafe(messenger.deliver(hook, stored, view)).catch_unwind().await;
    delivery.unwrap_or_else(|_| Err(Undelivered::Again { reason: "it panicked".to_owned() }))
}

/// Notes that everything up to this event was delivered. The hook as it is now where there is more: it
/// may have been set anew, and must not be told at its old target any longer.
async fn told(core: &Arc<Core>, hook: &Hook, after: Seq) -> Result<Option<Hook>, Error> {
    let commit =
        core.change_hook(hook.run, |_| HookChange::Told { id: hook.id.clone(), after }).await?;
    if !commit.hooks || core.is_stopping() {
        return Ok(None);
    }
    Ok(core.options.journal.hook(hook.run, hook.id.clone()).await?)
}

/// Notes when it is tried again. What was refused, or tried for long enough, is given up: everything
/// there is now is passed over, and the hook is told again of what comes next.
async fn undelivered(core: &Arc<Core>, hook: &Hook, error: Undelivered) -> Result<(), Error> {
    let now = core.now();
    let (failing_since, attempts) = (hook.failing_since.unwrap_or(now), hook.attempts + 1);
    let next = match &error {
        Undelivered::Refused { .. } => None,
        Undelivered::Again { .. } => {
            next_attempt(now, failing_since, attempts, core.options.ids.random())
        }
    };
    let (run, id) = (hook.run, &hook.id);
    let change = |newest| match next {
        Some(due) => HookChange::Failed { id: id.clone(), due, failing_since, attempts },
        None => HookChange::Told { id: id.clone(), after: newest },
    };
    match next {
        Some(due) => tracing::debug!(%run, hook = id, %error, %due, "an update was not delivered"),
        None => tracing::warn!(%run, hook = id, %error, attempts, "updates were given up"),
    }
    core.change_hook(hook.run, change).await.map(drop)
}

/// The run as of the event that is told.
struct Telling<'a> {
    core: &'a Core,
    live: LiveRef,
    view: Option<RunView>,
}

impl Telling<'_> {
    /// Goes on by one event, where the run was needed before.
    fn read(&mut self, stored: &Stored) {
        if let Some(view) = &mut self.view {
            view.apply(&stored.event, stored.at, stored.pos);
        }
    }

    /// Who keeps up finds it in memory; others fold the log once and go on from there. A hook that was
    /// removed and set again begins later: events were passed over, so the log is folded anew.
    async fn view_at(&mut self, stored: &Stored) -> Result<RunView, Error> {
        if self.view.as_ref().is_none_or(|view| view.seq != stored.seq) {
            let shown = self.live.shown().view.clone();
            self.view = match shown.filter(|view| view.seq == stored.seq) {
                Some(view) => Some(view),
                None => Some(self.core.view_at(self.live.id, stored.seq).await?),
            };
        }
        self.view.clone().ok_or(Error::Stopping)
    }
}
