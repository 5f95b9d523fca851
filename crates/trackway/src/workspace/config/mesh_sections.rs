//! `[mesh]` and `[[peers]]`: other nodes, and how to work with them.

use std::{collections::BTreeMap, fs, ops::RangeInclusive, path::Path, time::Duration};

use serde_json::Value;
use toml::Spanned;
use trackway_mesh::{
    ConfiguredPeer, MeshConfiguration, MeshOptions, NodePublicKey, PEERS_MAX, PeerAddress, PeerCredentials,
    PeerName, normalize_peer_url,
};

use super::{MeshSection, config_reader::ConfigReader, raw_config};
use crate::workspace::duration;

/// Nobody waits longer than a day for a peer to come back.
/// Limit (Mesh): longest time between two reads of a card; `[mesh] refresh`.
const REFRESH_MAX: Duration = Duration::from_secs(24 * 60 * 60);
/// Limit (Mesh): longest time for which a broken connection may be tried again; `[mesh] reconnect`.
const RECONNECT_MAX: Duration = Duration::from_secs(24 * 60 * 60);
/// Limit (Mesh): longest silence of a remote call; `[mesh] timeout`.
const TIMEOUT_MAX: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// Less would keep both sides busy with cards and cancels.
const SHORTEST: Duration = Duration::from_millis(100);
/// Longer chains than this are loops.
/// Limit (Mesh): range of the length of a chain of calls; `[mesh] max_depth`.
const MAX_DEPTH: RangeInclusive<u32> = 1..=100;
/// Limit (Mesh): patterns of `[mesh] allow` or `deny`, and keys of `[mesh] trust`.
const LIST_MAX: usize = 1_000;
/// Limit (Mesh): file with a card, in bytes; `[[peers]] card`.
const CARD_FILE_BYTES_MAX: u64 = 1024 * 1024;

pub(super) fn read_mesh_sections(
    reader: &ConfigReader<'_>,
    mesh: &raw_config::RawMeshSection,
    peers: &[Spanned<raw_config::RawPeerSection>],
) -> MeshSection {
    let options = read_mesh_options(reader, mesh);
    let (mut configured, mut peer_lines) = (Vec::new(), Vec::new());
    for (index, section) in peers.iter().enumerate() {
        let key = format!("peers[{index}]");
        if configured.len() >= PEERS_MAX {
            reader.report_finding::<()>(section.span(), &key, format!("there are at most {PEERS_MAX} peers"));
            break;
        }
        if let Some(peer) = read_peer(reader, &key, section) {
            check_unique(reader, &key, section, &peer, &configured);
            peer_lines.push(reader.line_of_offset(section.span().start));
            configured.push(peer);
        }
    }
    MeshSection { configuration: MeshConfiguration { options, peers: configured }, peer_lines }
}

fn read_mesh_options(reader: &ConfigReader<'_>, section: &raw_config::RawMeshSection) -> MeshOptions {
    let mut options = MeshOptions::default();
    for (key, given, range, option) in [
        ("mesh.refresh", &section.refresh, SHORTEST..=REFRESH_MAX, &mut options.refresh),
        // No time at all means: a call whose connection breaks has failed.
        ("mesh.reconnect", &section.reconnect, Duration::ZERO..=RECONNECT_MAX, &mut options.reconnect),
        ("mesh.timeout", &section.timeout, SHORTEST..=TIMEOUT_MAX, &mut options.timeout),
    ] {
        if let Some(span) = given.as_ref().and_then(|text| read_span(reader, key, text, &range)) {
            *option = span;
        }
    }
    match &section.max_depth {
        None => {}
        Some(depth) if MAX_DEPTH.contains(depth.get_ref()) => options.max_depth = *depth.get_ref(),
        Some(depth) => {
            let why = format!("it must be from {} to {}", MAX_DEPTH.start(), MAX_DEPTH.end());
            reader.report_finding::<()>(depth.span(), "mesh.max_depth", why);
        }
    }
    options.allow = read_list(reader, "mesh.allow", &section.allow, |_, text| Some(text));
    options.deny = read_list(reader, "mesh.deny", &section.deny, |_, text| Some(text));
    options.trust = read_list(reader, "mesh.trust", &section.trust, |(key, span), text| {
        let parsed = text.parse::<NodePublicKey>();
        parsed.map_or_else(|why| reader.report_finding(span, key, why), Some)
    });
    if let Some(text) = &section.namespace {
        const KEY: &str = "mesh.namespace";
        if let Some(name) = reader.read_nonempty_setting(KEY, text) {
            match PeerName::new(&name) {
                Ok(_) => options.namespace = name,
                Err(_) => {
                    let why = "use letters, digits, `-`, `_` and single dots inside, at most 64";
                    reader.report_finding_with_hint::<()>(
                        text.span(),
                        KEY,
                        "it cannot name a namespace",
                        why,
                    );
                }
            }
        }
    }
    options
}

fn read_span(
    reader: &ConfigReader<'_>,
    key: &str,
    text: &raw_config::SpannedText,
    range: &RangeInclusive<Duration>,
) -> Option<Duration> {
    match duration::parse_duration(&reader.read_nonempty_setting(key, text)?) {
        Ok(span) if range.contains(&span) => Some(span),
        Ok(_) => {
            let (least, most) = (range.start().as_millis(), range.end().as_secs() / 3_600);
            reader.report_finding(text.span(), key, format!("it must be from {least}ms to {most}h"))
        }
        Err(why) => reader.report_finding_with_hint(text.span(), key, "it is not a length of time", &why),
    }
}

fn read_list<T>(
    reader: &ConfigReader<'_>,
    key: &str,
    list: &Option<Vec<raw_config::SpannedText>>,
    read: impl Fn((&str, std::ops::Range<usize>), String) -> Option<T>,
) -> Vec<T> {
    let items = list.iter().flatten();
    if let Some(item) = items.clone().nth(LIST_MAX) {
        reader.report_finding::<()>(item.span(), key, format!("it has more than {LIST_MAX} entries"));
    }
    let items = items.take(LIST_MAX).enumerate();
    let read_item = |(index, item): (usize, &raw_config::SpannedText)| {
        let key = format!("{key}[{index}]");
        read((&key, item.span()), reader.read_nonempty_setting(&key, item)?)
    };
    items.filter_map(read_item).collect()
}

fn read_peer(
    reader: &ConfigReader<'_>,
    key: &str,
    section: &Spanned<raw_config::RawPeerSection>,
) -> Option<ConfiguredPeer> {
    let within = |name: &str| format!("{key}.{name}");
    let raw_config::RawPeerSection { url, name, key: secret, headers, card } = section.get_ref();
    let name = name.as_ref().map(|text| {
        let name = reader.read_nonempty_setting(&within("name"), text)?;
        let named = PeerName::new(&name);
        named.map_or_else(|why| reader.report_finding(text.span(), &within("name"), why), Some)
    });
    let address = match (url, card) {
        (Some(url), None) => read_peer_url(reader, &within("url"), url).map(PeerAddress::Base),
        (None, Some(card)) => read_card(reader, &within("card"), card).map(PeerAddress::StaticCard),
        (Some(_), Some(_)) | (None, None) => {
            reader.report_finding(section.span(), key, "it has either url or card")
        }
    };
    let secret = secret.as_ref().map(|text| reader.read_nonempty_setting(&within("key"), text));
    let mut header_values = BTreeMap::new();
    let mut headers_fit = true;
    for (name, value) in headers {
        match reader.read_text_setting(&within(&format!("headers.{}", name.get_ref())), value) {
            Some(value) => drop(header_values.insert(name.get_ref().clone(), value)),
            None => headers_fit = false,
        }
    }
    let key_fits = !matches!(secret, Some(None));
    let credentials = PeerCredentials { key: secret.flatten(), headers: header_values };
    if let Err(why) = credentials.header_map() {
        return reader.report_finding(section.span(), key, why);
    }
    let name_fits = !matches!(name, Some(None));
    let address = address?;
    (key_fits && headers_fit && name_fits).then(|| ConfiguredPeer {
        name: name.flatten(),
        address,
        credentials,
    })
}

fn read_peer_url(reader: &ConfigReader<'_>, key: &str, text: &raw_config::SpannedText) -> Option<String> {
    let url = reader.read_nonempty_setting(key, text)?;
    normalize_peer_url(&url).map_or_else(|why| reader.report_finding(text.span(), key, why), Some)
}

/// The card itself, or the name of its file.
fn read_card(reader: &ConfigReader<'_>, key: &str, card: &Spanned<Value>) -> Option<Value> {
    let document = match card.get_ref() {
        Value::String(path) => match read_card_file(&reader.folder.join(path)) {
            Ok(document) => document,
            Err(why) => return reader.report_finding(card.span(), key, why),
        },
        other => other.clone(),
    };
    if document.get("name").is_some_and(Value::is_string) {
        return Some(document);
    }
    let hint = "write the name of a JSON file, or the card as a table with its name and url";
    reader.report_finding_with_hint(card.span(), key, "it is not a card", hint)
}

fn read_card_file(path: &Path) -> Result<Value, String> {
    let shown = path.display();
    let metadata = fs::metadata(path).map_err(|error| format!("{shown}: {error}"))?;
    if metadata.len() > CARD_FILE_BYTES_MAX {
        return Err(format!("{shown} is larger than {CARD_FILE_BYTES_MAX} bytes"));
    }
    let bytes = fs::read(path).map_err(|error| format!("{shown}: {error}"))?;
    serde_json::from_slice(&bytes).map_err(|error| format!("{shown} is not JSON: {error}"))
}

/// Two peers cannot have one name or one address.
fn check_unique(
    reader: &ConfigReader<'_>,
    key: &str,
    section: &Spanned<raw_config::RawPeerSection>,
    peer: &ConfiguredPeer,
    earlier: &[ConfiguredPeer],
) {
    for (index, other) in earlier.iter().enumerate() {
        let what = match (&peer.address, &other.address) {
            (PeerAddress::Base(url), PeerAddress::Base(known)) if url == known => "address",
            _ if peer.name.is_some() && peer.name == other.name => "name",
            _ => continue,
        };
        reader.report_finding::<()>(section.span(), key, format!("peers[{index}] has the same {what}"));
        return;
    }
}

#[cfg(test)]
mod tests;
