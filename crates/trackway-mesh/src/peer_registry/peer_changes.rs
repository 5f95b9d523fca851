//! Adds and removes peers. What was added is stored first, and is in the snapshot when the caller gets an
//! answer.

use std::sync::Arc;

use reqwest::Url;
use trackway_domain::Caller;

use crate::{
    AddedPeer, MeshOptions, Peer, PeerCredentials, PeerError, PeerName, PeerSource,
    added_peers::DocumentChange,
};

use super::{
    AddedOutcome, NewPeer, PeerRegistry, SharedRegistry, peer_entry::KnownCard, registry_state::PEERS_MAX,
};

/// Limit (Mesh): peers that one tenant adds.
const TENANT_PEERS_MAX: usize = 100;
/// Limit (Mesh): address of a peer, in bytes.
const URL_BYTES_MAX: usize = 2_048;
/// Limit (Mesh): headers that are sent to a peer.
const HEADERS_MAX: usize = 32;
/// Limit (Mesh): key or header that is sent to a peer, in bytes.
const CREDENTIAL_BYTES_MAX: usize = 8 * 1024;

/// What the store did with a peer to add.
#[derive(Debug)]
enum StoredOutcome {
    Created,
    Existing,
}

impl PeerRegistry {
    /// Adds a peer for the caller's tenant. It is asked for its card first. One that does not answer is added
    /// only if it has a name. It is stored before this returns, and in the snapshot.
    pub async fn add_peer(&self, caller: &Caller, new: NewPeer) -> Result<AddedOutcome, PeerError> {
        let NewPeer { url, name, credentials } = new;
        let url = normalize_peer_url(&url)?;
        check_credentials(&credentials)?;
        let tenant = &*caller.tenant;
        let options = self.mesh_options();
        if let Some(known) = self.shared.lock_state().peer_at_url(tenant, &url) {
            let is_named_otherwise = name.as_ref().is_some_and(|name| *name != known.name);
            let has_new_keys = !credentials.is_empty();
            if is_named_otherwise || has_new_keys && known.source == PeerSource::Configured {
                return Err(PeerError::UrlTaken { name: known.name.clone() });
            }
            if !has_new_keys {
                return Ok(AddedOutcome::Existing(known));
            }
        }
        let subject = name.as_ref().map_or("", PeerName::as_str);
        if options.denies_url(&url) || !(subject.is_empty() || options.allows_peer(subject, &url)) {
            let subject = if subject.is_empty() { url } else { subject.to_owned() };
            return Err(PeerError::Denied { subject });
        }
        let answer = self.shared.read_first_card(&url, &credentials).await;
        let wanted = wanted_name(name.as_ref(), &url, &answer, &options)?;
        let _changing = self.shared.changing.lock().await;
        let row = AddedPeer {
            name: wanted,
            url: url.clone(),
            tenant: tenant.to_owned(),
            added_by: caller.user.to_string(),
            added_at: self.shared.clock.now(),
            credentials,
        };
        let others = self.names_of_others(tenant, &url);
        let is_named = name.is_some();
        let outcome = self.shared.added.update(|rows| put_row(rows, &row, is_named, &others)).await?;
        self.shared.reload_added_peers().await?;
        let peer = self.shared.take_answer(tenant, &url, answer)?;
        Ok(match outcome {
            StoredOutcome::Created => AddedOutcome::Created(peer),
            StoredOutcome::Existing => AddedOutcome::Existing(peer),
        })
    }

    /// Removes a peer that the tenant added, also one that `[mesh] deny` hides. It is gone from the store
    /// before this returns.
    pub async fn remove_peer(&self, tenant: &str, name: &str) -> Result<(), PeerError> {
        let peer = self.snapshot().find_peer(tenant, name).cloned();
        let advice = match peer.as_ref().map(|peer| &peer.source) {
            None | Some(PeerSource::Added) => None,
            Some(PeerSource::Configured) => Some("it is in trackway.toml; remove it there"),
            Some(PeerSource::Discovered(_)) => {
                Some("its node announces it; stop that node, or use [mesh] deny")
            }
        };
        if let Some((peer, advice)) = peer.as_ref().zip(advice) {
            return Err(PeerError::NotAdded { name: peer.name.clone(), advice });
        }
        let is_it = |row: &AddedPeer| match &peer {
            Some(peer) => row.url == peer.url,
            None => row.name.as_str() == name,
        };
        let _changing = self.shared.changing.lock().await;
        let remove = |rows: &mut Vec<AddedPeer>| {
            let at = rows.iter().position(|row| row.tenant == tenant && is_it(row));
            let at = at.ok_or_else(|| PeerError::unknown(name))?;
            rows.remove(at);
            Ok(((), DocumentChange::Changed))
        };
        self.shared.added.update(remove).await?;
        self.shared.reload_added_peers().await
    }

    /// Names that the tenant's other peers have.
    fn names_of_others(&self, tenant: &str, url: &str) -> Vec<PeerName> {
        let snapshot = self.snapshot();
        let others = snapshot.peers_of_tenant(tenant).iter().filter(|peer| peer.url != url);
        others.map(|peer| peer.name.clone()).collect()
    }
}

impl SharedRegistry {
    /// Loads the added peers if they have changed since the last time.
    pub(super) async fn load_added_peers(&self) -> Result<(), PeerError> {
        let _changing = self.changing.lock().await;
        self.reload_added_peers().await
    }

    /// The same, for whoever changes them.
    async fn reload_added_peers(&self) -> Result<(), PeerError> {
        let revision = self.added.revision().await?;
        if self.lock_state().added_revision == Some(revision) {
            return Ok(());
        }
        let (revision, added) = self.added.load_revision().await?;
        let now = self.clock.now();
        self.change_state(|state| {
            state.replace_added(added, now);
            state.added_revision = Some(revision);
        });
        self.wake.notify_one();
        Ok(())
    }

    /// Gives a peer that was just stored what it answered, so that it is not asked twice.
    fn take_answer(
        &self,
        tenant: &str,
        url: &str,
        answer: Result<KnownCard, String>,
    ) -> Result<Arc<Peer>, PeerError> {
        let now = self.clock.now();
        let random = self.ids.random_u64();
        let found = self.change_state(|state| {
            let refresh = state.options().refresh;
            let entry = state.added_entry_mut(tenant, url)?;
            match answer {
                Ok(known) => entry.record_answer(Some(known), now),
                Err(why) => entry.record_error(&why),
            }
            entry.due = Some(now + entry.next_pause(refresh, random));
            Some(entry.id)
        });
        self.answers.send_modify(|answers| *answers += 1);
        self.wake.notify_one();
        let peer = found.and_then(|id| self.lock_state().peer_of_tenant(tenant, id));
        // It was removed in between, or its card has given it a name that is excluded.
        peer.ok_or_else(|| PeerError::Denied { subject: url.to_owned() })
    }
}

/// The name to store: the given one, or that of the card.
fn wanted_name(
    given: Option<&PeerName>,
    url: &str,
    answer: &Result<KnownCard, String>,
    options: &MeshOptions,
) -> Result<PeerName, PeerError> {
    let name = match (given, answer) {
        (Some(name), _) => name.clone(),
        (None, Ok(known)) => PeerName::slug_of(&known.card.name),
        (None, Err(reason)) => {
            return Err(PeerError::Unusable { url: url.to_owned(), reason: reason.clone() });
        }
    };
    match options.allows_peer(name.as_str(), url) {
        true => Ok(name),
        false => Err(PeerError::Denied { subject: name.to_string() }),
    }
}

/// Puts a peer among the stored ones, or finds it there.
fn put_row(
    rows: &mut Vec<AddedPeer>,
    new: &AddedPeer,
    is_named: bool,
    names_of_others: &[PeerName],
) -> Result<(StoredOutcome, DocumentChange), PeerError> {
    let is_same = |row: &AddedPeer| row.tenant == new.tenant && row.url == new.url;
    if let Some(known) = rows.iter_mut().find(|row| is_same(row)) {
        if is_named && known.name != new.name {
            return Err(PeerError::UrlTaken { name: known.name.clone() });
        }
        if new.credentials.is_empty() || known.credentials == new.credentials {
            return Ok((StoredOutcome::Existing, DocumentChange::Unchanged));
        }
        known.credentials = new.credentials.clone();
        return Ok((StoredOutcome::Existing, DocumentChange::Changed));
    }
    let of_tenant = || rows.iter().filter(|row| row.tenant == new.tenant);
    for (count, limit) in [(of_tenant().count(), TENANT_PEERS_MAX), (rows.len(), PEERS_MAX)] {
        if count >= limit {
            return Err(PeerError::TooMany { limit });
        }
    }
    let is_taken =
        |name: &PeerName| names_of_others.contains(name) || of_tenant().any(|row| row.name == *name);
    let name = match is_taken(&new.name) {
        false => new.name.clone(),
        true if is_named => return Err(PeerError::NameTaken { name: new.name.clone() }),
        true => new.name.with_suffix_of(&new.url),
    };
    rows.push(AddedPeer { name, ..new.clone() });
    Ok((StoredOutcome::Created, DocumentChange::Changed))
}

/// The address of a peer in the form in which it is compared and stored.
pub fn normalize_peer_url(url: &str) -> Result<String, PeerError> {
    let shown = || url.chars().take(200).collect();
    let invalid = |reason: &str| PeerError::InvalidUrl { url: shown(), reason: reason.to_owned() };
    if url.len() > URL_BYTES_MAX {
        return Err(invalid(&format!("it is longer than {URL_BYTES_MAX} bytes")));
    }
    let parsed = Url::parse(url.trim()).map_err(|error| invalid(&error.to_string()))?;
    if !matches!(parsed.scheme(), "http" | "https") {
        return Err(invalid("only http:// and https:// are spoken"));
    }
    if !parsed.username().is_empty() || parsed.password().is_some() {
        return Err(PeerError::InvalidUrl {
            url: "…".to_owned(),
            reason: "a name or password in it would be shown; use a key or headers".to_owned(),
        });
    }
    if parsed.query().is_some() || parsed.fragment().is_some() {
        return Err(invalid("it is the base below which the card lies, without `?` and `#`"));
    }
    Ok(parsed.as_str().trim_end_matches('/').to_owned())
}

fn check_credentials(credentials: &PeerCredentials) -> Result<(), PeerError> {
    let invalid =
        |name: &str, reason| PeerError::InvalidHeader { name: name.chars().take(100).collect(), reason };
    if credentials.headers.len() > HEADERS_MAX {
        return Err(invalid("", "there are too many headers"));
    }
    for (name, value) in &credentials.headers {
        if name.len() + value.len() > CREDENTIAL_BYTES_MAX {
            return Err(invalid(name, "it is too long"));
        }
    }
    if credentials.key.as_ref().is_some_and(|key| key.len() > CREDENTIAL_BYTES_MAX || key.is_empty()) {
        return Err(invalid("authorization", "the key is empty or too long"));
    }
    credentials.header_map().map(drop)
}
