//! Messages that cannot be parsed, and the ids under which they are answered.

use super::*;

fn scan_result(message: &str) -> (Option<Value>, Option<String>, bool) {
    let scan = JsonRpcMessageScan::scan_message(message.as_bytes());
    // The result is the same for chunks.
    let mut pieces = JsonRpcMessageScan::default();
    for piece in message.as_bytes().chunks(3) {
        pieces.scan_chunk(piece);
    }
    assert_eq!(format!("{scan:?}"), format!("{pieces:?}"), "{message}");
    (scan.request_id().cloned(), scan.request_method().map(str::to_owned), scan.is_complete_object())
}

/// Proves T8: the id is that of the message itself, wherever it is and whatever looks like it.
#[test]
fn the_id_is_found_in_the_outermost_object_alone() {
    let call = |id: Value| (Some(id), Some(CALL_METHOD.to_owned()), true);
    let inner = r#""params":{"id":1,"method":"x","a":["\"id\":2,",{"b":"}"}]}"#;
    for (message, id) in [
        (format!(r#"{{"id":7,"method":"tools/call",{inner}}}"#), json!(7)),
        (format!(r#"{{"method":"tools/call",{inner},"id":"seven"}}"#), json!("seven")),
        (format!(r#" {{ {inner} , "method" : "tools\/call" , "\u0069d" : -7 }} "#), json!(-7)),
        (format!(r#"{{"x":"\\","id":"a\"b","method":"tools/call",{inner}}}"#), json!("a\"b")),
    ] {
        assert_eq!(scan_result(&message), call(id), "{message}");
    }
    for (message, expected) in [
        (r#"{"method":"m"}"#.to_owned(), (None, Some("m".to_owned()), true)),
        (r#"{"id":[7],"method":"m"}"#.to_owned(), (None, Some("m".to_owned()), true)),
        (r#"{"id":null,"method":{"method":1}}"#.to_owned(), (None, None, true)),
        (r#"{"id":7"#.to_owned(), (None, None, false)),
        (r#"{"id":7}}"#.to_owned(), (Some(json!(7)), None, false)),
        (r#"[{"id":7}]"#.to_owned(), (None, None, false)),
        (String::new(), (None, None, false)),
        (format!(r#"{{"id":"{}"}}"#, "x".repeat(300)), (None, None, true)),
    ] {
        assert_eq!(scan_result(&message), expected, "{message}");
    }
}

/// Proves T8: a call is refused like any other, anything else as JSON-RPC says, and a message that expects
/// no answer gets none.
#[test]
fn each_kind_of_message_is_answered_as_it_should_be() {
    let told = |message: &str, revision| {
        UnparsedMessageReason::TooLong { bytes_max: 9 }
            .jsonrpc_refusal_answer(&JsonRpcMessageScan::scan_message(message.as_bytes()), revision)
    };
    let call = r#"{"id":7,"method":"tools/call"}"#;
    let result = told(call, ClientResultFormat::Older).unwrap();
    assert_eq!((&result["id"], &result["result"]["isError"]), (&json!(7), &json!(true)));
    assert_eq!(result["result"]["structuredContent"]["error"]["code"], "too-large");
    assert_eq!(result["result"].get("resultType"), None);
    assert_eq!(told(call, ClientResultFormat::Newest).unwrap()["result"]["resultType"], "complete");
    let error = told(r#"{"id":7,"method":"ping"}"#, ClientResultFormat::Older).unwrap();
    assert_eq!((&error["id"], &error["error"]["code"]), (&json!(7), &json!(-32600)));
    assert_eq!(error["error"]["data"]["code"], "too-large");
    assert_eq!(told("\"x\"", ClientResultFormat::Older).unwrap()["id"], Value::Null);
    for message in [r#"{"method":"notifications/x"}"#, r#"{"id":7,"result":{}}"#] {
        assert_eq!(told(message, ClientResultFormat::Older), None, "{message}");
    }
}

/// Proves T8: messages that the parser accepts are left to it, and those that it refuses are recognised.
#[test]
fn messages_the_parser_rejects_are_too_deep() {
    for levels in [1, 100, 126, 127, 128, 129, 5_000, 1_000_000] {
        let inner = levels - 1;
        let message = format!(r#"{{"id":{}{}}}"#, "[".repeat(inner), "]".repeat(inner));
        let message = if inner == 0 { "{}".to_owned() } else { message };
        let parsed = serde_json::from_str::<Value>(&message).is_ok();
        let deep =
            UnparsedMessageReason::check_nesting_depth(&JsonRpcMessageScan::scan_message(message.as_bytes()))
                .is_some();
        assert_eq!(parsed, !deep, "{levels}");
    }
}
