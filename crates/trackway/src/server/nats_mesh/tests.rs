//! Which NATS servers may be joined.

use super::*;
use crate::Server;

#[test]
fn only_addresses_of_this_machine_are_local() {
    for url in ["nats://127.0.0.1:4222", "nats://localhost", "tls://[::1]:4222", "nats://ann:pass@127.0.0.1"]
    {
        assert!(is_local_url(url), "{url}");
    }
    for url in ["nats://10.0.0.1:4222", "nats://nats.example", "nats://127.0.0.1.example", "4222", ""] {
        assert!(!is_local_url(url), "{url}");
    }
}

#[tokio::test]
async fn without_auth_only_a_server_on_this_machine_is_joined() {
    let folder = tempfile::tempdir().unwrap();
    let server = || Server::new().listen("127.0.0.1:0").data(folder.path().join("data"));
    let refused = server().nats(Secret::new("nats://ann:hush@nats.example")).bind().await.unwrap_err();
    assert!(matches!(refused, ServerError::ExposedOverNats), "{refused:?}");
    let refused = server().nats(Secret::new("http://127.0.0.1")).bind().await.unwrap_err();
    assert!(matches!(refused, ServerError::Nats(_)), "{refused:?}");
    // Nobody listens there, and the server is bound all the same.
    server().nats(Secret::new("nats://127.0.0.1:1")).bind().await.unwrap();
}
