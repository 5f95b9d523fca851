//! The form of a valid request, and the answers to invalid ones.

use serde_json::{Value, json};

use super::*;

fn refused(body: &[u8]) -> (i32, Value) {
    let malformed =
        parse_rpc_request(body).map(|request| request.method.into_owned()).expect_err("it must be refused");
    let answer: Value =
        serde_json::from_slice(&rpc_error_body(malformed.id, &malformed.fault, ProtocolVersion::V03))
            .unwrap();
    assert_eq!(answer["jsonrpc"], "2.0");
    assert!(answer["error"]["data"]["next"].is_string(), "it says what to do: {answer}");
    assert_eq!(answer["error"]["data"]["code"], "invalid-request");
    (malformed.fault.kind.json_rpc_code(), answer["id"].clone())
}

#[test]
fn request_is_parsed_without_copies() {
    let body =
        br#" {"params": {"id": "x"}, "extra": [1], "method": "tasks\/get", "id": 1.50, "jsonrpc": "2.0"} "#;
    let request = parse_rpc_request(body).unwrap();
    assert_eq!(request.method, "tasks/get");
    assert_eq!(request.id.get(), "1.50", "an id comes back digit for digit");
    let params: Value = request.parse_rpc_params().unwrap();
    assert_eq!(params, json!({"id": "x"}));
    for id in ["null", "\"a\"", "-3", "0", "18446744073709551616"] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#);
        assert_eq!(parse_rpc_request(body.as_bytes()).unwrap().id.get(), id);
    }
}

/// Proves X5.
#[test]
fn what_is_not_json_is_a_parse_error() {
    for body in [
        &b""[..],
        b" ",
        b"{",
        b"{]",
        b"nul",
        b"<html>",
        b"{\"a\":01}",
        b"{\"a\":1}}",
        "\u{feff}{}".as_bytes(),
        b"hello",
        b"{\"jsonrpc\":\"2.0\",}",
        b"{\"jsonrpc\":\"2.0\"} trailing",
        b"[1, 2",
        b"{\"jsonrpc\": \"2.0\", \"jsonrpc\": \"2.0\", oops}",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"x\":\"\xff\"}",
        b"\xff\xfe\x00",
        b"\xed\xa0\x80",
        &[0; 1_000],
    ] {
        assert_eq!(refused(body), (-32700, Value::Null), "{:?}", String::from_utf8_lossy(body));
    }
}

/// Proves X5.
#[test]
fn json_that_is_no_request_is_an_invalid_request() {
    let long = format!(r#"{{"jsonrpc":"2.0","id":"{}","method":"m"}}"#, "x".repeat(2_000));
    for (body, id) in [
        (r#"[]"#, Value::Null),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"tasks/get"}]"#, Value::Null),
        (r#"["2.0", 1, "tasks/get", {}]"#, Value::Null),
        (r#""hello""#, Value::Null),
        ("42", Value::Null),
        ("null", Value::Null),
        (r#"{}"#, Value::Null),
        (r#"{"id":7,"method":"tasks/get"}"#, json!(7)),
        (r#"{"jsonrpc":"1.0","id":7,"method":"tasks/get"}"#, json!(7)),
        (r#"{"jsonrpc":2.0,"id":7,"method":"tasks/get"}"#, json!(7)),
        (r#"{"jsonrpc":"2.0","id":{"a":1},"method":"tasks/get"}"#, Value::Null),
        (r#"{"jsonrpc":"2.0","id":[1],"method":"tasks/get"}"#, Value::Null),
        (r#"{"jsonrpc":"2.0","id":true,"method":"tasks/get"}"#, Value::Null),
        (r#"{"jsonrpc":"2.0","id":"a"}"#, json!("a")),
        (r#"{"jsonrpc":"2.0","id":"a","method":null}"#, json!("a")),
        (r#"{"jsonrpc":"2.0","id":"a","method":5}"#, json!("a")),
        (r#"{"jsonrpc":"2.0","id":"a","id":"b","method":"m"}"#, Value::Null),
        (r#"{"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"method":"m"}"#, Value::Null),
        (&long, Value::Null),
    ] {
        assert_eq!(refused(body.as_bytes()), (-32600, id), "{body}");
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Outer {
    #[expect(dead_code, reason = "only its reading matters")]
    inner: Vec<Inner>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Inner {
    #[expect(dead_code, reason = "only its reading matters")]
    message_id: String,
}

/// Proves X5.
#[test]
fn invalid_params_name_the_path_and_the_expected_type() {
    for (params, path, next) in [
        (r#""params": 3"#, "/params", "send the parameters by name"),
        (r#""params": [{"inner": []}]"#, "/params", "send the parameters by name"),
        (r#""params": null"#, "/params", "send the parameters by name"),
        (r#""other": 3"#, "/params", "send them"),
        (r#""params": {}"#, "/params", "add it at /params"),
        (r#""params": {"inner": 3}"#, "/params/inner", "send a sequence at /params/inner"),
        (
            "\"params\": {\"inner\": [{\"messageId\": \"a\"},\n {\"messageId\": {}}]}",
            "/params/inner/1/messageId",
            "send a string at /params/inner/1/messageId",
        ),
        (r#""params": {"inner": [{"messageId": "a"}, {}]}"#, "/params/inner/1", "add it at /params/inner/1"),
    ] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m",{params}}}"#);
        let request = parse_rpc_request(body.as_bytes()).unwrap();
        let fault = request.parse_rpc_params::<Outer>().unwrap_err();
        assert_eq!(fault.kind, A2aErrorKind::InvalidParams);
        let answer: Value =
            serde_json::from_slice(&rpc_error_body(request.id, &fault, ProtocolVersion::V03)).unwrap();
        let data = &answer["error"]["data"];
        assert_eq!((&data["path"], &data["next"]), (&json!(path), &json!(next)), "{body}");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(!message.contains("column"), "the place is a path, not a column: {message}");
    }
}

/// Proves X5.
#[test]
fn nesting_without_end_is_refused_and_not_followed() {
    for (levels, taken) in [(100, true), (200, false), (100_000, false)] {
        let deep = format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{{"a":{deep}}}}}"#);
        match parse_rpc_request(body.as_bytes()).unwrap().parse_rpc_params::<Value>() {
            Ok(_) => assert!(taken, "{levels} levels"),
            Err(fault) => {
                assert!(!taken, "{levels} levels");
                assert_eq!(fault.message, "the request is nested too deeply");
            }
        }
    }
    let closed = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    for body in [closed, "[".repeat(1_000_000)] {
        let (code, id) = refused(body.as_bytes());
        assert!([-32700, -32600].contains(&code) && id.is_null(), "{code}");
    }
}
