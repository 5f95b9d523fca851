//! Wake-ups between nodes: when one node appends, the others are notified, so that their watchers continue
//! and a program sees an answer that arrived elsewhere.

use std::sync::Arc;

use trackway_domain::{RunId, Seq};
use trackway_ports::Wakeup;

use crate::runtime_core::RuntimeCore;

impl RuntimeCore {
    /// Notifies the other nodes that the log of the run has grown.
    pub(crate) fn publish_wakeup(&self, run: RunId, seq: Seq) {
        if let Some(wakeups) = &self.options.wakeups {
            wakeups.publish_wakeup(Wakeup { run, seq, from: self.worker.worker_id() });
        }
    }

    /// Receives the appends of other nodes, until the runtime stops.
    pub(crate) fn listen_for_wakeups(self: &Arc<Self>) {
        let Some(wakeups) = &self.options.wakeups else { return };
        let core = Arc::downgrade(self);
        wakeups.subscribe_to_wakeups(Box::new(move |wakeup| {
            let Some(core) = core.upgrade().filter(|core| !core.is_stopping()) else {
                return false;
            };
            if wakeup.from != core.worker.worker_id() {
                let tokio = core.tokio.clone();
                // Not on this thread: it may be one that has committed and holds a lock.
                tokio.spawn(async move { core.on_wakeup(wakeup) });
            }
            true
        }));
    }

    /// Another node has appended to the run. An older head here is loaded again; a program that is driven
    /// here continues from the log.
    fn on_wakeup(self: &Arc<Self>, Wakeup { run, seq, .. }: Wakeup) {
        let Some(live) = self.live_runs.find_live_run(run) else { return };
        if *live.committed_seq.borrow() >= seq {
            return;
        }
        if self.invalidate_live_run(&live) {
            self.wake_run(run);
        }
    }
}
