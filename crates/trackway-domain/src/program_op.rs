//! The name of one operation of a program. A replay finds the recorded result by it.

use std::{fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, Serialize};

/// The kind of operation that a program requests from its context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OpKind {
    Status,
    Artifact,
    Ask,
    Step,
    Sleep,
    Now,
    Random,
    Child,
    Answer,
    Reject,
}

impl OpKind {
    pub const ALL: [Self; 10] = [
        Self::Status,
        Self::Artifact,
        Self::Ask,
        Self::Step,
        Self::Sleep,
        Self::Now,
        Self::Random,
        Self::Child,
        Self::Answer,
        Self::Reject,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Status => "status",
            Self::Artifact => "artifact",
            Self::Ask => "ask",
            Self::Step => "step",
            Self::Sleep => "sleep",
            Self::Now => "now",
            Self::Random => "random",
            Self::Child => "child",
            Self::Answer => "answer",
            Self::Reject => "reject",
        }
    }
}

/// Kind, key and occurrence: the second `step("pay")` of a program is `step:pay#1`. A name does not
/// depend on other operations, so a changed status text does not rename a step.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Op {
    pub kind: OpKind,
    pub key: Arc<str>,
    /// How many operations of the same kind and key came before.
    pub occurrence: u32,
}

/// Text that is not the name of an op.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} does not name an op (kind:key#occurrence)")]
pub struct ParseOpError(String);

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}#{}", self.kind.name(), self.key, self.occurrence)
    }
}

impl FromStr for Op {
    type Err = ParseOpError;

    fn from_str(text: &str) -> Result<Self, ParseOpError> {
        let parse = || {
            let (kind, rest) = text.split_once(':')?;
            let (key, occurrence) = rest.rsplit_once('#')?;
            let kind = OpKind::ALL.into_iter().find(|k| k.name() == kind)?;
            Some(Self { kind, key: key.into(), occurrence: occurrence.parse().ok()? })
        };
        parse().ok_or_else(|| ParseOpError(text.to_owned()))
    }
}

impl TryFrom<String> for Op {
    type Error = ParseOpError;

    fn try_from(text: String) -> Result<Self, ParseOpError> {
        text.parse()
    }
}

impl From<Op> for String {
    fn from(op: Op) -> Self {
        op.to_string()
    }
}

/// What a durable timer is for. One run has at most one timer of each name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TimerKey {
    /// A sleep, or the pause before a step's next attempt.
    Op(Op),
    /// The moment at which the whole run fails.
    Deadline,
}

impl fmt::Display for TimerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Op(op) => op.fmt(f),
            Self::Deadline => f.write_str("deadline"),
        }
    }
}

impl FromStr for TimerKey {
    type Err = ParseOpError;

    fn from_str(text: &str) -> Result<Self, ParseOpError> {
        if text == "deadline" { Ok(Self::Deadline) } else { text.parse().map(Self::Op) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_op_prints_and_reads_back_whatever_its_key() {
        for key in ["", "pay", "a:b#c", "#3", "ü 1"] {
            for kind in OpKind::ALL {
                let op = Op { kind, key: key.into(), occurrence: 12 };
                assert_eq!(op.to_string().parse::<Op>().unwrap(), op);
            }
        }
        assert!("pay#1".parse::<Op>().is_err());
        assert!("step:pay".parse::<Op>().is_err());
        assert!("leap:pay#1".parse::<Op>().is_err());
    }
}
