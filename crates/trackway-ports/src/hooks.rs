//! Hooks: somebody outside who wants to be told of a run's updates. They are rows beside the log and
//! never in it, since they hold secrets.

use std::fmt;

use serde_json::Value;
use trackway_domain::{RunId, Seq, Timestamp};

/// One who is told of a run's updates, and how far the telling has come.
#[derive(Debug, Clone, PartialEq)]
pub struct Hook {
    pub run: RunId,
    /// Unique among the hooks of the run.
    pub id: String,
    pub target: HookTarget,
    /// Every update up to this event was delivered.
    pub after: Seq,
    /// When the next attempt is to be made; `None` while there is nothing to deliver.
    pub due: Option<Timestamp>,
    /// When the first of the failed attempts at the next update was made.
    pub failing_since: Option<Timestamp>,
    /// Failed attempts at the next update.
    pub attempts: u32,
}

/// A hook that is due, and whose it is.
#[derive(Debug, Clone, PartialEq)]
pub struct DueHook {
    /// The tenant of its run; empty where the row of the run is missing.
    pub tenant: String,
    pub hook: Hook,
}

/// Whom to tell and how: known to the door that made it, and to nobody between.
#[derive(Clone, PartialEq)]
pub struct HookTarget(pub Value);

/// It holds tokens and credentials, which must not get into a log.
impl fmt::Debug for HookTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HookTarget(…)")
    }
}

/// What an append does to the hooks of its run. A change of a hook that is gone is no error.
///
/// A hook is due while an event of the run is newer than what was delivered, and idle otherwise. The
/// store sees to that inside the transaction, so no event can fall between a last delivery and the next
/// append.
#[derive(Debug, Clone, PartialEq)]
pub enum HookChange {
    /// Adds a hook that is told of everything after `after`. One of the same name keeps its place in the
    /// log and gets the new target: what was not delivered to the old one is delivered to the new.
    Set {
        id: String,
        target: HookTarget,
        after: Seq,
    },
    Remove {
        id: String,
    },
    /// Every update up to this event was delivered, or is passed over. A place never moves back.
    Told {
        id: String,
        after: Seq,
    },
    /// An attempt failed; the next is due then. It counts only while the hook has one failed attempt
    /// less: a hook that was set anew meanwhile does not inherit the failures of the old target.
    Failed {
        id: String,
        due: Timestamp,
        failing_since: Timestamp,
        attempts: u32,
    },
}
