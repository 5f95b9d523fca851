//! Pages of a local server, and addresses that are never requested.

use std::{io, net::IpAddr};

use futures_util::future::BoxFuture;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};

use super::*;

/// Answers each request by its path with the given head and body, and closes.
async fn serve(answers: &'static [(&'static str, &'static str)]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(stream.read_u8().await.unwrap());
            }
            let head = String::from_utf8(head).unwrap();
            let path = head.split(' ').nth(1).unwrap();
            let found = answers.iter().find(|(known, _)| *known == path);
            let answer = found.map_or("HTTP/1.1 404 Not Found\r\n\r\nnothing", |(_, answer)| answer);
            stream.write_all(answer.as_bytes()).await.unwrap();
            stream.shutdown().await.unwrap();
        }
    });
    format!("http://{address}")
}

#[derive(Debug)]
struct Names;

impl DnsLookup for Names {
    fn lookup_host(&self, name: String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        let address = if name == "here.example" { "127.0.0.1" } else { "10.0.0.7" };
        Box::pin(std::future::ready(Ok(vec![address.parse().unwrap()])))
    }
}

fn fetcher(allow_loopback: bool) -> PageFetcher {
    PageFetcher::new(AddressPolicy { allow_loopback, ..AddressPolicy::default() }, Arc::new(Names))
}

const ANSWERS: &[(&str, &str)] = &[
    ("/page", "HTTP/1.1 200 OK\r\ncontent-type: text/html; charset=utf-8\r\n\r\n<h1>Hi</h1><p>ä</p>"),
    ("/json", "HTTP/1.1 200 OK\r\ncontent-type: application/problem+json\r\n\r\n{\"a\":1}"),
    ("/image", "HTTP/1.1 200 OK\r\ncontent-type: image/png\r\n\r\n..."),
    ("/moved", "HTTP/1.1 302 Found\r\nlocation: /page\r\n\r\n"),
    ("/round", "HTTP/1.1 302 Found\r\nlocation: /round\r\n\r\n"),
    ("/inside", "HTTP/1.1 302 Found\r\nlocation: http://169.254.169.254/latest\r\n\r\n"),
    ("/named", "HTTP/1.1 302 Found\r\nlocation: http://inside.example/\r\n\r\n"),
    ("/file", "HTTP/1.1 302 Found\r\nlocation: file:///etc/passwd\r\n\r\n"),
];

#[tokio::test]
async fn pages_are_text() {
    let base = serve(ANSWERS).await;
    let fetcher = fetcher(true);
    let page = fetcher.fetch_page(&format!("{base}/moved")).await.unwrap();
    assert_eq!(page["text"], "Hi\nä");
    assert_eq!(page["url"], format!("{base}/page"));
    assert_eq!(page["status"], 200);
    let json = fetcher.fetch_page(&format!("{base}/json")).await.unwrap();
    assert_eq!(json["text"], "{\"a\":1}");
    let missing = fetcher.fetch_page(&format!("{base}/none")).await.unwrap();
    assert_eq!((&missing["status"], &missing["text"]), (&json!(404), &json!("nothing")));
    let image = fetcher.fetch_page(&format!("{base}/image")).await.unwrap_err();
    assert!(image.message.contains("image/png"), "{image:?}");
    let round = fetcher.fetch_page(&format!("{base}/round")).await.unwrap_err();
    assert!(round.message.contains("redirects more than"), "{round:?}");
}

/// Proves X6: neither a model nor a page that it reads can make this machine send requests to its own
/// network.
#[tokio::test]
async fn forbidden_addresses_are_not_asked_for_however_they_are_reached() {
    let base = serve(ANSWERS).await;
    let port = base.rsplit(':').next().unwrap();
    let open = fetcher(true);
    for path in ["inside", "named", "file"] {
        let refused = open.fetch_page(&format!("{base}/{path}")).await.unwrap_err();
        assert!(refused.message.contains("refused"), "{path}: {refused:?}");
    }
    assert!(open.fetch_page(&format!("http://here.example:{port}/page")).await.is_ok());
    let strict = fetcher(false);
    for url in [
        format!("{base}/page"),
        format!("http://here.example:{port}/page"),
        format!("http://2130706433:{port}/page"),
        "http://inside.example/".to_owned(),
        "ftp://example.com/".to_owned(),
        "http://user:word@example.com/".to_owned(),
        "nonsense".to_owned(),
    ] {
        let refused = strict.fetch_page(&url).await.unwrap_err();
        assert!(refused.message.contains("refused"), "{url}: {refused:?}");
    }
}

/// Proves X6: what the operator allows can be read, and nothing beside it.
#[tokio::test]
async fn an_allowed_network_can_be_read() {
    let base = serve(ANSWERS).await;
    let allow = ["127.0.0.0/8".parse().unwrap()].into_iter().collect();
    let fetcher = PageFetcher::new(AddressPolicy { allow, ..AddressPolicy::default() }, Arc::new(Names));
    assert!(fetcher.fetch_page(&format!("{base}/page")).await.is_ok());
    for path in ["inside", "named"] {
        let refused = fetcher.fetch_page(&format!("{base}/{path}")).await.unwrap_err();
        assert!(refused.message.contains("refused"), "{path}: {refused:?}");
    }
}

#[tokio::test]
async fn a_long_page_is_cut_and_says_so() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut head = [0; 16];
        stream.read_exact(&mut head).await.unwrap();
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
        // The body never ends: the reader must stop.
        while stream.write_all(&[b'x'; 4096]).await.is_ok() {}
    });
    let page = fetcher(true).fetch_page(&base).await.unwrap();
    assert_eq!(page["truncated"], true);
    assert_eq!(page["text"].as_str().unwrap().len(), TEXT_CHARS_MAX);
}
