//! What the doctor finds out about peers: who answers, who has another's name, and which patterns of agents
//! fit none.

use std::{collections::BTreeSet, path::Path, sync::Arc, time::Duration};

use trackway_domain::matches_wildcard;
use trackway_mesh::{
    ConfiguredPeer, Peer, PeerAddress, PeerHealth, PeerRegistry, PeerRegistryOptions, PeerSnapshot,
    PeerSource,
};
use trackway_runtime::{SystemClock, SystemIds};
use trackway_sqlite::FolderKeys;

use super::{
    Workspace, add_nearest_name_suggestion, config,
    finding::{Finding, FindingLevel},
    reference_check::is_wildcard_pattern,
};

/// Limit (CLI): time in which peers have to answer while the doctor looks.
const PEERS_WAIT: Duration = Duration::from_secs(20);

/// Asks the peers of the configuration and of the data folder, once.
pub async fn inspect_peers(workspace: &Workspace, data: &Path) -> Vec<Finding> {
    let mesh = &workspace.config.mesh;
    let options = PeerRegistryOptions {
        configuration: mesh.configuration.clone(),
        keys: Arc::new(FolderKeys::in_folder(data)),
        clock: Arc::new(SystemClock),
        ids: Arc::new(SystemIds),
    };
    let registry = match PeerRegistry::start(options).await {
        Ok(registry) => registry,
        Err(error) => return vec![Finding::error_finding(error.to_string())],
    };
    // A peer that takes longer is reported as it is at that time.
    let _late = tokio::time::timeout(PEERS_WAIT, registry.wait_until_asked()).await;
    let snapshot = registry.snapshot();
    let file = workspace.folder.join(config::FILE);
    let mut findings = Vec::new();
    for (index, (peer, line)) in mesh.configuration.peers.iter().zip(&mesh.peer_lines).enumerate() {
        for finding in findings_about_configured(&snapshot, peer) {
            let finding = finding.located_in_file(&file).located_at_line(Some(*line));
            findings.push(finding.located_at_key(format!("peers[{index}]")));
        }
    }
    let mut added: Vec<&Arc<Peer>> =
        snapshot.all_peers().filter(|peer| peer.source == PeerSource::Added).collect();
    added.sort_by_key(|peer| (&peer.tenant, &peer.name));
    findings.extend(added.into_iter().flat_map(|peer| findings_about_peer(peer)));
    findings.extend(check_agent_peers(workspace, &snapshot));
    findings
}

fn findings_about_configured(snapshot: &PeerSnapshot, configured: &ConfiguredPeer) -> Vec<Finding> {
    let is_it = |peer: &&Arc<Peer>| {
        peer.source == PeerSource::Configured
            && match (&configured.name, &configured.address) {
                (Some(name), _) if *name == peer.name => true,
                (_, PeerAddress::Base(url)) => *url == peer.url,
                (_, PeerAddress::StaticCard(card)) => {
                    peer.card.as_ref().is_some_and(|known| known.document == *card)
                }
            }
    };
    match snapshot.all_peers().find(is_it) {
        Some(peer) => findings_about_peer(peer),
        None => {
            let why = "[mesh] allow and deny exclude this peer";
            vec![Finding::new(FindingLevel::Unused, why)]
        }
    }
}

fn findings_about_peer(peer: &Peer) -> Vec<Finding> {
    let name = &peer.name;
    let kind = peer.kind.as_str();
    let state = match (&peer.error, peer.health) {
        (None, PeerHealth::Up) => {
            Finding::new(FindingLevel::Note, format!("the peer {name} answers; it is the kind {kind}"))
        }
        (None, PeerHealth::Unknown | PeerHealth::Down) if peer.card.is_some() => {
            Finding::new(FindingLevel::Note, format!("the peer {name} has a card that is never asked for"))
        }
        (None, PeerHealth::Unknown | PeerHealth::Down) => {
            Finding::new(FindingLevel::Warning, format!("the peer {name} has not answered yet"))
        }
        (Some(error), _) => {
            let why = format!("the peer {name} at {} does not answer: {error}", peer.url);
            Finding::new(FindingLevel::Warning, why)
        }
    };
    let renamed = peer.renamed_from.as_ref().map(|wanted| {
        let why = format!("another peer is called {wanted}, so this one is called {name}");
        Finding::new(FindingLevel::Warning, why).with_suggestion("give it a name of its own")
    });
    std::iter::once(state).chain(renamed).collect()
}

/// Patterns in the front matter of agents that fit no peer. Peers may come later, so none is an error.
fn check_agent_peers(workspace: &Workspace, snapshot: &PeerSnapshot) -> Vec<Finding> {
    let names: BTreeSet<&str> = snapshot.all_peers().map(|peer| peer.name.as_str()).collect();
    let mut findings = Vec::new();
    for agent in &workspace.agents {
        for (index, pattern) in agent.spec.peers.iter().enumerate() {
            if names.iter().any(|name| matches_wildcard(pattern, name)) {
                continue;
            }
            let key = format!("peers[{index}]");
            findings.push(if is_wildcard_pattern(pattern) {
                agent.finding_at_key(&key, FindingLevel::Unused, format!("no peer fits {pattern:?}"))
            } else {
                let why = format!("there is no peer {pattern:?}");
                let finding = agent.finding_at_key(&key, FindingLevel::Warning, why);
                add_nearest_name_suggestion(finding, pattern, &names.iter().copied().collect::<Vec<_>>())
            });
        }
    }
    findings
}
