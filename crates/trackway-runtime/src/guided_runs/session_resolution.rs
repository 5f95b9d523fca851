//! Which session a run belongs to, and where a session keeps notes that belong to no run.

use serde_json::Value;
use sha2::{Digest, Sha256};
use trackway_domain::{Caller, Object, RunId, SessionId, WorkflowRef};
use uuid::{Builder, Uuid};

use super::GuidedRunError;

/// Keys in the context that say which workstream a run belongs to. The first one that is set counts.
const SESSION_KEYS: [&str; 6] = ["sessionId", "ticketId", "issueId", "prId", "mrId", "taskId"];

/// The session that the context names, or a new one.
pub(super) fn resolve_session_from_context(
    context: &Object,
    new_uuid: impl FnOnce() -> Uuid,
) -> Result<SessionId, GuidedRunError> {
    // A workflow may use the other keys for something else; this one is ours.
    let wrong = |value: &Value| value.is_boolean() || value.is_array() || value.is_object();
    if context.get("sessionId").is_some_and(wrong) {
        let (what, why) = ("sessionId".into(), "it is neither text nor a number".into());
        return Err(GuidedRunError::InvalidSessionId { what, why });
    }
    let named = SESSION_KEYS.iter().find_map(|key| Some((*key, session_id_text(context.get(*key)?)?)));
    match named {
        None => Ok(SessionId::from_uuid(new_uuid())),
        Some((key, name)) => SessionId::new(&name)
            .map_err(|bad| GuidedRunError::InvalidSessionId { what: key.into(), why: bad.why.into() }),
    }
}

/// The ids in a context by which people know the work.
pub(super) fn session_ids_in_context(context: &Object) -> Vec<String> {
    SESSION_KEYS.iter().filter_map(|key| session_id_text(context.get(*key)?)).collect()
}

fn session_id_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

pub(super) fn session_notes_workflow() -> WorkflowRef {
    WorkflowRef::session_notes_workflow()
}

/// The run that holds the session's own notes: always the same one, so that two processes that write the
/// first note at once use the same log.
pub(super) fn session_notes_run_id(caller: &Caller, session: &SessionId) -> RunId {
    let mut hash = Sha256::new();
    for part in [WorkflowRef::SESSION_NOTES, &*caller.tenant, &*caller.user, session.as_str()] {
        // Hashed with its length, so that no two lists of parts give the same bytes.
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    let digest: [u8; 32] = hash.finalize().into();
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    RunId::new(Builder::from_custom_bytes(bytes).into_uuid())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn resolve_for_test(context: &Value) -> Result<SessionId, GuidedRunError> {
        resolve_session_from_context(context.as_object().expect("an object"), || Uuid::from_u128(1))
    }

    /// Proves T11.
    #[test]
    fn first_id_in_context_names_the_session() {
        let made = SessionId::from_uuid(Uuid::from_u128(1));
        let cases = [
            (json!({}), made.as_str()),
            (json!({ "sessionId": "" }), made.as_str()),
            (json!({ "sessionId": "  ", "taskId": null }), made.as_str()),
            (json!({ "ticketId": "ACE-7", "prId": 12 }), "ACE-7"),
            (json!({ "prId": 12, "sessionId": " s " }), "s"),
            (json!({ "mrId": 12, "taskId": "t" }), "12"),
        ];
        for (context, expected) in cases {
            let named = resolve_for_test(&context).map(|session| session.to_string());
            assert_eq!(named.as_deref(), Ok(expected), "{context}");
        }
    }

    #[test]
    fn invalid_session_id_is_refused() {
        for bad in [json!(["x"]), json!({}), json!(true)] {
            let refused = resolve_for_test(&json!({ "sessionId": bad }));
            assert!(
                matches!(&refused, Err(GuidedRunError::InvalidSessionId { what, .. }) if what == "sessionId"),
                "{refused:?}"
            );
        }
        for bad in ["a\u{7}b".to_owned(), "a\u{202e}b".to_owned(), "x".repeat(257)] {
            let refused = resolve_for_test(&json!({ "issueId": bad }));
            assert!(
                matches!(&refused, Err(GuidedRunError::InvalidSessionId { what, .. }) if what == "issueId"),
                "{refused:?}"
            );
        }
    }

    #[test]
    fn session_notes_have_one_run_per_caller() {
        let caller = |tenant, user| Caller::new(tenant, user);
        let of = |caller: &Caller, name| {
            session_notes_run_id(caller, &SessionId::new(name).expect("a session id"))
        };
        let one = of(&caller("a", "b"), "s");
        assert_eq!(one, of(&caller("a", "b"), "s"));
        assert_ne!(one, of(&caller("a", "b"), "t"));
        assert_ne!(one, of(&caller("ab", ""), "s"));
        assert_ne!(one, of(&caller("a", "x"), "s"));
    }
}
