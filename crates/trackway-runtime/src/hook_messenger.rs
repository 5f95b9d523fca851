//! The port through which somebody outside is told of a run's updates. It stands here and not among the
//! other ports, since it shows a run as people see it.

use std::fmt;

use trackway_engine::RunView;
use trackway_ports::{Hook, PortFuture, StoredEvent};

/// Tells somebody outside of one update of a run.
///
/// Each update is told at least once, and those of one run to one hook in their order: the next is not
/// told before this one was. After a crash the last one may be told again.
pub trait HookMessenger: Send + Sync + fmt::Debug {
    /// Where the deliveries of this hook go, as far as that says who answers them: a host. Hooks of one
    /// target share its slots.
    fn target_host(&self, _hook: &Hook) -> String {
        String::new()
    }

    /// `stored` is the event that is told, always one that is seen as an update; `view` is the run as of
    /// this event. It must end by itself within seconds: meanwhile it keeps others from their turn.
    fn deliver<'a>(
        &'a self,
        hook: &'a Hook,
        stored: &'a StoredEvent,
        view: &'a RunView,
    ) -> PortFuture<'a, Result<(), DeliveryError>>;
}

/// Why an update was not delivered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeliveryError {
    /// It may succeed later.
    #[error("{reason}")]
    Transient { reason: String },
    /// It never will: the target is not allowed, or makes no sense.
    #[error("refused: {reason}")]
    Refused { reason: String },
}
