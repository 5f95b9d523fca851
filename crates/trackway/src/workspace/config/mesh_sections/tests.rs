//! `[mesh]` and `[[peers]]` as they are written, and what is said about wrong ones.

use std::{fs, path::Path, time::Duration};

use serde_json::json;
use tempfile::TempDir;
use trackway_mesh::{ConfiguredPeer, MeshOptions, PeerAddress, PeerCredentials, PeerName};

use crate::workspace::{
    config::{FILE, MeshSection, WorkspaceConfig},
    finding::Finding,
};

const KEY: &str = "ed25519:6kpsY-KcUgq-9VB7Ey7F-ZVHdq6-vnuSQh7qaRRG0iw";

fn read(text: &str) -> (MeshSection, Vec<Finding>) {
    let variable = |name: &str| (name == "ORDERS_KEY").then(|| "hush-hush".to_owned());
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join(FILE), text).unwrap();
    fs::write(folder.path().join("card.json"), r#"{"name": "filed", "url": "http://127.0.0.1:1/"}"#).unwrap();
    fs::write(folder.path().join("broken.json"), "{").unwrap();
    let (config, findings) = WorkspaceConfig::load_config_with_findings(folder.path(), &variable);
    (config.mesh, findings)
}

#[test]
fn every_setting_is_read() {
    let (mesh, findings) = read(&format!(
        r#"
[mesh]
refresh = "5s"
reconnect = "0s"
timeout = "2m"
max_depth = 3
allow = ["orders*", "https://*.internal/*"]
deny = ["*-test"]
namespace = "team-a"
trust = ["{KEY}"]

[[peers]]
url = "http://127.0.0.1:7420/"
name = "orders"
key = "${{env:ORDERS_KEY}}"
headers = {{ X-Team = "a" }}

[[peers]]
card = "card.json"

[[peers]]
name = "inline"
[peers.card]
name = "written down"
url = "http://127.0.0.1:2/"
"#
    ));
    assert_eq!(findings, [], "{findings:?}");
    let options = MeshOptions {
        refresh: Duration::from_secs(5),
        reconnect: Duration::ZERO,
        timeout: Duration::from_secs(120),
        max_depth: 3,
        allow: vec!["orders*".to_owned(), "https://*.internal/*".to_owned()],
        deny: vec!["*-test".to_owned()],
        namespace: "team-a".to_owned(),
        trust: vec![KEY.parse().unwrap()],
    };
    assert_eq!(mesh.configuration.options, options);
    let peer = |name: Option<&str>, address: PeerAddress| ConfiguredPeer {
        name: name.map(|name| PeerName::new(name).unwrap()),
        address,
        credentials: PeerCredentials::default(),
    };
    let mut orders = peer(Some("orders"), PeerAddress::Base("http://127.0.0.1:7420".to_owned()));
    orders.credentials.key = Some("hush-hush".to_owned());
    orders.credentials.headers.insert("X-Team".to_owned(), "a".to_owned());
    let filed = PeerAddress::StaticCard(json!({"name": "filed", "url": "http://127.0.0.1:1/"}));
    let inline = PeerAddress::StaticCard(json!({"name": "written down", "url": "http://127.0.0.1:2/"}));
    assert_eq!(mesh.configuration.peers, [orders, peer(None, filed), peer(Some("inline"), inline)]);
    assert_eq!(mesh.peer_lines, [12, 18, 21]);
    assert!(!format!("{mesh:?}").contains("hush-hush"), "nothing secret is printed");
}

#[test]
fn an_empty_file_has_the_defaults_of_the_page() {
    let (mesh, findings) = read("");
    assert_eq!((findings.len(), mesh.configuration.peers.len()), (0, 0));
    let MeshOptions { refresh, reconnect, timeout, max_depth, .. } = mesh.configuration.options;
    let seconds = [refresh, reconnect, timeout].map(|span| span.as_secs());
    assert_eq!((seconds, max_depth), ([30, 30, 600], 8));
}

/// Proves X5: a mistake is reported with its line and its key, and the other settings still hold.
#[test]
fn mistakes_are_told_with_their_place() {
    let peer = "[[peers]]\nurl = \"http://a.example\"\n";
    for (text, line, says) in [
        ("[mesh]\nrefesh = \"1s\"".to_owned(), 2, "refesh"),
        ("[mesh]\nrefresh = \"1ms\"".to_owned(), 2, "mesh.refresh: it must be from 100ms to 24h"),
        ("[mesh]\nrefresh = 30".to_owned(), 2, "expected a string"),
        ("[mesh]\ntimeout = \"soon\"".to_owned(), 2, "length of time"),
        ("[mesh]\nmax_depth = 0".to_owned(), 2, "from 1 to 100"),
        ("[mesh]\nmax_depth = 2.5".to_owned(), 2, "max_depth"),
        ("[mesh]\nallow = \"a\"".to_owned(), 2, "expected a sequence"),
        ("[mesh]\ndeny = [\n\"a\",\n\"\"]".to_owned(), 4, "mesh.deny[1]: it is empty"),
        ("[mesh]\nnamespace = \"a b\"".to_owned(), 2, "cannot name a namespace"),
        ("[mesh]\ntrust = [\"ed25519:abc\"]".to_owned(), 2, "public key of a node"),
        ("[[peers]]\nname = \"a\"".to_owned(), 1, "either url or card"),
        ("[[peers]]\nurl = \"ftp://a\"".to_owned(), 2, "only http"),
        ("[[peers]]\nurl = \"http://u:p@a\"".to_owned(), 2, "name or password"),
        ("[[peers]]\nurl = \"http://a/?q=1\"".to_owned(), 2, "without `?`"),
        (format!("{peer}name = \"a b\""), 3, "cannot name a peer"),
        (format!("{peer}key = \"${{env:NONE}}\""), 3, "\"NONE\""),
        (format!("{peer}headers = {{ Host = \"x\" }}"), 1, "belongs to the protocol"),
        (format!("{peer}headers = {{ \"a b\" = \"x\" }}"), 1, "not a name"),
        (format!("{peer}token = \"x\""), 3, "token"),
        (format!("{peer}card = \"card.json\""), 1, "either url or card"),
        ("[[peers]]\ncard = \"none.json\"".to_owned(), 2, "none.json"),
        ("[[peers]]\ncard = \"broken.json\"".to_owned(), 2, "is not JSON"),
        ("[[peers]]\ncard = 2.0".to_owned(), 2, "it is not a card"),
        (format!("{peer}{peer}"), 3, "peers[0] has the same address"),
        (
            format!("{peer}name = \"a\"\n[[peers]]\nname = \"a\"\nurl = \"http://b\""),
            4,
            "peers[0] has the same name",
        ),
    ] {
        let (_, findings) = read(&text);
        let [finding] = findings.as_slice() else { panic!("{text}: {findings:?}") };
        assert_eq!(finding.line, Some(line), "{text}: {finding}");
        assert!(finding.to_string().contains(says), "{text}: {finding}");
        assert!(Path::new(finding.file.as_deref().unwrap()).ends_with(FILE));
    }
}
