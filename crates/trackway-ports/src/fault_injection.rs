//! Fault points: named points at which a test can end the process, or see that it was reached.

use std::fmt;

/// Called at every write and effect with a stable name. Production code passes [`NoFaultInjection`].
pub trait FaultInjector: Send + Sync + fmt::Debug {
    fn reach_fault_point(&self, point: &'static str);
}

/// Nothing happens at any point.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoFaultInjection;

impl FaultInjector for NoFaultInjection {
    fn reach_fault_point(&self, _point: &'static str) {}
}
