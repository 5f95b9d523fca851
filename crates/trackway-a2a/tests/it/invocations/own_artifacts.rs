//! Content from the artifacts of this server, as far as the caller may read them.

use serde_json::{Value, json};
use trackway_domain::{ArtifactScope, SessionId};

use super::test_desk::{TestDesk, invocation, text_part, uuid};

fn message(reference: Value, context: Option<&str>) -> Value {
    let mut message = invocation(&uuid(), &[reference], &[text_part("Use the artifact.")]);
    if let Some(context) = context {
        message["contextId"] = json!(context);
    }
    message
}

/// Proves I10: the session's artifact comes before the user's, and the user's before the tenant's; a version
/// can be pinned.
#[tokio::test]
async fn an_artifact_is_found_in_the_session_then_for_the_user_then_for_the_tenant() {
    let desk = TestDesk::open().await;
    let session = || ArtifactScope::Session(SessionId::new("talk").unwrap());
    desk.save("acme/bob", ArtifactScope::Tenant, "a.json", r#"{"name": "tenant"}"#).await;
    let output = |task: Value| task["metadata"]["output"]["name"].clone();
    let named = || json!({ "filename": "a.json" });
    let send = |message| desk.send("acme/ann", "intake", message);
    assert_eq!(output(send(message(named(), None)).await.unwrap()), "tenant");
    desk.save("acme/ann", ArtifactScope::User, "a.json", r#"{"name": "user"}"#).await;
    assert_eq!(output(send(message(named(), None)).await.unwrap()), "user");
    desk.save("acme/ann", session(), "a.json", r#"{"name": "session 0"}"#).await;
    desk.save("acme/ann", session(), "a.json", r#"{"name": "session 1"}"#).await;
    assert_eq!(output(send(message(named(), None)).await.unwrap()), "user");
    assert_eq!(output(send(message(named(), Some("talk"))).await.unwrap()), "session 1");
    let pinned = |version: f64| json!({ "filename": "a.json", "version": version });
    assert_eq!(output(send(message(pinned(0.0), Some("talk"))).await.unwrap()), "session 0");
    assert_eq!(output(send(message(pinned(1.0), Some("talk"))).await.unwrap()), "session 1");
    assert!(send(message(pinned(2.0), Some("talk"))).await.is_err());
}

/// Proves I10, X6: what belongs to others is missing in the same words, and each refusal is recorded.
#[tokio::test]
async fn what_a_caller_may_not_read_is_missing_for_it() {
    let desk = TestDesk::open().await;
    let content = r#"{"name": "Ann"}"#;
    desk.save("acme/ann", ArtifactScope::User, "a.json", content).await;
    desk.save("acme/ann", ArtifactScope::Session(SessionId::new("talk").unwrap()), "s.json", content).await;
    desk.save("acme/ann", ArtifactScope::Tenant, "t.json", content).await;
    let missing = |name: &str| (-32602, json!("unknown-artifact"), format!("there is no artifact {name}"));
    for (caller, filename, context) in [
        ("acme/ann", "none.json", None),
        ("acme/bob", "a.json", None),
        ("acme/bob", "s.json", Some("talk")),
        ("acme/ann", "s.json", None),
        ("acme/ann", "s.json", Some("other")),
        ("rival/ann", "a.json", None),
        ("rival/ann", "t.json", None),
        ("rival/ann", "s.json", Some("talk")),
        ("acme/ann/workflow:*", "a.json", None),
        ("acme/ann/workflow:*", "none.json", None),
    ] {
        let refused = desk.send(caller, "intake", message(json!({ "filename": filename }), context)).await;
        let (code, data, text) = refused.expect_err(caller);
        assert_eq!((code, data["code"].clone(), text), missing(filename), "{caller} {filename}");
        assert_eq!(data["path"], "/params/message/metadata/invoked_with_artifacts/0");
        let user = caller.split('/').nth(1).unwrap().to_owned();
        assert_eq!(desk.audit.take(), [(user, "artifact:read".to_owned(), filename.to_owned())], "{caller}");
    }
    for caller in ["acme/ann", "acme/bob"] {
        let task = desk.send(caller, "intake", message(json!({ "filename": "t.json" }), None)).await;
        assert_eq!(task.unwrap()["metadata"]["output"], json!({ "name": "Ann" }), "{caller}");
    }
    assert_eq!(desk.audit.take(), []);
}
