//! Content that the message names by its address.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use axum::{
    Router,
    http::{StatusCode, header},
    response::{IntoResponse as _, Redirect, Response},
    routing::get,
};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use trackway_a2a::AddressPolicy;

use super::test_desk::{TestDesk, invocation, uri_part, uuid};

/// A server of files on this machine, and how often it was asked.
struct FileSite {
    base: String,
    requests: Arc<AtomicUsize>,
}

impl FileSite {
    async fn open() -> Self {
        let typed =
            |kind: &'static str, body: &'static str| ([(header::CONTENT_TYPE, kind)], body).into_response();
        let requests = Arc::new(AtomicUsize::new(0));
        let count = requests.clone();
        let files = move |name: axum::extract::Path<String>| {
            count.fetch_add(1, Ordering::Relaxed);
            let answer: Response = match name.as_str() {
                "data.csv" => typed("text/csv", "name\nAnn\n"),
                "untyped" => typed("application/octet-stream", "name: Ann"),
                "typed" => typed("application/json", "{\"name\": \"Ann\"}"),
                "moved" => Redirect::temporary("/files/data.csv").into_response(),
                "away" => Redirect::temporary("http://169.254.169.254/latest").into_response(),
                "round" => Redirect::temporary("/files/round").into_response(),
                "busy" => StatusCode::SERVICE_UNAVAILABLE.into_response(),
                "gone" => StatusCode::GONE.into_response(),
                "large" => "x".repeat(11 * 1024 * 1024).into_response(),
                _ => StatusCode::NOT_FOUND.into_response(),
            };
            std::future::ready(answer)
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}/files", listener.local_addr().unwrap());
        let router = Router::new().route("/files/{name}", get(files));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { base, requests }
    }

    fn message(&self, id: &str, name: &str, path: &str) -> Value {
        let part = uri_part(name, &format!("{}/{path}?token=secret", self.base));
        invocation(id, &[json!({ "filename": name, "version": 3 })], &[part])
    }

    fn request_count(&self) -> usize {
        self.requests.load(Ordering::Relaxed)
    }
}

/// Proves I5, I7: the address is read under the outgoing policy, its type counts, and a redirect is followed
/// as far as it is allowed.
#[tokio::test]
async fn a_file_is_read_from_its_address() {
    let (desk, site) = (TestDesk::open().await, FileSite::open().await);
    for (name, path) in [
        ("data.csv", "data.csv"),
        ("a.yaml", "untyped"),
        ("name-without-a-type", "typed"),
        ("data.csv", "moved"),
    ] {
        let task = desk.send("acme/ann", "intake", site.message(&uuid(), name, path)).await.unwrap();
        let output = &task["metadata"]["output"];
        assert!(
            *output == json!({ "name": "Ann" }) || *output == json!({ "rows": [{ "name": "Ann" }] }),
            "{task}"
        );
    }
}

/// Proves I10, X6: what cannot be read is a clear error that does not repeat the address.
#[tokio::test]
async fn an_address_that_cannot_be_read_is_a_clear_error() {
    let (desk, site) = (TestDesk::open().await, FileSite::open().await);
    for (path, code, words) in [
        ("none", -32602, "answered 404"),
        ("gone", -32602, "answered 410"),
        ("away", -32602, "refused"),
        ("round", -32602, "redirects more than"),
        ("large", -32602, "larger than"),
        ("busy", -32603, "answered 503"),
    ] {
        let (refused, _, text) =
            desk.send("acme/ann", "intake", site.message(&uuid(), "data.csv", path)).await.unwrap_err();
        assert_eq!(refused, code, "{path}: {text}");
        assert!(
            text.contains(words) && text.contains("data.csv") && !text.contains("secret"),
            "{path}: {text}"
        );
    }
    let strict = TestDesk::open_with_policy(AddressPolicy::default()).await;
    let before = site.request_count();
    let inside =
        ["http://169.254.169.254/", "http://10.0.0.1/", "http://[::1]/", "file:///etc/passwd", "nonsense"];
    let own = format!("{}/data.csv", site.base);
    for uri in inside.into_iter().chain([own.as_str()]) {
        let message = invocation(&uuid(), &[json!({ "filename": "a.csv" })], &[uri_part("a.csv", uri)]);
        let (code, data, text) = strict.send("acme/ann", "intake", message).await.unwrap_err();
        assert_eq!((code, &data["path"]), (-32602, &json!("/params/message/parts/0")), "{uri}: {text}");
        assert!(text.contains("refused"), "{uri}: {text}");
    }
    assert_eq!(site.request_count(), before, "nothing was asked of an address that is refused");
    let allow = ["127.0.0.0/8".parse().unwrap()].into_iter().collect();
    let allowing = TestDesk::open_with_policy(AddressPolicy { allow, ..AddressPolicy::default() }).await;
    assert!(allowing.send("acme/ann", "intake", site.message(&uuid(), "data.csv", "data.csv")).await.is_ok());
}

/// Proves I7, X2: the input is recorded with the message, so a repetition asks nobody; another file under the
/// same message id is refused.
#[tokio::test]
async fn a_repeated_message_reads_nothing_again() {
    let (desk, site) = (TestDesk::open().await, FileSite::open().await);
    let first = desk.send("acme/ann", "intake", site.message("m-1", "data.csv", "data.csv")).await.unwrap();
    for _ in 0..3 {
        let again =
            desk.send("acme/ann", "intake", site.message("m-1", "data.csv", "data.csv")).await.unwrap();
        assert_eq!((&again["id"], &again["contextId"]), (&first["id"], &first["contextId"]));
    }
    assert_eq!(site.request_count(), 1);
    let mut other = site.message("m-1", "data.csv", "data.csv");
    other["metadata"]["invoked_with_artifacts"][0]["version"] = json!(4);
    let (code, data, _) = desk.send("acme/ann", "intake", other).await.unwrap_err();
    assert_eq!((code, &data["code"]), (-32602, &json!("message-reused")));
}

/// Proves X2: equal calls at once are one task.
#[tokio::test]
async fn equal_calls_at_once_are_one_task() {
    let (desk, site) = (TestDesk::open().await, FileSite::open().await);
    let message = site.message("m-1", "data.csv", "data.csv");
    let sends = (0..16).map(|_| desk.send("acme/ann", "intake", message.clone()));
    let tasks = futures_util::future::join_all(sends).await;
    let ids: std::collections::BTreeSet<_> =
        tasks.iter().map(|task| task.as_ref().unwrap()["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), 1);
}
