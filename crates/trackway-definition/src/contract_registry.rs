//! The registry of output contracts: artifacts of a known kind that a step can require by name.
//!
//! The names and fields are WorkRail's. An artifact may have more fields than the contract names.

#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, sync::LazyLock};

use crate::model::OutputContractForm;

/// Every contract of the registry by its name.
static REGISTRY: LazyLock<BTreeMap<String, OutputContractForm>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../schema/contracts.json"))
        .expect("the registry is JSON, as its tests show")
});

pub(crate) fn contract_names() -> impl Iterator<Item = &'static str> {
    REGISTRY.keys().map(String::as_str)
}

/// A contract by its name.
pub(crate) fn find_output_contract(name: &str) -> Option<OutputContractForm> {
    REGISTRY.get(name).cloned()
}
