//! Time and randomness, which the core takes only from here.

use std::fmt;

use trackway_domain::Timestamp;
use uuid::Uuid;

use crate::PortFuture;

/// The wall clock.
pub trait Clock: Send + Sync + fmt::Debug {
    fn now(&self) -> Timestamp;

    /// Returns at that moment, or at once if it is in the past.
    fn sleep_until(&self, moment: Timestamp) -> PortFuture<'_, ()>;
}

/// Fresh ids and random numbers.
pub trait IdSource: Send + Sync + fmt::Debug {
    /// A UUIDv7: ids made later sort later, which keeps the store's indexes append-ordered.
    fn new_uuid(&self) -> Uuid;

    /// 64 random bits.
    fn random_u64(&self) -> u64;
}
