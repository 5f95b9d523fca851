//! Tables of metadata: what is understood, and where an error points.

use serde_json::json;

use super::*;

fn parse(metadata: Value) -> Result<InvocationOptions, A2aError> {
    let Value::Object(metadata) = metadata else { panic!("metadata is an object") };
    parse_invocation_options(&metadata)
}

fn reference(filename: &str, version: Option<u32>) -> ArtifactReference {
    ArtifactReference { filename: ArtifactFilename::new(filename).unwrap(), version }
}

/// Proves I7: a version can be left out, and is a whole number however it is written.
#[test]
fn artifact_references_are_read() {
    let table = [
        (json!({}), vec![]),
        (json!({ "invoked_with_artifacts": null }), vec![]),
        (json!({ "invoked_with_artifacts": [] }), vec![]),
        (
            json!({ "invoked_with_artifacts": [{ "filename": "data.csv" }] }),
            vec![reference("data.csv", None)],
        ),
        (
            json!({ "invoked_with_artifacts": [
                { "filename": " a b.json ", "version": 0 }, { "filename": "ä.txt", "version": 2.0 },
                { "filename": "x", "version": null }, { "filename": "y", "version": 4_294_967_295_u32 } ] }),
            vec![
                reference("a b.json", Some(0)),
                reference("ä.txt", Some(2)),
                reference("x", None),
                reference("y", Some(u32::MAX)),
            ],
        ),
    ];
    for (metadata, expected) in table {
        assert_eq!(parse(metadata.clone()).unwrap().artifacts, expected, "{metadata}");
    }
}

/// Proves I7: the session behaviour is one of two words.
#[test]
fn the_session_behavior_is_read() {
    let table = [
        (json!({}), SessionBehavior::Persistent),
        (json!({ "sessionBehavior": null }), SessionBehavior::Persistent),
        (json!({ "sessionBehavior": "PERSISTENT" }), SessionBehavior::Persistent),
        (json!({ "sessionBehavior": "RUN_BASED" }), SessionBehavior::RunBased),
    ];
    for (metadata, expected) in table {
        assert_eq!(parse(metadata.clone()).unwrap().session, expected, "{metadata}");
    }
}

/// Proves I9: what cannot be understood is refused, with the place of the mistake.
#[test]
fn malformed_metadata_is_refused_at_its_place() {
    let many: Vec<_> = (0..33).map(|number| json!({ "filename": format!("{number}.txt") })).collect();
    let long = "x".repeat(256);
    let table = [
        (json!({ "sessionBehavior": "run_based" }), "sessionBehavior", "\"run_based\" is not"),
        (json!({ "sessionBehavior": true }), "sessionBehavior", "true is not"),
        (json!({ "sessionBehavior": "x".repeat(10_000_000) }), "sessionBehavior", "is not"),
        (json!({ "invoked_with_artifacts": "data.csv" }), "invoked_with_artifacts", "not a list"),
        (json!({ "invoked_with_artifacts": { "filename": "a" } }), "invoked_with_artifacts", "not a list"),
        (json!({ "invoked_with_artifacts": many }), "invoked_with_artifacts", "33 artifacts; at most 32"),
        (json!({ "invoked_with_artifacts": ["a"] }), "invoked_with_artifacts/0", "not an object"),
        (json!({ "invoked_with_artifacts": [{}] }), "invoked_with_artifacts/0", "`filename` is missing"),
        (
            json!({ "invoked_with_artifacts": [{ "filename": "a", "uri": "x" }] }),
            "invoked_with_artifacts/0",
            "unknown field \"uri\"",
        ),
        (
            json!({ "invoked_with_artifacts": [{ "filename": 1 }] }),
            "invoked_with_artifacts/0/filename",
            "a filename is a string",
        ),
        (
            json!({ "invoked_with_artifacts": [{ "filename": "a" }, { "filename": "../a" }] }),
            "invoked_with_artifacts/1/filename",
            "slash",
        ),
        (
            json!({ "invoked_with_artifacts": [{ "filename": long }] }),
            "invoked_with_artifacts/0/filename",
            "255 bytes",
        ),
        (
            json!({ "invoked_with_artifacts": [{ "filename": "a" }, { "filename": " a" }] }),
            "invoked_with_artifacts/1/filename",
            "twice",
        ),
    ];
    for (metadata, place, words) in table {
        check_refused(metadata, place, words);
    }
    for version in [json!(-1), json!(1.5), json!("2"), json!(4_294_967_296_u64), json!(1e300), json!([])] {
        let metadata = json!({ "invoked_with_artifacts": [{ "filename": "a", "version": version }] });
        check_refused(metadata, "invoked_with_artifacts/0/version", "is not a version");
    }
}

fn check_refused(metadata: Value, place: &str, words: &str) {
    let refused = parse(metadata).expect_err(words);
    assert_eq!(refused.kind.json_rpc_code(), -32602, "{words}");
    assert!(refused.message.contains(words), "{words}: {}", refused.message);
    assert!(refused.message.len() < 1_000, "{words}");
    let detail = serde_json::to_value(&*refused.detail).unwrap();
    assert_eq!(detail["path"], format!("/params/message/metadata/{place}"), "{words}");
    assert_eq!(detail["code"], "invalid-request", "{words}");
}
