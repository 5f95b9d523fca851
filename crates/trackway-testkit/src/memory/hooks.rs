//! Hooks in memory.

use trackway_domain::{RunId, Seq, Timestamp};
use trackway_ports::{Hook, HookChange};

/// Every hook, in the order in which they were added.
#[derive(Debug, Default)]
pub(super) struct HookTable(Vec<Hook>);

impl HookTable {
    /// Makes idle hooks of the run due. True if there was one.
    pub(super) fn mark_idle_hooks_due(&mut self, run: RunId, at: Timestamp) -> bool {
        let mut any = false;
        for hook in self.0.iter_mut().filter(|hook| hook.run == run && hook.due.is_none()) {
            hook.due = Some(at);
            any = true;
        }
        any
    }

    /// Applies one change. True if the hook is still due after a delivery, or was just set and is
    /// due.
    pub(super) fn apply_hook_change(
        &mut self,
        run: RunId,
        change: HookChange,
        newest: Seq,
        at: Timestamp,
    ) -> bool {
        match change {
            HookChange::Set { id, target, after } => {
                if self.find_hook_mut(run, &id).is_none() {
                    let (target, id) = (target.clone(), id.clone());
                    let (due, failing_since) = (None, None);
                    self.0.push(Hook {
                        run,
                        id,
                        target,
                        delivered_through: after,
                        due,
                        failing_since,
                        attempts: 0,
                    });
                }
                let Some(hook) = self.find_hook_mut(run, &id) else { return false };
                hook.target = target;
                update_due(hook, newest, at)
            }
            HookChange::Remove { id } => {
                self.0.retain(|hook| hook.run != run || hook.id != id);
                false
            }
            HookChange::Delivered { id, after } => {
                let Some(hook) = self.find_hook_mut(run, &id) else { return false };
                hook.delivered_through = hook.delivered_through.max(after);
                update_due(hook, newest, at)
            }
            HookChange::Failed { id, due, failing_since, attempts } => {
                let hook = self.find_hook_mut(run, &id);
                if let Some(hook) = hook.filter(|hook| hook.attempts + 1 == attempts) {
                    hook.due = Some(due);
                    hook.failing_since = Some(failing_since);
                    hook.attempts = attempts;
                }
                false
            }
        }
    }

    /// Removes every hook of these runs.
    pub(super) fn remove_hooks_of_runs(&mut self, runs: &[RunId]) {
        self.0.retain(|hook| !runs.contains(&hook.run));
    }

    pub(super) fn hooks_of_run(&self, run: RunId) -> Vec<Hook> {
        self.0.iter().filter(|hook| hook.run == run).cloned().collect()
    }

    pub(super) fn list_due_hooks(&self, now: Timestamp) -> Vec<Hook> {
        let due = self.0.iter().filter(|hook| hook.due.is_some_and(|due| due <= now));
        let mut due: Vec<Hook> = due.cloned().collect();
        due.sort_by_key(|hook| hook.due);
        due
    }

    pub(super) fn next_due(&self, now: Timestamp) -> Option<Timestamp> {
        self.0.iter().filter_map(|hook| hook.due).filter(|due| *due > now).min()
    }

    fn find_hook_mut(&mut self, run: RunId, id: &str) -> Option<&mut Hook> {
        self.0.iter_mut().find(|hook| hook.run == run && hook.id == id)
    }
}

/// Clears the failures; the hook is due while there is something newer than the last delivery.
fn update_due(hook: &mut Hook, newest: Seq, at: Timestamp) -> bool {
    hook.failing_since = None;
    hook.attempts = 0;
    hook.due = (newest > hook.delivered_through).then_some(at);
    hook.due.is_some()
}
