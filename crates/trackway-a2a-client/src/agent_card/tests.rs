//! Cards of both generations, and the chosen address.

use serde_json::json;

use super::*;

fn card(document: &Value) -> AgentCard {
    AgentCard::parse_card(&document.to_string(), None).unwrap()
}

fn chosen(document: &Value) -> Option<(String, ProtocolVersion, Option<String>)> {
    let from = Url::parse("http://agent.example/x/.well-known/agent-card.json").unwrap();
    let choice = card(document).choose_interface(&from, false).ok()?;
    Some((choice.url.to_string(), choice.generation, choice.tenant))
}

#[test]
fn the_newest_generation_that_both_know_is_taken() {
    let interface = |url: &str, binding: &str, version: &str| json!({"url": url, "protocolBinding": binding, "protocolVersion": version});
    let new = interface("http://a/1", "JSONRPC", "1.0");
    let patched = interface("http://a/2", "JSONRPC", "1.0.1");
    let old = interface("http://a/3", "JSONRPC", "0.3");
    let rest = interface("http://a/4", "HTTP+JSON", "1.0");
    let grpc = interface("a:1", "GRPC", "1.0");
    let tenant = json!({"url": "/t", "protocolBinding": "JSONRPC", "protocolVersion": "1.0", "tenant": "t"});
    for (document, expected) in [
        (json!({"name": "x", "supportedInterfaces": [grpc, old, rest, new]}), "http://a/1 1.0 -"),
        (json!({"name": "x", "supportedInterfaces": [patched, new]}), "http://a/2 1.0 -"),
        (json!({"name": "x", "supportedInterfaces": [old, grpc]}), "http://a/3 0.3 -"),
        (json!({"name": "x", "supportedInterfaces": [tenant]}), "http://agent.example/t 1.0 t"),
        (json!({"name": "x", "supportedInterfaces": [grpc, rest, old]}), "http://a/4 1.0 -"),
        (json!({"name": "x", "supportedInterfaces": [grpc]}), ""),
        (json!({"name": "x", "supportedInterfaces": [interface("http://a/", "HTTP+JSON", "0.3")]}), ""),
        (json!({"name": "x", "url": "http://a/", "protocolVersion": "0.3.0"}), "http://a/ 0.3 -"),
        (json!({"name": "x", "url": "http://a/", "protocolVersion": "0.2.6"}), ""),
        (
            json!({"name": "x", "url": "http://a/g", "preferredTransport": "GRPC", "protocolVersion": "0.3.0",
                "additionalInterfaces": [{"url": "http://a/j", "transport": "JSONRPC"}]}),
            "http://a/j 0.3 -",
        ),
        (json!({"name": "x", "url": "http://a/", "supportedInterfaces": [new]}), "http://a/1 1.0 -"),
        (json!({"name": "x", "supportedInterfaces": [interface("ftp://a/", "JSONRPC", "1.0")]}), ""),
        (json!({"name": "x"}), ""),
    ] {
        let found = chosen(&document).map_or(String::new(), |(url, generation, tenant)| {
            format!("{url} {generation} {}", tenant.as_deref().unwrap_or("-"))
        });
        assert_eq!(found, expected, "{document}");
    }
}

#[test]
fn an_encrypted_card_does_not_lead_into_the_open() {
    let document = json!({"name": "x", "url": "http://a/", "protocolVersion": "0.3.0"});
    let from = Url::parse("https://a/.well-known/agent-card.json").unwrap();
    let error = card(&document).choose_interface(&from, false).unwrap_err();
    assert!(matches!(error, ClientError::NoInterface { offered } if offered.len() == 1));
}

/// Proves X5: fields that an agent writes as `null` count as absent.
#[test]
fn null_counts_as_absent() {
    let document = json!({
        "name": "x", "description": null, "version": null, "url": "http://a/", "protocolVersion": null,
        "preferredTransport": null, "additionalInterfaces": null, "supportedInterfaces": null,
        "capabilities": {"streaming": null, "extensions": [{"uri": "urn:x", "required": null, "params": null}]},
        "skills": [{"id": "s", "name": null, "description": null, "tags": null, "examples": null}],
    });
    let card = card(&document);
    assert_eq!((card.description.as_str(), card.skills.len(), card.extensions.len()), ("", 1, 1));
    assert_eq!(card.interfaces.len(), 1);
}

#[test]
fn what_a_mesh_asks_of_a_card_is_there() {
    let document = json!({
        "name": "x", "description": "d", "version": "2", "unknown": 1,
        "capabilities": {"streaming": true, "pushNotifications": true, "extendedAgentCard": true,
            "extensions": [{"uri": "urn:x", "required": true, "params": {"a": 1}}]},
        "skills": [{"id": "s", "name": "S", "description": "does", "tags": ["t"], "examples": ["e"]}],
    });
    let card = card(&document);
    assert_eq!((card.streaming, card.push_notifications, card.extended_card), (true, true, true));
    assert_eq!(card.extensions[0].params, json!({"a": 1}));
    assert!(card.extensions[0].required);
    assert_eq!((card.skills[0].id.as_str(), &card.skills[0].tags[..]), ("s", &["t".to_owned()][..]));
    assert_eq!(card.document, document);
    let old = json!({"name": "x", "supportsAuthenticatedExtendedCard": true});
    assert!(AgentCard::parse_card(&old.to_string(), None).unwrap().extended_card);
    for wrong in ["", "[]", "{}", "{\"name\": 1}"] {
        assert!(
            matches!(AgentCard::parse_card(wrong, None), Err(ClientError::MalformedResponse { .. })),
            "{wrong}"
        );
    }
}

/// Proves X6: a token is not sent to any address that a card names.
#[test]
fn a_token_stays_with_the_machine_that_the_card_came_from() {
    let from = Url::parse("https://a.example/.well-known/agent-card.json").unwrap();
    let at = |url: &str| {
        let interface = json!({"url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"});
        card(&json!({"name": "a", "supportedInterfaces": [interface]}))
    };
    for (url, without, with) in [
        ("https://a.example:8443/rpc", true, true),
        ("/rpc", true, true),
        ("https://collects.example/rpc", true, false),
        ("https://a.example.collects.example/rpc", true, false),
    ] {
        assert_eq!(at(url).choose_interface(&from, false).is_ok(), without, "{url}");
        assert_eq!(at(url).choose_interface(&from, true).is_ok(), with, "{url}");
    }
}
