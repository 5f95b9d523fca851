//! Which agents there are, and the card of each.

use serde::Serialize;
use trackway_runtime::{ProgramInfo, Registry};

/// `/a2a/agents`.
#[derive(Debug, Serialize)]
pub(crate) struct Agents<'a> {
    agents: Vec<Entry<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Entry<'a> {
    name: &'a str,
    kind: &'static str,
    description: &'a str,
    url: String,
    card_url: String,
}

impl<'a> Agents<'a> {
    pub(crate) fn new(registry: &'a Registry, base_url: &str) -> Self {
        let entry = |info: &'a ProgramInfo| {
            let url = url(base_url, &info.name);
            Entry {
                name: &info.name,
                kind: "workflow",
                description: &info.description,
                card_url: format!("{url}/.well-known/agent-card.json"),
                url,
            }
        };
        Self { agents: registry.list().into_iter().map(|program| entry(program.info())).collect() }
    }
}

/// Where an agent answers. Names of workflows need no escaping: the registry takes no others.
pub(crate) fn url(base_url: &str, name: &str) -> String {
    format!("{base_url}/a2a/agents/{name}")
}
