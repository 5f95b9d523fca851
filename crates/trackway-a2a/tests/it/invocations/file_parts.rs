//! Content that is in the message itself, by its type.

use serde_json::{Value, json};

use super::test_desk::{TestDesk, bytes_part, invocation, text_part, uuid};
use crate::{
    test_server::TestServer,
    v1::bindings::{V1, WAYS},
};

/// Proves I5, I7: a file of any type becomes the input, by its media type or by its name.
#[tokio::test]
async fn the_content_is_read_by_its_type() {
    let desk = TestDesk::open().await;
    let rows = json!({ "rows": [{ "name": "Ann", "plan": "pro" }, { "name": "Bob\nBrown", "plan": "a;b" }] });
    let table: &[(&str, Option<&str>, &str, Value)] = &[
        (
            "a.json",
            Some("application/json"),
            r#"{"name": "Ann", "seats": 2.0}"#,
            json!({"name": "Ann", "seats": 2}),
        ),
        ("b.json", None, r#"{"name": "Ann"}"#, json!({ "name": "Ann" })),
        ("c.json", Some("application/octet-stream"), r#"{"name": "Ann"}"#, json!({ "name": "Ann" })),
        ("d.yaml", None, "name: Ann\nseats: 3\n", json!({ "name": "Ann", "seats": 3 })),
        ("e.csv", Some("text/csv"), "name,plan\nAnn,pro\n\"Bob\nBrown\",a;b\n", rows.clone()),
        ("f.csv", None, "name;plan\r\nAnn;pro\r\n\"Bob\nBrown\";\"a;b\"\r\n", rows.clone()),
        (
            "g.csv",
            Some("text/csv; charset=utf-8"),
            "\u{feff}name\nAnn",
            json!({ "rows": [{ "name": "Ann" }] }),
        ),
    ];
    for (name, media_type, content, expected) in table {
        let part = bytes_part(name, *media_type, content.as_bytes());
        let input = desk.input_from("intake", json!({ "filename": name }), part).await;
        assert_eq!(input, *expected, "{name}");
    }
    // A workflow that takes a text gets the text of a text, and of a table.
    for (name, content) in [("note.txt", "hello"), ("note.csv", "name\nAnn\n")] {
        let message = invocation(
            &uuid(),
            &[json!({ "filename": name })],
            &[bytes_part(name, None, content.as_bytes())],
        );
        let task = desk.send("acme/ann", "script", message).await.unwrap();
        assert_eq!(task["metadata"]["output"], json!({ "said": content }), "{name}");
    }
    let bytes = desk
        .input_from("anything", json!({ "filename": "x.png" }), bytes_part("x.png", None, &[0x89, 0xff]))
        .await;
    assert_eq!((&bytes["name"], &bytes["bytes"]), (&json!("x.png"), &json!("if8=")));
}

/// Proves I7: the same on both bindings of 1.0, with text beside the artifact.
#[tokio::test]
async fn both_bindings_of_1_0_take_artifacts() {
    let desk = TestDesk::open().await;
    for way in WAYS {
        let params = json!({ "message": { "messageId": uuid(), "role": "ROLE_USER",
            "parts": [{ "text": "Onboard these." },
                { "raw": "bmFtZQpBbm4K", "filename": "data.csv", "mediaType": "text/csv" }],
            "metadata": { "sessionBehavior": "RUN_BASED",
                "invoked_with_artifacts": [{ "filename": "data.csv", "version": 0 }] } } });
        let headers = [V1, ("authorization", "Bearer acme/ann")];
        let sent = desk.server.call_v1_at(way, "/a2a/agents/intake", "SendMessage", &params, &headers);
        let (answer, _) = sent.await.unwrap();
        assert_eq!(answer["task"]["metadata"]["output"], json!({ "rows": [{ "name": "Ann" }] }), "{way:?}");
    }
}

/// Proves I9: content that does not fit is refused before there is a run, and the refusal names the artifact.
#[tokio::test]
async fn content_that_does_not_fit_is_refused_with_the_artifact_and_the_field() {
    let desk = TestDesk::open().await;
    let wrong_fields: &[(&str, &str, &str)] = &[
        ("a.json", r#"{"name": 7}"#, "/name"),
        ("b.json", r#"{"seats": 2}"#, ""),
        ("c.csv", "first\nAnn\n", "/rows/0"),
        ("d.json", r#"{"name": "Ann", "seats": 2.5}"#, "/seats"),
    ];
    for (name, content, path) in wrong_fields {
        let part = bytes_part(name, None, content.as_bytes());
        let message = invocation(&uuid(), &[json!({ "filename": name })], &[part]);
        let (code, data, text) = desk.send("acme/ann", "intake", message).await.unwrap_err();
        assert_eq!(code, -32602, "{name}");
        assert!(text.contains(&format!("the artifact {name:?} is not a valid input")), "{text}");
        assert!(data["errors"][0]["path"].as_str().unwrap().starts_with(path), "{name}: {data}");
    }
    let bomb = (0..30).fold("a0: &a0 [x,x,x,x,x,x,x,x,x]\n".to_owned(), |text, level| {
        let inner = vec![format!("*a{level}"); 9].join(",");
        format!("{text}a{}: &a{} [{inner}]\n", level + 1, level + 1)
    });
    let unreadable: &[(&str, &[u8])] = &[
        ("a.json", b"{\"name\": "),
        ("b.json", b"\xff\xfe"),
        ("c.csv", b"name,name\nAnn,Bob\n"),
        ("d.yaml", bomb.as_bytes()),
        ("e.json", &[b'['; 10_000]),
    ];
    for (name, content) in unreadable {
        let message = invocation(&uuid(), &[json!({ "filename": name })], &[bytes_part(name, None, content)]);
        let (code, data, text) = desk.send("acme/ann", "intake", message).await.unwrap_err();
        assert_eq!((code, &data["code"]), (-32602, &json!("invalid-input")), "{name}: {text}");
        assert!(text.contains(&format!("the artifact {name:?} cannot be used")), "{text}");
        assert!(text.len() < 2_000, "{name}");
        assert_eq!(data["path"], "/params/message/metadata/invoked_with_artifacts/0", "{name}");
    }
}

/// Proves I9: references that cannot be followed are refused at their place.
#[tokio::test]
async fn references_that_mean_nothing_are_refused() {
    let desk = TestDesk::open().await;
    let part = || bytes_part("a.json", None, br#"{"name": "Ann"}"#);
    let reference = || json!({ "filename": "a.json" });
    let twice = invocation(&uuid(), &[reference()], &[part(), part()]);
    let (code, data, _) = desk.send("acme/ann", "intake", twice).await.unwrap_err();
    assert_eq!((code, &data["path"]), (-32602, &json!("/params/message/parts/1")));
    let two = [reference(), json!({ "filename": "b.json" })];
    let (code, data, _) =
        desk.send("acme/ann", "intake", invocation(&uuid(), &two, &[part()])).await.unwrap_err();
    assert_eq!(code, -32602);
    assert_eq!(data["path"], "/params/message/metadata/invoked_with_artifacts/1");
    for metadata in [
        json!({ "invoked_with_artifacts": [reference()] }),
        json!({ "sessionBehavior": "RUN_BASED" }),
        json!({ "sessionBehavior": "ALWAYS" }),
        json!({ "invoked_with_artifacts": [{ "filename": "a.json", "version": -1 }] }),
    ] {
        let mut message = invocation(&uuid(), &[], &[part()]);
        message["metadata"] = metadata.clone();
        message["taskId"] = json!("run_00000000000000000000000000000000");
        let (code, data, text) = desk.send("acme/ann", "intake", message).await.unwrap_err();
        assert_eq!(code, -32602, "{metadata}: {text}");
        assert!(data["path"].as_str().unwrap().starts_with("/params/message/metadata"), "{metadata}: {data}");
    }
}

/// Proves I9: an artifact has the same limit as a message.
#[tokio::test]
async fn ten_megabytes_are_refused_and_cost_nothing_else() {
    let desk = TestDesk::open().await;
    let large = format!("{{\"name\": \"{}\"}}", "x".repeat(7 * 1024 * 1024));
    let large = bytes_part("a.json", None, large.as_bytes());
    let accepted = desk.input_from("intake", json!({ "filename": "a.json" }), large).await;
    assert_eq!(accepted["name"].as_str().unwrap().len(), 7 * 1024 * 1024);
    let content = "x".repeat(12 * 1024 * 1024);
    desk.save("acme/ann", trackway_domain::ArtifactScope::User, "big.txt", &content).await;
    let message = invocation(&uuid(), &[json!({ "filename": "big.txt" })], &[text_part("take it")]);
    let (code, data, text) = desk.send("acme/ann", "anything", message).await.unwrap_err();
    assert_eq!((code, &data["code"]), (-32602, &json!("too-large")), "{text}");
}

/// Proves I9: a program whose output does not fit its own schema fails, and sends nothing.
#[tokio::test]
async fn an_output_that_does_not_fit_is_not_sent() {
    let desk = TestDesk::open().await;
    let start = |data: Value| json!({ "kind": "message", "messageId": uuid(), "role": "user", "parts": [{ "kind": "data", "data": data }] });
    let task = desk.send("acme/ann", "broken", start(json!({ "name": "Ann" }))).await.unwrap();
    assert_eq!(task["status"]["state"], "failed");
    let said = task["status"]["message"]["parts"][0]["text"].as_str().unwrap();
    assert!(said.contains("the output does not satisfy the workflow's own schema"), "{said}");
    assert!(said.contains("count"), "{said}");
    assert!(task["metadata"]["output"].is_null(), "{task}");
    let task = desk.send("acme/ann", "broken", start(json!({ "count": 2.0 }))).await.unwrap();
    assert_eq!(
        (&task["status"]["state"], &task["metadata"]["output"]),
        (&json!("completed"), &json!({ "count": 2 }))
    );
}

/// Proves I5: an agent gets the artifacts as files of its message, wherever they come from.
#[tokio::test]
async fn an_agent_gets_the_artifacts_as_files() {
    let desk = TestDesk::open().await;
    desk.save("acme/ann", trackway_domain::ArtifactScope::User, "own.txt", "mine").await;
    let references = [json!({ "filename": "own.txt" }), json!({ "filename": "sent.csv" })];
    let parts = [text_part("Look at these."), bytes_part("sent.csv", Some("text/csv"), b"name\nAnn\n")];
    let message = invocation("both", &references, &parts);
    for _ in 0..2 {
        let task = desk.send("acme/ann", "helper", message.clone()).await.unwrap();
        let parts = task["history"][0]["parts"].as_array().unwrap();
        let files: Vec<_> = parts
            .iter()
            .filter_map(|part| part.get("file"))
            .map(|file| (&file["name"], &file["bytes"]))
            .collect();
        assert_eq!(
            files,
            [(&json!("sent.csv"), &json!("bmFtZQpBbm4K")), (&json!("own.txt"), &json!("bWluZQ=="))],
            "a repetition is the same task: {task}"
        );
    }
}

/// A server without artifacts and fetches says the same as one that does not have the artifact.
#[tokio::test]
async fn without_a_service_nothing_is_found() {
    let server = TestServer::new();
    let message = invocation("m-1", &[json!({ "filename": "data.csv" })], &[text_part("go")]);
    let (code, data) = server.call_rpc("message/send", json!({ "message": message })).await.unwrap_err();
    assert_eq!((code, &data["code"]), (-32602, &json!("unknown-artifact")));
}
