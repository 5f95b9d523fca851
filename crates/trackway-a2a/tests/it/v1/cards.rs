//! Cards: three forms, their cache time, and the one for authenticated callers.

use std::sync::Arc;

use axum::{
    body::Body,
    http::{HeaderMap, Request, StatusCode},
};
use serde_json::{Value, json};
use trackway_a2a::{Options, PushSender, PushSenderOptions};

use super::bindings::{TestBinding, V1, WAYS};
use crate::test_server::{ScriptedProgram, TestServer};

const CARD: &str = "/a2a/agents/script/.well-known/agent-card.json";
const EXTENSION: &str = "https://a.example/ext";

async fn card(site: &TestServer, path: &str, headers: &[(&str, &str)]) -> (StatusCode, HeaderMap, Value) {
    let mut request = Request::get(path).header("host", "door.example:1");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let (status, headers, body) = site.send_raw(request.body(Body::empty()).unwrap()).await;
    (status, headers, serde_json::from_slice(&body).unwrap_or_default())
}

fn members(card: &Value) -> Vec<&str> {
    card.as_object().unwrap().keys().map(String::as_str).collect()
}

const OF_1_0: [&str; 8] = [
    "capabilities",
    "defaultInputModes",
    "defaultOutputModes",
    "description",
    "name",
    "skills",
    "supportedInterfaces",
    "version",
];

/// Proves X5: strict readers of 1.0 receive only members of 1.0; those of 0.3 likewise.
#[tokio::test]
async fn a_card_comes_in_the_form_that_is_asked_for() {
    let site = TestServer::with_options(Options { conformance: true, ..Options::default() });
    for strict in [("a2a-version", "1.0"), ("user-agent", "python-httpx/0.28.1")] {
        let (_, _, new) = card(&site, CARD, &[strict]).await;
        assert_eq!(members(&new), OF_1_0);
        let mut known: Vec<_> = members(&new["capabilities"]);
        known.sort_unstable();
        assert_eq!(known, ["extendedAgentCard", "extensions", "pushNotifications", "streaming"]);
    }
    let (_, _, old) = card(&site, CARD, &[("a2a-version", "0.3")]).await;
    assert_eq!((&old["protocolVersion"], old.get("supportedInterfaces")), (&json!("0.3.0"), None));
    // A named version takes precedence over the reader's name.
    let named = [("a2a-version", "0.3.0"), ("user-agent", "python-httpx/0.28.1")];
    assert_eq!(card(&site, CARD, &named).await.2, old);
    let (_, _, union) = card(&site, CARD, &[("user-agent", "curl/8")]).await;
    assert_eq!(union["protocolVersion"], "0.3.0");
    let interfaces = union["supportedInterfaces"].as_array().unwrap();
    let shown: Vec<_> = interfaces
        .iter()
        .map(|known| format!("{} {} {}", known["protocolVersion"], known["protocolBinding"], known["url"]))
        .collect();
    let at = "http://door.example:1/a2a/agents/script";
    assert_eq!(
        shown,
        [
            format!("\"1.0\" \"JSONRPC\" \"{at}\""),
            format!("\"1.0\" \"HTTP+JSON\" \"{at}/rest\""),
            format!("\"0.3\" \"JSONRPC\" \"{at}\""),
            format!("\"0.3\" \"HTTP+JSON\" \"{at}/rest\""),
        ]
    );
    let (status, _, refused) = card(&site, CARD, &[("a2a-version", "99.0")]).await;
    assert_eq!((status, &refused["error"]["known"]), (StatusCode::BAD_REQUEST, &json!(["1.0", "0.3"])));
}

#[tokio::test]
async fn the_default_agent_has_its_card_at_the_root() {
    let site =
        TestServer::with_options(Options { default_agent: Some("script".into()), ..Options::default() });
    for path in
        ["/.well-known/agent-card.json", "/.well-known/agent.json", "/a2a/.well-known/agent-card.json"]
    {
        let (status, _, card) = card(&site, path, &[V1]).await;
        assert_eq!((status, &card["name"]), (StatusCode::OK, &json!("script")));
        assert_eq!(card["supportedInterfaces"][0]["url"], "http://door.example:1/a2a");
    }
    let (status, ..) = card(&TestServer::new(), "/.well-known/agent-card.json", &[]).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn cards_are_cached_by_etag() {
    let site = TestServer::new();
    let (status, headers, _) = card(&site, CARD, &[V1]).await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(headers["cache-control"], "public, max-age=60");
    assert!(headers["vary"].to_str().unwrap().contains("A2A-Version"));
    assert!(headers["last-modified"].to_str().unwrap().ends_with(" GMT"));
    let tag = headers["etag"].to_str().unwrap();
    let weak = format!("\"other\", W/{tag}");
    for known in [tag, weak.as_str(), "*"] {
        let request = Request::get(CARD).header("host", "door.example:1");
        let request = request.header(V1.0, V1.1).header("if-none-match", known);
        let (status, again, body) = site.send_raw(request.body(Body::empty()).unwrap()).await;
        assert_eq!((status, body.len()), (StatusCode::NOT_MODIFIED, 0), "{known}");
        assert_eq!(again["etag"], tag);
    }
    for headers in [&[V1, ("if-none-match", "\"other\"")][..], &[("if-none-match", tag)]] {
        assert_eq!(card(&site, CARD, headers).await.0, StatusCode::OK, "{headers:?}");
    }
}

/// gRPC has one address for all agents, so the tenant names the agent; 0.3 has no tenants.
#[tokio::test]
async fn grpc_is_named_where_the_agent_can_be_reached() {
    let site = TestServer::with_options(Options {
        grpc_address: Some("door.example:2".to_owned()),
        default_agent: Some("script".to_owned()),
        ..Options::default()
    });
    for (path, expected) in [
        (CARD, json!([["1.0", "script"]])),
        ("/.well-known/agent-card.json", json!([["1.0", null], ["0.3", null]])),
    ] {
        let (_, _, card) = card(&site, path, &[]).await;
        let named: Vec<_> = card["supportedInterfaces"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|known| known["protocolBinding"] == "GRPC")
            .inspect(|known| assert_eq!(known["url"], "door.example:2"))
            .map(|known| json!([known["protocolVersion"], known["tenant"]]))
            .collect();
        assert_eq!(json!(named), expected, "{path}");
    }
}

/// The answer depends on the reader's name only if some names are strict ones.
#[tokio::test]
async fn vary_header_lists_what_the_card_depends_on() {
    let strict = TestServer::with_options(Options { conformance: true, ..Options::default() });
    assert_eq!(card(&strict, CARD, &[]).await.1["vary"], "A2A-Version, Host, X-Forwarded-Proto, User-Agent");
    assert_eq!(card(&TestServer::new(), CARD, &[]).await.1["vary"], "A2A-Version, Host, X-Forwarded-Proto");
}

/// Proves X5: in 1.0 an anonymous caller of an open server is served; in 0.3 it is refused.
#[tokio::test]
async fn the_extended_card_is_a_card_of_the_generation_that_asks() {
    let outgoing = PushSender::new(PushSenderOptions::default());
    let open = || Options { extended_card: true, outgoing: Some(outgoing.clone()), ..Options::default() };
    for way in WAYS {
        let site = TestServer::with_options(open());
        let extended = site.call_v1(way, "GetExtendedAgentCard", &json!({})).await.unwrap();
        assert_eq!(members(&extended), OF_1_0, "{way:?}");
        assert_eq!(extended["capabilities"]["extendedAgentCard"], true);
        assert_eq!(extended["capabilities"]["pushNotifications"], true);
        let refused = TestServer::new().call_v1(way, "GetExtendedAgentCard", &json!({})).await.unwrap_err();
        assert_eq!(refused.reason(), "UNSUPPORTED_OPERATION");
        assert_eq!(refused.code, if way == TestBinding::Rpc { -32004 } else { 400 });
        let old = site.call_rpc("agent/getAuthenticatedExtendedCard", json!({})).await;
        assert_eq!(old.unwrap_err().0, -32007);
    }
}

/// Proves X5.
#[tokio::test]
async fn active_extensions_are_returned_and_required_ones_enforced() {
    let at = "/a2a/agents/strict";
    for way in WAYS {
        let site = TestServer::with_programs(
            Options::default(),
            vec![Arc::new(ScriptedProgram::with_required_extension("strict", EXTENSION))],
        );
        let refused = site.call_v1_at(way, at, "ListTasks", &json!({}), &[V1]).await.unwrap_err();
        assert_eq!(refused.reason(), "EXTENSION_SUPPORT_REQUIRED");
        assert_eq!(refused.code, if way == TestBinding::Rpc { -32008 } else { 400 });
        assert_eq!(refused.error["message"], format!("this agent requires the extension {EXTENSION}"));
        let unknown = format!("urn:unknown, {EXTENSION} ,https://solace.com/a2a/extensions/agent-type");
        for name in ["a2a-extensions", "x-a2a-extensions"] {
            let headers = [V1, (name, unknown.as_str())];
            let (_, told) = site.call_v1_at(way, at, "ListTasks", &json!({}), &headers).await.unwrap();
            let both = format!("https://solace.com/a2a/extensions/agent-type, {EXTENSION}");
            assert_eq!(told["a2a-extensions"], both, "{way:?} {name}");
        }
        // An unknown extension is not an error, and no extension is active then.
        let headers = [V1, ("a2a-extensions", "urn:one, urn:two")];
        let (_, told) =
            site.call_v1_at(way, "/a2a/agents/script", "ListTasks", &json!({}), &headers).await.unwrap();
        assert_eq!(told.get("a2a-extensions"), None);
    }
    let site = TestServer::with_programs(
        Options::default(),
        vec![Arc::new(ScriptedProgram::with_required_extension("strict", EXTENSION))],
    );
    let old = json!({"message": crate::test_server::text_message("m-1", "hello")});
    let request =
        crate::test_server::rpc_request("strict", "message/send", &old, &[("x-a2a-extensions", EXTENSION)]);
    assert_eq!(site.send_for_json(request).await.headers["x-a2a-extensions"], EXTENSION);
}
