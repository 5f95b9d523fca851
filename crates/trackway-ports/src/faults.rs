//! Fault points: named points at which a test can end the process, or see that it was reached.

use std::fmt;

/// Called at every write and effect with a stable name. Production code passes [`NoFaults`].
pub trait Faults: Send + Sync + fmt::Debug {
    fn reach(&self, point: &'static str);
}

/// Nothing happens at any point.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoFaults;

impl Faults for NoFaults {
    fn reach(&self, _point: &'static str) {}
}
