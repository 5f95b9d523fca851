//! Setting, showing and removing hooks, and the only code that changes a hook's row.

use std::sync::Arc;

use trackway_domain::{RunId, Seq};
use trackway_ports::{Hook, HookChange};

use crate::{
    Error, NewHook, RunAddress, command_execution::CommandAttachments, commit_handling::CommitResult,
    runtime_core::RuntimeCore,
};

/// Hooks of one run. Each sends a request to a server for every update; no use case needs this many.
/// Limit (Push): hooks of one run.
const HOOKS_PER_RUN_MAX: usize = 100;

/// Longest id of a hook that a client may choose; the same as for other ids.
/// Limit (Push): id of a hook.
const ID_BYTES_MAX: usize = 256;

/// Largest target: an address, a token and credentials, with room to spare.
/// Limit (Push): target of a hook.
const TARGET_BYTES_MAX: usize = 64 * 1024;

impl NewHook {
    /// The hook's name and the change that sets it, if it is within the limits.
    pub(crate) fn validate_new_hook(self, core: &RuntimeCore) -> Result<(String, ValidatedHook), Error> {
        let refused = |reason: &str| Error::HookRefused { reason: reason.to_owned() };
        if core.options.messenger.is_none() {
            return Err(refused("this server sends no updates to hooks"));
        }
        let id = match self.id {
            Some(id) if id.is_empty() => return Err(refused("its id is empty")),
            Some(id) if id.len() > ID_BYTES_MAX => {
                return Err(refused("its id is longer than 256 bytes"));
            }
            Some(id) if id.chars().any(char::is_control) => {
                return Err(refused("its id holds control characters"));
            }
            Some(id) => id,
            None => format!("hook_{}", core.options.ids.new_uuid().simple()),
        };
        let size = serde_json::to_vec(&self.target.0).map_or(usize::MAX, |bytes| bytes.len());
        if size > TARGET_BYTES_MAX {
            return Err(refused("its target is larger than 64 KiB"));
        }
        let name = id.clone();
        let target = self.target;
        Ok((name, ValidatedHook { id, target }))
    }
}

/// A checked hook, to be set at a position in the log.
#[derive(Debug, Clone)]
pub(crate) struct ValidatedHook {
    id: String,
    target: trackway_ports::HookTarget,
}

impl ValidatedHook {
    /// The change that sets the hook to receive everything after this event.
    pub(crate) fn set_hook_change_after(&self, after: Seq) -> HookChange {
        HookChange::Set { id: self.id.clone(), target: self.target.clone(), after }
    }
}

impl RuntimeCore {
    pub(crate) async fn set_hook(
        self: &Arc<Self>,
        address: &RunAddress,
        new: NewHook,
    ) -> Result<Hook, Error> {
        let _live = self.open_run_for_write(address).await?;
        let (id, setter) = new.validate_new_hook(self)?;
        self.check_hook_count_limit(address.run, &id).await?;
        self.append_hook_change(address.run, |newest| setter.set_hook_change_after(newest)).await?;
        let hook = self.options.journal.find_hook(address.run, id.clone()).await?;
        // Another caller may have removed it at the same moment.
        hook.ok_or(Error::HookRefused { reason: format!("{id:?} was removed meanwhile") })
    }

    /// Refuses one hook too many. Two at once may both pass; the limit is not exact.
    pub(crate) async fn check_hook_count_limit(&self, run: RunId, id: &str) -> Result<(), Error> {
        let hooks = self.options.journal.list_hooks(run).await?;
        if hooks.len() >= HOOKS_PER_RUN_MAX && hooks.iter().all(|hook| hook.id != id) {
            let reason = format!("a run has {HOOKS_PER_RUN_MAX} hooks at most");
            return Err(Error::HookRefused { reason });
        }
        Ok(())
    }

    /// Changes a hook of a run and waits until that is durable. `change` receives the run's newest event.
    pub(crate) async fn append_hook_change(
        self: &Arc<Self>,
        run: RunId,
        change: impl Fn(Seq) -> HookChange + Send + Sync,
    ) -> Result<CommitResult, Error> {
        loop {
            let live = self.load_run_for_write(run).await?;
            let permit = Some(self.acquire_append_permit().await?);
            let ordered = {
                let mut head = live.lock_head();
                if head.stale {
                    continue;
                }
                let newest = head.run.as_ref().map_or(0, |run| run.seq);
                let hooks = vec![change(newest)];
                self.append_without_events(
                    &live,
                    &mut head,
                    CommandAttachments { hooks, permit, ..CommandAttachments::default() },
                )
            };
            if let Some((_, commit)) = self.wait_for_commit(&live, ordered).await? {
                return Ok(commit);
            }
        }
    }
}
