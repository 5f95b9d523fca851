//! Deliveries to a local receiver, and addresses that are never requested.

use std::{
    collections::HashMap,
    io,
    net::{IpAddr, SocketAddr},
    sync::{Mutex, PoisonError},
};

use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode},
    response::{IntoResponse as _, Redirect, Response},
    routing::post,
};
use tokio::net::TcpListener;
use trackway_ports::PortFuture;

use super::*;

/// The request that a receiver got.
type Received = Arc<Mutex<Vec<(HeaderMap, Bytes)>>>;

struct Receiver {
    address: SocketAddr,
    received: Received,
}

impl Receiver {
    async fn start() -> Self {
        async fn take(State(received): State<Received>, headers: HeaderMap, body: Bytes) {
            received.lock().unwrap_or_else(PoisonError::into_inner).push((headers, body));
        }
        async fn endless() -> Response {
            let chunk = || Ok::<_, io::Error>(Bytes::from_static(&[b'x'; 4096]));
            let stream = futures_util::stream::repeat_with(chunk);
            axum::body::Body::from_stream(stream).into_response()
        }
        let received = Received::default();
        let router = Router::new()
            .route("/take", post(take))
            .route("/busy", post(|| async { StatusCode::SERVICE_UNAVAILABLE }))
            .route("/moved", post(|| async { Redirect::temporary("/take") }))
            .route("/endless", post(endless))
            .with_state(received.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { address, received }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    fn named(&self, name: &str, path: &str) -> String {
        format!("http://{name}:{}{path}", self.address.port())
    }

    fn received(&self) -> Vec<(HeaderMap, Bytes)> {
        self.received.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Names with the addresses that they have at the first lookup, the second, and so on.
#[derive(Debug)]
struct Names(Mutex<HashMap<&'static str, Vec<Vec<IpAddr>>>>);

impl DnsLookup for Names {
    fn lookup_host(&self, name: String) -> PortFuture<'static, io::Result<Vec<IpAddr>>> {
        let mut names = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = match names.get_mut(&*name) {
            Some(rounds) if rounds.len() > 1 => Ok(rounds.remove(0)),
            Some(rounds) => Ok(rounds[0].clone()),
            None => Err(io::Error::other("no such name")),
        };
        Box::pin(std::future::ready(found))
    }
}

fn options(allow_loopback: bool) -> PushSenderOptions {
    PushSenderOptions {
        addresses: AddressPolicy { allow_loopback, ..AddressPolicy::default() },
        secret: None,
    }
}

fn outgoing(allow_loopback: bool) -> PushSender {
    PushSender::new(options(allow_loopback))
}

fn knowing(allow_loopback: bool, names: &[(&'static str, &[&[&str]])]) -> PushSender {
    let addresses = |round: &&[&str]| round.iter().map(|text| text.parse().unwrap()).collect::<Vec<IpAddr>>();
    let names = names.iter().map(|(name, rounds)| (*name, rounds.iter().map(addresses).collect()));
    let lookup = Arc::new(Names(Mutex::new(names.collect())));
    PushSender::with_dns_lookup(options(allow_loopback), lookup)
}

fn target(url: String) -> PushTarget {
    PushTarget { url, token: None, credentials: None }
}

fn refused(result: Result<(), HookDeliveryError>) -> String {
    match result {
        Err(HookDeliveryError::Refused { reason }) => reason,
        other => panic!("it is not refused: {other:?}"),
    }
}

fn again(result: Result<(), HookDeliveryError>) -> String {
    match result {
        Err(HookDeliveryError::Transient { reason }) => reason,
        other => panic!("it is not to be tried again: {other:?}"),
    }
}

/// Proves X6: token, credentials and signature arrive as the receiver expects them.
#[tokio::test]
async fn a_delivery_arrives_with_its_headers() {
    let receiver = Receiver::start().await;
    let secret = Some(b"Jefe".to_vec());
    let outgoing = PushSender::new(PushSenderOptions { secret, ..options(true) });
    let target = PushTarget {
        token: Some("token-1".to_owned()),
        credentials: Some(PushCredentials { scheme: "Bearer".to_owned(), value: "c".to_owned() }),
        ..target(receiver.url("/take?q=1"))
    };
    let body = b"what do ya want for nothing?".to_vec();
    outgoing.post_notification(&target, "application/a2a+json", body.clone()).await.unwrap();
    let (headers, received) = &receiver.received()[0];
    assert_eq!(received.as_ref(), body);
    let table = [
        ("content-type", "application/a2a+json"),
        ("x-a2a-notification-token", "token-1"),
        ("authorization", "Bearer c"),
        ("x-trackway-signature", "sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
    ];
    for (name, value) in table {
        assert_eq!(headers[name], value, "{name}");
    }
    assert!(headers["user-agent"].to_str().unwrap().starts_with("trackway/"));
    assert!(!format!("{target:?} {outgoing:?}").contains("token-1"));
}

/// Proves X6: nothing is sent that was not configured.
#[tokio::test]
async fn a_plain_delivery_has_no_other_headers() {
    let receiver = Receiver::start().await;
    let target = target(receiver.url("/take"));
    outgoing(true).post_notification(&target, "application/json", b"{}".to_vec()).await.unwrap();
    let (headers, _) = &receiver.received()[0];
    for name in ["x-a2a-notification-token", "authorization", "x-trackway-signature"] {
        assert!(!headers.contains_key(name), "{name}");
    }
}

/// Proves X6: an invalid address is rejected before anything is sent.
#[tokio::test]
async fn wrong_addresses_are_refused_at_once() {
    let table = [
        ("", "not a URL"),
        ("/relative", "not a URL"),
        ("http://", "not a URL"),
        ("ftp://example.com/", "neither http"),
        ("file:///etc/passwd", "neither http"),
        ("javascript:alert(1)", "neither http"),
        ("https://user@example.com/", "credentials"),
        ("https://user:secret@example.com/", "credentials"),
        ("https://:secret@example.com/", "credentials"),
        ("http://127.0.0.1/", "loopback"),
        ("http://127.1/", "loopback"),
        ("http://2130706433/", "loopback"),
        ("http://0x7f.0.0.1/", "loopback"),
        ("http://0177.0.0.1/", "loopback"),
        ("http://[::1]/", "loopback"),
        ("http://[::ffff:127.0.0.1]/", "loopback"),
        ("http://[::ffff:7f00:1]:8080/", "loopback"),
        ("http://169.254.169.254/latest/meta-data", "link-local"),
        ("http://10.0.0.1/", "private"),
        ("http://192.168.1.1:8080/", "private"),
        ("http://[fd00::1]/", "private"),
        ("http://[64:ff9b::10.0.0.1]/", "private"),
        ("http://100.64.0.1/", "carrier"),
        ("http://0.0.0.0/", "unspecified"),
        ("http://224.0.0.1/", "multicast"),
    ];
    let outgoing = outgoing(false);
    for (url, why) in table {
        let reason = outgoing.check_push_url(url).unwrap_err().reason;
        assert!(reason.contains(why), "{url}: {reason}");
        assert!(!reason.contains("secret"), "{reason}");
        assert_eq!(refused(outgoing.post_notification(&target(url.to_owned()), "a/b", vec![]).await), reason);
    }
    assert!(outgoing.check_push_url(&format!("https://example.com/{}", "x".repeat(9_000))).is_err());
    for url in ["https://example.com/hook?a=b", "http://8.8.8.8:81/", "https://[2606:4700::1]/"] {
        outgoing.check_push_url(url).unwrap();
    }
}

/// Proves X6: a name is checked by the address that is connected to.
#[tokio::test]
async fn a_name_of_a_forbidden_address_is_not_connected_to() {
    let receiver = Receiver::start().await;
    let names: [(&str, &[&[&str]]); 4] = [
        ("here.test", &[&["127.0.0.1"]]),
        ("inside.test", &[&["10.0.0.1", "fd00::1"]]),
        ("mapped.test", &[&["::ffff:127.0.0.1"]]),
        ("nowhere.test", &[&[]]),
    ];
    let strict = knowing(false, &names);
    for (name, why) in [("here.test", "loopback"), ("inside.test", "private"), ("mapped.test", "loopback")] {
        let target = target(receiver.named(name, "/take"));
        strict.check_push_url(&target.url).unwrap();
        let reason = refused(strict.post_notification(&target, "a/b", vec![]).await);
        assert!(reason.contains(why), "{name}: {reason}");
    }
    assert!(receiver.received().is_empty());
    let open = knowing(true, &names);
    open.post_notification(&target(receiver.named("here.test", "/take")), "a/b", vec![]).await.unwrap();
    refused(open.post_notification(&target(receiver.named("inside.test", "/take")), "a/b", vec![]).await);
    assert_eq!(receiver.received().len(), 1);
    // A name that cannot be resolved now may be resolvable later.
    for name in ["unknown.test", "nowhere.test"] {
        again(open.post_notification(&target(receiver.named(name, "/take")), "a/b", vec![]).await);
    }
}

/// Proves X6: earlier addresses of a name do not matter, and of several addresses only the allowed ones
/// are used.
#[tokio::test]
async fn a_name_that_changes_its_address_gains_nothing() {
    let receiver = Receiver::start().await;
    let rounds: &[&[&str]] = &[&["127.0.0.1"], &["169.254.169.254"]];
    let mixed: &[&[&str]] = &[&["10.0.0.1", "127.0.0.1", "192.168.0.1"]];
    let outgoing = knowing(true, &[("rebinds.test", rounds), ("mixed.test", mixed)]);
    let taken = target(receiver.named("rebinds.test", "/take"));
    outgoing.post_notification(&taken, "a/b", vec![]).await.unwrap();
    // Another port, so that there is no connection to reuse.
    let reason = refused(
        outgoing.post_notification(&target("http://rebinds.test:1/take".to_owned()), "a/b", vec![]).await,
    );
    assert!(reason.contains("link-local"), "{reason}");
    outgoing.post_notification(&target(receiver.named("mixed.test", "/take")), "a/b", vec![]).await.unwrap();
    assert_eq!(receiver.received().len(), 2);
}

/// Proves X6: no redirect is followed, and a long answer is not read to its end.
#[tokio::test]
async fn answers_are_judged_by_their_status_alone() {
    let receiver = Receiver::start().await;
    let outgoing = outgoing(true);
    let post =
        async |path: &str| outgoing.post_notification(&target(receiver.url(path)), "a/b", vec![]).await;
    assert!(again(post("/moved").await).contains("307"));
    assert!(again(post("/busy").await).contains("503"));
    assert!(again(post("/absent").await).contains("404"));
    assert!(receiver.received().is_empty(), "nobody went where the redirect led");
    post("/endless").await.unwrap();
}

/// Proves X6: a delivery to an unreachable receiver is retried, and its address is not shown.
#[tokio::test]
async fn a_receiver_that_is_down_is_tried_again() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let target = target(format!("http://{address}/?token=s3cret"));
    let reason = again(outgoing(true).post_notification(&target, "a/b", vec![]).await);
    assert!(reason.contains("no connection") && !reason.contains("s3cret"), "{reason}");
}

/// Proves X6: a value that cannot be a header is refused, so that no header can be injected.
#[tokio::test]
async fn a_header_that_cannot_be_sent_is_refused() {
    let receiver = Receiver::start().await;
    let plain = target(receiver.url("/take"));
    let smuggled = "a\r\nX-Other: b".to_owned();
    let token = PushTarget { token: Some(smuggled.clone()), ..plain.clone() };
    let credentials = Some(PushCredentials { scheme: "Bearer".to_owned(), value: smuggled });
    for target in [token, PushTarget { credentials, ..plain }] {
        refused(outgoing(true).post_notification(&target, "a/b", vec![]).await);
    }
    assert!(receiver.received().is_empty());
}
