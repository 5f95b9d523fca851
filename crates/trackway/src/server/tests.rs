//! What a server refuses before it opens anything.

use super::*;

const KEY: &str = "-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg/8fsbtXtCt3Mf4LN
4v4mXX5awvGoHhE2Ws28exC/8P+hRANCAARGmYEYx1l8i5y3ONc18z8K7RWT/dsZ
/EBNt7lfdmnPJFdb7zNDJh09ji+I3xhhPel0sQJorbvoKIkktuMbuiJh
-----END PRIVATE KEY-----
";

/// Proves X6: a reader of a card must not choose what is signed.
#[tokio::test]
async fn cards_are_not_signed_without_a_configured_address() {
    let signer = CardSigner::from_pem(KEY.as_bytes(), "k1").unwrap();
    let server = Server::new().sign_cards(signer).data("/dev/null/nowhere");
    let refused = server.listen("127.0.0.1:0").bind().await.unwrap_err();
    assert!(matches!(refused, ServerError::SignedWithoutAddress));
}

/// Proves X5: reported at the start, and before anything is opened.
#[tokio::test]
async fn a_default_agent_that_is_not_there_is_refused() {
    let nobody = Some("nobody".to_owned());
    let agents = AgentSet { default_agent: nobody, ..AgentSet::default() };
    for server in [Server::new().default_agent("nobody"), Server::new().agents(agents)] {
        let server = server.data("/dev/null/nowhere").listen("127.0.0.1:0");
        let refused = server.bind().await.unwrap_err();
        assert!(matches!(refused, ServerError::DefaultAgent { name, .. } if name == "nobody"));
    }
}
