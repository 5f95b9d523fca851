//! The call chain: which agents called each other, across processes, until a run began.
//!
//! The depth ends rings of agents that call each other, the ancestors name them. Both travel with every call
//! of a peer and are inherited by children, so that a chain does not begin again inside a process.

use serde::{Deserialize, Serialize};

/// More than any configured depth, so that within the depth limit no ancestor is forgotten.
///
/// Limit (Mesh): ancestors in one call chain.
pub const CALL_CHAIN_ANCESTORS_MAX: usize = 64;

/// As long as an address that HTTP servers accept in practice.
///
/// Limit (Mesh): bytes of one ancestor's address in a call chain.
pub const CALL_CHAIN_ADDRESS_BYTES_MAX: usize = 2_048;

/// The calls of peers that led to a run. Empty for a run that a person or a program started here.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CallChain {
    /// How many calls of peers led to the run.
    pub depth: u32,
    /// The addresses of the agents that made them, the oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ancestors: Vec<String>,
}

/// Why a call is not made or not accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallChainRefusal {
    #[error("agents have called each other {depth} times to get here; the limit is {max}")]
    TooDeep { depth: u32, max: u32 },
    #[error("{address} is waiting for this call already: it called the agents that lead here")]
    CallsAncestor { address: String },
    #[error("the call names {count} ancestors; the limit is {max}")]
    TooManyAncestors { count: usize, max: usize },
    #[error("the address of an ancestor has {bytes} bytes; the limit is {max}")]
    AncestorTooLong { bytes: usize, max: usize },
}

impl CallChain {
    /// A chain that came from outside. The depth counts at least its ancestors, so that a caller cannot make
    /// it smaller than what it shows.
    pub fn new(depth: u32, ancestors: Vec<String>) -> Result<Self, CallChainRefusal> {
        let (count, max) = (ancestors.len(), CALL_CHAIN_ANCESTORS_MAX);
        if count > max {
            return Err(CallChainRefusal::TooManyAncestors { count, max });
        }
        let max = CALL_CHAIN_ADDRESS_BYTES_MAX;
        if let Some(long) = ancestors.iter().find(|address| address.len() > max) {
            return Err(CallChainRefusal::AncestorTooLong { bytes: long.len(), max });
        }
        let depth = depth.max(u32::try_from(count).unwrap_or(u32::MAX));
        Ok(Self { depth, ancestors })
    }

    /// Whether no peer led to the run.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The chain of a call that the agent at this address makes. If there are too many ancestors, the oldest
    /// is forgotten; the depth still counts it.
    #[must_use]
    pub fn extend(&self, address: &str) -> Self {
        let forgotten = (self.ancestors.len() + 1).saturating_sub(CALL_CHAIN_ANCESTORS_MAX);
        let mut ancestors: Vec<String> = self.ancestors.iter().skip(forgotten).cloned().collect();
        ancestors.push(shorten_address(address).to_owned());
        Self { depth: self.depth.saturating_add(1), ancestors }
    }

    /// Whether the agent at this address is an ancestor.
    pub fn contains(&self, address: &str) -> bool {
        let address = shorten_address(address);
        self.ancestors.iter().any(|ancestor| ancestor == address)
    }

    /// Refuses a chain with more than `max` calls.
    pub fn check_depth(&self, max: u32) -> Result<(), CallChainRefusal> {
        if self.depth > max { Err(CallChainRefusal::TooDeep { depth: self.depth, max }) } else { Ok(()) }
    }

    /// Refuses a call of an ancestor: it would wait for itself.
    pub fn check_not_ancestor(&self, address: &str) -> Result<(), CallChainRefusal> {
        if self.contains(address) {
            return Err(CallChainRefusal::CallsAncestor { address: address.to_owned() });
        }
        Ok(())
    }
}

/// The part of an address that a chain keeps. Both sides of a comparison are shortened in the same way.
fn shorten_address(address: &str) -> &str {
    let mut end = address.len().min(CALL_CHAIN_ADDRESS_BYTES_MAX);
    while !address.is_char_boundary(end) {
        end -= 1;
    }
    &address[..end]
}

#[cfg(test)]
mod tests;
