//! The port that delivers a run's updates to an outside receiver. It is here and not with the other ports,
//! because it shows a run as users see it.

use std::fmt;

use trackway_engine::RunView;
use trackway_ports::{Hook, PortFuture, StoredEvent};

/// Delivers one update of a run to an outside receiver.
///
/// Each update is delivered at least once. Updates of one run to one hook are delivered in order: the next
/// one waits for this one. After a crash the last one may be delivered again.
pub trait HookMessenger: Send + Sync + fmt::Debug {
    /// The host that answers the deliveries of this hook. Hooks with the same host share its slots.
    fn hook_target_host(&self, _hook: &Hook) -> String {
        String::new()
    }

    /// `stored` is the event to deliver, always one that is visible as an update. `view` is the run at this
    /// event. The future must end by itself within seconds: until then it occupies a slot.
    fn deliver_hook_update<'a>(
        &'a self,
        hook: &'a Hook,
        stored: &'a StoredEvent,
        view: &'a RunView,
    ) -> PortFuture<'a, Result<(), HookDeliveryError>>;
}

/// Why an update was not delivered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HookDeliveryError {
    /// It may succeed later.
    #[error("{reason}")]
    Transient { reason: String },
    /// It never will: the target is not allowed or not valid.
    #[error("refused: {reason}")]
    Refused { reason: String },
}
