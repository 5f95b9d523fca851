//! What reaches the door, and what becomes of cards and events.

use super::*;

fn envelope(method: Method) -> RequestEnvelope {
    let headers = [(header::AUTHORIZATION, HeaderValue::from_static("Bearer k"))].into_iter().collect();
    RequestEnvelope { answer_key: "k".to_owned(), claim: None, method, headers }
}

#[test]
fn a_request_reaches_the_door_of_its_agent_with_its_credentials() {
    for (agent, method, path) in [
        ("orders", Method::POST, "/a2a/agents/orders"),
        ("orders", Method::GET, "/a2a/agents/orders/.well-known/agent-card.json"),
        ("../../api/keys", Method::POST, "/a2a/agents/..%2F..%2Fapi%2Fkeys"),
        ("a?b#c", Method::POST, "/a2a/agents/a%3Fb%23c"),
    ] {
        let request = local_request(agent, &envelope(method.clone()), Bytes::from_static(b"{}")).unwrap();
        assert_eq!((request.url.path(), request.url.host_str()), (path, Some("localhost")));
        assert_eq!(request.body.is_some(), method == Method::POST);
        assert_eq!(request.headers.get(header::AUTHORIZATION).unwrap(), "Bearer k");
    }
}

#[test]
fn a_card_has_one_address() {
    let card = json!({"name": "a", "url": "http://one/", "preferredTransport": "JSONRPC",
        "supportedInterfaces": [{"url": "http://one/", "protocolBinding": "GRPC"}],
        "signatures": [{}], "skills": [{"id": "s"}]});
    let written = rewrite_card(&card.to_string().into(), "nats://ns/a");
    let written: Value = serde_json::from_slice(&written).unwrap();
    let interface = json!({"url": "nats://ns/a", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"});
    assert_eq!(written, json!({"name": "a", "supportedInterfaces": [interface], "skills": [{"id": "s"}]}));
    assert_eq!(rewrite_card(&Bytes::from_static(b"no card"), "nats://ns/a"), "no card");
}

#[test]
fn an_event_is_read_again_as_it_was() {
    for event in [
        SseEvent { kind: String::new(), data: "{}".to_owned(), id: Some("7".to_owned()) },
        SseEvent { kind: "note".to_owned(), data: "two\nlines\n".to_owned(), id: None },
        SseEvent { kind: String::new(), data: String::new(), id: None },
    ] {
        let read = SseParser::new(1_000).next_event(&mut encode_event(&event)).unwrap();
        assert_eq!(read, Some(event));
    }
}
