//! The keys under which requests are recognised, and the task in an answer.

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use http::{HeaderMap, header::AUTHORIZATION};
use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// The header in which a calling node says for whom it calls.
const CALL_TOKEN: &str = "trackway-call";

/// Bytes of a hash that a key has: enough that two messages never share one.
const KEY_BYTES: usize = 16;

/// Names a message of one caller to one agent. Other callers may use the same message id, so their
/// credentials are part of it.
pub(crate) fn message_key(agent: &str, headers: &HeaderMap, message: &str) -> String {
    let authorization = headers.get(AUTHORIZATION).map(|value| value.as_bytes()).unwrap_or_default();
    let identity = call_identity(headers).unwrap_or_default();
    let parts: [&[u8]; 4] = [agent.as_bytes(), authorization, identity.as_bytes(), message.as_bytes()];
    hash_parts(&parts)
}

/// Names one way to ask for the result of a message: the answer to a stream is not one to a single request.
pub(crate) fn answer_key(message_key: &str, method: &str, generation: u32) -> String {
    hash_parts(&[message_key.as_bytes(), method.as_bytes(), &generation.to_be_bytes()])
}

/// The method of a JSON-RPC request; empty if there is none.
pub(crate) fn rpc_method(body: &[u8]) -> String {
    #[derive(Deserialize)]
    struct MethodOnly {
        method: String,
    }
    serde_json::from_slice::<MethodOnly>(body).map(|request| request.method).unwrap_or_default()
}

/// The id of the task in the result of a JSON-RPC response, in either generation.
pub(crate) fn task_in_response(body: &[u8]) -> Option<String> {
    let response: Value = serde_json::from_slice(body).ok()?;
    let result = response.get("result")?;
    let of_v1 = ["/task/id", "/statusUpdate/taskId", "/artifactUpdate/taskId", "/message/taskId"];
    let of_both = of_v1.iter().find_map(|path| result.pointer(path)).or_else(|| result.get("taskId"));
    // The task itself, as 0.3 writes it, is the only result with a status and an id.
    let task = of_both.or_else(|| result.get("status").and_then(|_| result.get("id")));
    task.and_then(Value::as_str).map(ToOwned::to_owned)
}

/// Tenant and user in the token of a call. It is not verified here: the receiving node does that. The whole
/// token is different at each attempt.
fn call_identity(headers: &HeaderMap) -> Option<String> {
    let token = headers.get(CALL_TOKEN)?.to_str().ok()?;
    let claims = BASE64_URL_SAFE_NO_PAD.decode(token.split('.').nth(1)?).ok()?;
    let claims: Value = serde_json::from_slice(&claims).ok()?;
    Some(Value::from(vec![claims["tenant"].clone(), claims["user"].clone()]).to_string())
}

fn hash_parts(parts: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        // With their lengths: "ab" and "c" are not "a" and "bc".
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hash.finalize().iter().take(KEY_BYTES).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use serde_json::json;

    use super::*;

    fn headers(key: &str, user: &str, issued: u32) -> HeaderMap {
        let claims = json!({"tenant": "t", "user": user, "iat": issued}).to_string();
        let token = format!("e30.{}.sig{issued}", BASE64_URL_SAFE_NO_PAD.encode(claims));
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, HeaderValue::from_str(key).unwrap());
        headers.insert(CALL_TOKEN, HeaderValue::from_str(&token).unwrap());
        headers
    }

    #[test]
    fn a_message_is_recognised_by_its_caller_agent_and_id() {
        let key = |agent: &str, key: &str, user: &str, issued, id: &str| {
            message_key(agent, &headers(key, user, issued), id)
        };
        let one = key("a", "k", "u", 1, "m");
        assert_eq!(one, key("a", "k", "u", 2, "m"), "a newer token of the same caller");
        for other in [
            key("b", "k", "u", 1, "m"),
            key("a", "l", "u", 1, "m"),
            key("a", "k", "v", 1, "m"),
            key("a", "k", "u", 1, "n"),
            message_key("a", &HeaderMap::new(), "m"),
        ] {
            assert_ne!(one, other);
        }
        assert_eq!(one.len(), 32);
    }

    #[test]
    fn each_method_and_generation_has_its_own_answer() {
        let keys = [("SendMessage", 0), ("SendMessage", 1), ("SendStreamingMessage", 0)];
        let keys: std::collections::HashSet<_> =
            keys.iter().map(|(method, generation)| answer_key("m", method, *generation)).collect();
        assert_eq!(keys.len(), 3);
        assert_eq!(rpc_method(br#"{"jsonrpc":"2.0","method":"GetTask"}"#), "GetTask");
        assert_eq!(rpc_method(b"nonsense"), "");
    }

    #[test]
    fn the_task_is_found_in_each_kind_of_result() {
        for (result, expected) in [
            (json!({"task": {"id": "t"}}), Some("t")),
            (json!({"statusUpdate": {"taskId": "t"}}), Some("t")),
            (json!({"artifactUpdate": {"taskId": "t"}}), Some("t")),
            (json!({"kind": "task", "id": "t", "status": {}}), Some("t")),
            (json!({"kind": "status-update", "taskId": "t"}), Some("t")),
            (json!({"message": {"messageId": "m"}}), None),
            (json!({"id": "p", "url": "http://push/"}), None),
            (json!(null), None),
        ] {
            let body = json!({"jsonrpc": "2.0", "id": 1, "result": result}).to_string();
            assert_eq!(task_in_response(body.as_bytes()).as_deref(), expected, "{body}");
        }
        assert_eq!(task_in_response(br#"{"error": {"code": 1}}"#), None);
    }
}
