//! Hooks: clients outside that receive a run's updates. They are rows next to the log and never part of
//! it, because they hold secrets.

use std::fmt;

use serde_json::Value;
use trackway_domain::{RunId, Seq, Timestamp};

/// A receiver of a run's updates, and how far delivery has progressed.
#[derive(Debug, Clone, PartialEq)]
pub struct Hook {
    pub run: RunId,
    /// Unique among the hooks of the run.
    pub id: String,
    pub target: HookTarget,
    /// Every update up to this event was delivered.
    pub delivered_through: Seq,
    /// When the next attempt is due; `None` while there is nothing to deliver.
    pub due: Option<Timestamp>,
    /// When the first of the failed attempts at the next update happened.
    pub failing_since: Option<Timestamp>,
    /// Failed attempts at the next update.
    pub attempts: u32,
}

/// A hook that is due, and its tenant.
#[derive(Debug, Clone, PartialEq)]
pub struct DueHook {
    /// The tenant of its run; empty if the row of the run is missing.
    pub tenant: String,
    pub hook: Hook,
}

/// Where and how to deliver. Only the door that made it knows the content.
#[derive(Clone, PartialEq)]
pub struct HookTarget(pub Value);

/// The target holds tokens and credentials, which must not get into a log.
impl fmt::Debug for HookTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HookTarget(…)")
    }
}

/// What an append does to the hooks of its run. A change of a hook that no longer exists is no error.
///
/// A hook is due while the run has an event that is newer than the last delivery, and idle otherwise.
/// The store ensures this inside the transaction, so no event can get lost between a last delivery and
/// the next append.
#[derive(Debug, Clone, PartialEq)]
pub enum HookChange {
    /// Adds a hook that receives everything after `after`. An existing hook of the same name keeps its
    /// position in the log and gets the new target: updates that the old target did not get go to the
    /// new one.
    Set {
        id: String,
        target: HookTarget,
        after: Seq,
    },
    Remove {
        id: String,
    },
    /// Every update up to this event was delivered, or is skipped. The position never moves back.
    Delivered {
        id: String,
        after: Seq,
    },
    /// An attempt failed; the next is due then. It counts only if the hook has exactly one failed
    /// attempt less: a hook that was replaced meanwhile does not inherit the failures of the old target.
    Failed {
        id: String,
        due: Timestamp,
        failing_since: Timestamp,
        attempts: u32,
    },
}
