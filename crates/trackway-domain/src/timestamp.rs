//! Time as recorded: milliseconds since the epoch. The clock itself is a port.

use std::{fmt, ops::Add, str::FromStr, time::Duration};

use serde::{Deserialize, Serialize};

/// A moment, in milliseconds since 1970-01-01 UTC. Prints as RFC 3339 with milliseconds and `Z`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(pub i64);

impl Timestamp {
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    pub const fn millis(self) -> i64 {
        self.0
    }

    /// The duration from `earlier` to this moment; zero if `earlier` is later.
    pub fn duration_since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }
}

impl Add<Duration> for Timestamp {
    type Output = Self;

    fn add(self, span: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(span.as_millis()).unwrap_or(i64::MAX)))
    }
}

impl Timestamp {
    /// The date format of HTTP, with a resolution of one second.
    pub fn to_http_date(self) -> String {
        use jiff::fmt::rfc2822::DateTimePrinter;
        let moment = jiff::Timestamp::from_millisecond(self.0).unwrap_or_default();
        // Fails only for years before 0, which a clock does not report.
        DateTimePrinter::new().timestamp_to_rfc9110_string(&moment).unwrap_or_default()
    }
}

/// RFC 3339, with any offset. Digits below a millisecond are dropped.
impl FromStr for Timestamp {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse::<jiff::Timestamp>() {
            Ok(moment) => Ok(Self(moment.as_millisecond())),
            Err(error) => Err(error.to_string()),
        }
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(moment) => write!(f, "{moment:.3}"),
            Err(_) => write!(f, "{} ms", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_as_rfc_3339_with_milliseconds() {
        assert_eq!(Timestamp(0).to_string(), "1970-01-01T00:00:00.000Z");
        assert_eq!(Timestamp(1_700_000_000_120).to_string(), "2023-11-14T22:13:20.120Z");
        assert_eq!(Timestamp(1_700_000_000_120).to_http_date(), "Tue, 14 Nov 2023 22:13:20 GMT");
    }

    #[test]
    fn reads_rfc_3339() {
        assert_eq!("2023-11-14T22:13:20.1209Z".parse(), Ok(Timestamp(1_700_000_000_120)));
        assert_eq!("2023-11-14T23:13:20+01:00".parse(), Ok(Timestamp(1_700_000_000_000)));
        for text in ["", "yesterday", "2023-11-14", "1700000000"] {
            assert!(text.parse::<Timestamp>().is_err(), "{text:?}");
        }
    }
}
