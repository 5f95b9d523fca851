//! What the file may contain, and the findings about a wrong file.

use crate::ApiKeyHash;
use tempfile::TempDir;

use super::*;

const WHOLE: &str = r#"
[auth]
required = true

[[auth.keys]]
id = "ci"
sha256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
tenant = "acme"
user = "${env:WHO}-bot"
scopes = ["workflow:echo:run", "agent:*:call"]

[auth.jwt]
jwks_file = "jwks.json"
issuer = "https://issuer.example"
audience = "trackway"
tenant_claim = "org"

[outgoing]
allow_loopback = true
allow = ["10.0.0.0/8", "*.${env:WHO}.internal"]

[nats]
url = "nats://${env:WHO}:pass@nats.example:4222"

[push]
secret = "${env:PUSH_SECRET}"

[server]
body_max_bytes = 2048
public_url = "https://${env:WHO}.example/"
max_connections = 100
header_timeout = "2s"
body_timeout = "3s"
idle_timeout = "4s"
blocking_timeout = "5s"

[a2a]
default_agent = "echo"
grpc_reflection = true
grpc_in_card = false

[artifacts]
max_bytes = 5
quota_bytes = 7
"#;

fn parse(text: &str) -> Result<WorkspaceConfig, WorkspaceError> {
    let variable = |name: &str| match name {
        "WHO" => Some("ann".to_owned()),
        "PUSH_SECRET" => Some("hush-hush".to_owned()),
        _ => None,
    };
    let (config, findings) = WorkspaceConfig::parse_config(
        Path::new("trackway.toml"),
        Path::new("/etc/trackway"),
        text,
        &variable,
    );
    finding::error_from_findings(&findings).map_or(Ok(config), Err)
}

#[test]
fn every_setting_is_read() {
    let config = parse(WHOLE).unwrap();
    assert!(config.auth.is_required());
    let shown = format!("{:?}", config.auth);
    for part in ["\"ci\"", "acme", "ann-bot", "agent:*:call", "/etc/trackway/jwks.json", "\"org\""] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let allow = ["10.0.0.0/8", "*.ann.internal"].map(|target| target.parse().unwrap());
    let allow = allow.into_iter().collect();
    assert_eq!(config.outgoing, OutgoingSection { allow_loopback: true, allow });
    let nats = Secret::new("nats://ann:pass@nats.example:4222");
    assert_eq!(config.nats, NatsSection { url: Some(nats) });
    assert_eq!(config.push, PushSection { secret: Some(Secret::new("hush-hush")) });
    let connections = ConnectionLimits {
        max: 100,
        header_timeout: Duration::from_secs(2),
        body_timeout: Duration::from_secs(3),
        idle_timeout: Duration::from_secs(4),
    };
    let public_url = Some("https://ann.example".to_owned());
    let blocking_timeout = Duration::from_secs(5);
    let limits = ServerSection { public_url, body_max_bytes: 2048, connections, blocking_timeout };
    assert_eq!(config.server, limits);
    let a2a = A2aSection {
        default_agent: Some(LocatedName { name: "echo".to_owned(), line: 38 }),
        signing: None,
        grpc_reflection: true,
        grpc_hidden: true,
    };
    assert_eq!(config.a2a, a2a);
    assert_eq!((config.artifacts.bytes_max, config.artifacts.quota.bytes_max), (5, 7));
}

/// Proves X6: nothing that gives access, or signs in our name, is shown.
#[test]
fn a_configuration_can_be_logged() {
    let shown = format!("{:?}", parse(WHOLE).unwrap());
    assert!(!shown.contains("hush-hush") && !shown.contains("9f86d0"), "{shown}");
    assert_eq!(format!("{:?}", ApiKeyHash::from_api_key("x")), "KeyHash(…)");
}

#[test]
fn an_empty_file_is_the_default() {
    let config = parse("").unwrap();
    assert!(!config.auth.is_required());
    assert_eq!(config.outgoing, OutgoingSection::default());
    assert_eq!(config.server, ServerSection::default());
    assert_eq!(config.server.body_max_bytes, 10_485_760);
}

/// Proves X5: a mistake is reported with its file, its line, and what was meant.
#[test]
fn mistakes_are_told_with_their_place() {
    const KEY: &str = "[[auth.keys]]\nid = \"k\"\ntenant = \"t\"\nuser = \"u\"\n";
    const HASH: &str = "sha256 = \"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\"\n";
    const JWT: &str = "[auth.jwt]\nissuer = \"i\"\naudience = \"a\"\n";
    let table = [
        ("[auth]\nrequird = true".to_owned(), 2, "requird"),
        ("\n\n[auht]\n".to_owned(), 3, "auht"),
        ("[auth]\nrequired = \"yes\"".to_owned(), 2, "expected a boolean"),
        ("[auth\n".to_owned(), 1, "table"),
        ("[outgoing]\nallow = [\n\"10.0.0.1/8\",\n]".to_owned(), 3, "10.0.0.0/8"),
        ("[outgoing]\nallow = [\"*\"]".to_owned(), 2, "every host"),
        ("[outgoing]\nallow = [\"http://db.internal\"]".to_owned(), 2, "form of a URL"),
        ("[outgoing]\nallow = \"10.0.0.0/8\"".to_owned(), 2, "allow"),
        (format!("[outgoing]\nallow = [{}]", "\"10.0.0.0/8\",".repeat(257)), 2, "more than 256"),
        ("[server]\nbody_max_bytes = 1".to_owned(), 2, "from 1024 to"),
        ("[server]\nbody_max_bytes = -1".to_owned(), 2, "-1"),
        ("[artifacts]\nmax_bytes = 0".to_owned(), 2, "from 1 to"),
        ("[artifacts]\nquota = 1".to_owned(), 2, "quota"),
        ("[server]\nmax_connections = 0".to_owned(), 2, "from 1 to"),
        ("[server]\nidle_timeout = \"1ms\"".to_owned(), 2, "from 10ms to 1d"),
        ("[server]\nheader_timeout = \"soon\"".to_owned(), 2, "length of time"),
        ("[server]\npublic_url = \"ours.example\"".to_owned(), 2, "server.public_url"),
        ("[nats]\nurl = \"\"".to_owned(), 2, "nats.url: it is empty"),
        ("[nats]\nurl = \"http://nats.example\"".to_owned(), 2, "nats:// or tls://"),
        ("[nats]\nurl = 4222".to_owned(), 2, "nats.url"),
        ("[nats]\naddress = \"nats://x\"".to_owned(), 2, "address"),
        ("[push]\nsecret = \"\"".to_owned(), 2, "push.secret: it is empty"),
        ("[push]\n\nsecret = \"${env:NOT_SET}\"".to_owned(), 3, "\"NOT_SET\""),
        ("[push]\nsecret = \"${env:WHO\"".to_owned(), 2, "has no `}`"),
        ("[a2a]\nsigning_key_id = \"k\"".to_owned(), 2, "signing_key_file"),
        ("[a2a]\nsigning_key_file = \"no.pem\"".to_owned(), 2, "/etc/trackway/no.pem"),
        (format!("{KEY}{HASH}"), 1, "scopes"),
        (format!("{KEY}{HASH}scopes = [\n\"*\",\n\"echo\"]"), 8, "\"echo\" is not a scope"),
        (format!("{KEY}sha256 = \"abc\"\nscopes = []"), 5, "64 hex digits"),
        (format!("{KEY}{HASH}scopes = []\nscope = 1"), 7, "scope"),
        (JWT.to_owned(), 1, "either jwks_url or jwks_file"),
        (format!("{JWT}jwks_url = \"http://idp.example/keys\""), 4, "https"),
        ("[auth.jwt]\njwks_file = \"k\"\nissuer = \"i\"".to_owned(), 1, "audience"),
    ];
    for (text, line, says) in table {
        let failure = parse(&text).map(drop).unwrap_err();
        let place = format!("trackway.toml, line {line}: ");
        assert!(failure.to_string().starts_with(&place), "{text}: {failure:?}");
        assert!(failure.to_string().contains(says), "{text}: {failure:?}");
    }
}

#[test]
fn the_nearest_key_is_named() {
    for (text, meant) in [
        ("[auth]\nrequird = true", "required"),
        ("[outgong]\n", "outgoing"),
        ("[a2a]\ndefaultagent = \"echo\"", "default_agent"),
        ("[auth.jwt]\nissuer = \"i\"\naudince = \"a\"", "audience"),
    ] {
        let failure = format!("{:?}", parse(text).map(drop).unwrap_err());
        assert!(failure.contains(&format!("did you mean \\\"{meant}\\\"?")), "{failure}");
    }
}

#[test]
fn a_signing_key_is_read_from_beside_the_file() {
    let folder = TempDir::new().unwrap();
    let load = || WorkspaceConfig::load_config(Some(folder.path()));
    assert!(load().is_ok(), "no file is needed");
    fs::write(folder.path().join(FILE), "[a2a]\nsigning_key_file = \"card.pem\"").unwrap();
    fs::write(folder.path().join("card.pem"), "-----BEGIN EC PRIVATE KEY-----").unwrap();
    assert!(load().unwrap_err().to_string().contains("PKCS#8"));
    fs::write(folder.path().join("card.pem"), "-----BEGIN PRIVATE KEY-----").unwrap();
    let signing = load().unwrap().a2a.signing.unwrap();
    assert_eq!(signing.key_id, "k1");
    assert!(WorkspaceConfig::load_config(Some(&folder.path().join("nothing"))).is_err());
}
