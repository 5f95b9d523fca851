//! A testing aid: ends the process at a named fault point, as a crash would.
//!
//! `TRACKWAY_FAULT=store:after-commit:3` aborts when that point is reached for the third time;
//! `*:10` counts every point. Nothing is cleaned up, because the crash tests need that.

use std::{
    str::FromStr,
    sync::atomic::{AtomicU64, Ordering},
};

use trackway_ports::FaultInjector;

/// A fault point, and how many times it is reached before the abort.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FaultPoint {
    point: String,
    occurrence: u64,
}

impl FromStr for FaultPoint {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // Names of points contain colons; the count follows the last one.
        let parsed = text.rsplit_once(':').and_then(|(point, at)| {
            let at = at.parse().ok().filter(|at| *at > 0)?;
            (!point.is_empty()).then(|| Self { point: point.to_owned(), occurrence: at })
        });
        parsed.ok_or_else(|| "write point:n, for example store:after-commit:3 or *:10".to_owned())
    }
}

#[derive(Debug)]
pub(crate) struct AbortAtFaultPoint {
    point: FaultPoint,
    reached: AtomicU64,
}

impl AbortAtFaultPoint {
    pub(crate) fn new(point: FaultPoint) -> Self {
        Self { point, reached: AtomicU64::new(0) }
    }
}

impl FaultInjector for AbortAtFaultPoint {
    fn reach_fault_point(&self, point: &'static str) {
        if self.point.point != "*" && self.point.point != point {
            return;
        }
        if self.reached.fetch_add(1, Ordering::Relaxed) + 1 == self.point.occurrence {
            std::process::abort();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_has_a_name_and_a_count() {
        let parse = |text: &str| text.parse::<FaultPoint>();
        let point = FaultPoint { point: "store:after-commit".into(), occurrence: 3 };
        assert_eq!(parse("store:after-commit:3"), Ok(point));
        assert_eq!(parse("*:10"), Ok(FaultPoint { point: "*".into(), occurrence: 10 }));
        for bad in ["", "step:before", ":3", "x:0", "x:-1"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
