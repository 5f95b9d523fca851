//! Whose request it is: the key decides, and a trusted node may name another user of the key's tenant.

use std::time::Duration;

use data_encoding::BASE64URL_NOPAD;
use serde_json::json;
use trackway_domain::{CallChain, Caller, Permission, Scopes};
use trackway_mesh::{CallAudience, CallTokenSigner, CallTokenVerifierOptions, NodeKeys};
use trackway_ports::{AuditLog as _, AuditRecorder as _, NoAuditRecorder};
use trackway_testkit::{ManualClock, MemoryAuditLog, MemoryKeys};

use super::*;
use crate::{ApiKey, server::AuditQueue};

const HERE: &str = "http://127.0.0.1:7420/a2a/agents/orders";
const KEY: &str = "a long random text";

/// Which keys the server knows.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Mode {
    /// No auth.
    Off,
    /// A key of acme is known, and not required.
    Optional,
    Required,
}

/// What the request presents beside its key.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Token {
    None,
    Trusted,
    /// Of a node that is not in `[mesh] trust`.
    Untrusted,
    Expired,
    OtherAudience,
    Tampered,
    AlgNone,
    Oversized,
    Garbage,
}

/// Two nodes that call us; we trust the first.
struct Nodes {
    trusted: Arc<MemoryKeys>,
    other: Arc<MemoryKeys>,
}

impl Nodes {
    fn new() -> Self {
        Self { trusted: Arc::default(), other: Arc::default() }
    }

    async fn authenticator(&self, mode: Mode, audit: SharedAuditRecorder) -> ServerAuthenticator {
        let scopes = Scopes::new(["workflow:echo:run"]).unwrap();
        let key = ApiKey::new("k", ApiKeyHash::from_api_key(KEY), "acme", "orders-node", scopes).unwrap();
        let auth = match mode {
            Mode::Off => Auth::new(),
            Mode::Optional => Auth::new().key(key),
            Mode::Required => Auth::new().required().key(key),
        };
        let clock: Arc<dyn Clock> = Arc::new(an_hour_later());
        let calls = CallTokenVerifier::new(CallTokenVerifierOptions {
            trusted_keys: vec![NodeKeys::in_store(self.trusted.clone()).public_key().await.unwrap()],
            audiences: CallAudience::of_node("127.0.0.1:7420".parse().unwrap(), None),
            clock: clock.clone(),
        });
        ServerAuthenticator::open(auth, Arc::new(MemoryKeys::default()), clock, calls, audit).await.unwrap()
    }

    async fn token(&self, kind: Token, claimed: &Caller) -> Option<String> {
        let chain = CallChain { depth: 1, ancestors: vec!["http://a/orders".to_owned()] };
        let sign = async |keys: &Arc<MemoryKeys>, clock: ManualClock, url: &str| {
            let signer = CallTokenSigner::in_store(keys.clone(), Arc::new(clock));
            signer.sign_call(url, claimed, &chain).await.unwrap()
        };
        let good = sign(&self.trusted, an_hour_later(), HERE).await;
        Some(match kind {
            Token::None => return None,
            Token::Trusted => good,
            Token::Untrusted => sign(&self.other, an_hour_later(), HERE).await,
            Token::Expired => sign(&self.trusted, ManualClock::new(), HERE).await,
            Token::OtherAudience => sign(&self.trusted, an_hour_later(), "http://127.0.0.1:7421").await,
            Token::Tampered => with_claim(&good, "user", json!("eve")),
            Token::AlgNone => {
                let header = BASE64URL_NOPAD.encode(br#"{"alg":"none","kid":"","typ":"trackway-call"}"#);
                let (_, rest) = good.split_once('.').unwrap();
                format!("{header}.{}.", rest.split_once('.').unwrap().0)
            }
            Token::Oversized => format!("{good}{}", "A".repeat(10_000_000)),
            Token::Garbage => "Bearer \u{e9}".to_owned(),
        })
    }
}

/// The time of the server.
fn an_hour_later() -> ManualClock {
    let clock = ManualClock::new();
    clock.advance(Duration::from_secs(3_600));
    clock
}

/// The token with a changed claim under its old signature.
fn with_claim(token: &str, name: &str, value: serde_json::Value) -> String {
    let [header, payload, signature] = token.split('.').collect::<Vec<_>>()[..] else { panic!("{token}") };
    let mut claims: serde_json::Value =
        serde_json::from_slice(&BASE64URL_NOPAD.decode(payload.as_bytes()).unwrap()).unwrap();
    claims[name] = value;
    format!("{header}.{}.{signature}", BASE64URL_NOPAD.encode(claims.to_string().as_bytes()))
}

/// Proves X6: only a trusted node is believed, only within the tenant of the key that it presents, and the
/// scopes stay those of the key.
#[tokio::test]
async fn the_caller_is_the_key_unless_a_trusted_node_says_otherwise() {
    let (ann, boris) = (Caller::new("acme", "ann"), Caller::new("umbrella", "boris"));
    let (node, local) = (Caller::new("acme", "orders-node"), Caller::local_without_auth());
    let local_user = Caller::new("local", "ann");
    let with_key = [Mode::Optional, Mode::Required];
    let mut table = vec![
        // Without auth the tenant is as claimed.
        (Mode::Off, None, Token::Trusted, &ann, &ann),
        (Mode::Off, None, Token::Trusted, &boris, &boris),
        (Mode::Off, Some("any text"), Token::Trusted, &ann, &ann),
        (Mode::Off, None, Token::None, &ann, &local),
        // A caller without a key has the tenant `local` if keys are known but not required.
        (Mode::Optional, None, Token::None, &ann, &local),
        (Mode::Optional, None, Token::Trusted, &ann, &local),
        (Mode::Optional, None, Token::Trusted, &local_user, &local_user),
    ];
    for mode in with_key {
        table.push((mode, Some(KEY), Token::None, &ann, &node));
        table.push((mode, Some(KEY), Token::Trusted, &ann, &ann));
        table.push((mode, Some(KEY), Token::Trusted, &boris, &node));
    }
    for bad in [
        Token::Untrusted,
        Token::Expired,
        Token::OtherAudience,
        Token::Tampered,
        Token::AlgNone,
        Token::Oversized,
        Token::Garbage,
    ] {
        table.push((Mode::Off, None, bad, &ann, &local));
        for mode in with_key {
            table.push((mode, Some(KEY), bad, &ann, &node));
            table.push((mode, Some(KEY), bad, &boris, &node));
        }
    }
    let nodes = Nodes::new();
    for (mode, bearer, kind, claimed, expected) in table {
        let authenticator = nodes.authenticator(mode, Arc::new(NoAuditRecorder)).await;
        let call_token = nodes.token(kind, claimed).await;
        let credentials = Credentials { bearer, call_token: call_token.as_deref() };
        let found = authenticator.authenticate(credentials).await.unwrap();
        let row = format!("{mode:?} {bearer:?} {kind:?} {claimed:?}");
        assert_eq!(&found.caller, expected, "{row}");
        let is_key = bearer == Some(KEY);
        assert_eq!(found.scopes.allows_workflow_run("other"), !is_key, "{row}: the key's scopes");
        let can_be_read = !matches!(kind, Token::None | Token::AlgNone | Token::Oversized | Token::Garbage);
        assert_eq!(found.call_chain.depth, u32::from(can_be_read), "{row}: the chain counts in any case");
    }
}

/// Proves X6: a token of a trusted node is no key.
#[tokio::test]
async fn a_call_token_alone_opens_no_door() {
    let nodes = Nodes::new();
    let authenticator = nodes.authenticator(Mode::Required, Arc::new(NoAuditRecorder)).await;
    let token = nodes.token(Token::Trusted, &Caller::new("acme", "ann")).await;
    for (bearer, expected) in [(None, Unauthenticated::Missing), (Some("wrong"), wrong_key())] {
        let credentials = Credentials { bearer, call_token: token.as_deref() };
        assert_eq!(authenticator.authenticate(credentials).await, Err(expected));
    }
}

fn wrong_key() -> Unauthenticated {
    Unauthenticated::Wrong { reason: "the key is not known, or was revoked".to_owned() }
}

/// Proves X6: names that could not be those of a key are not believed either.
#[tokio::test]
async fn a_claimed_caller_needs_a_proper_name() {
    let nodes = Nodes::new();
    let authenticator = nodes.authenticator(Mode::Required, Arc::new(NoAuditRecorder)).await;
    for user in ["", "a\nb", &"u".repeat(257)] {
        let token = nodes.token(Token::Trusted, &Caller::new("acme", user)).await;
        let credentials = Credentials { bearer: Some(KEY), call_token: token.as_deref() };
        let found = authenticator.authenticate(credentials).await.unwrap();
        assert_eq!(found.caller, Caller::new("acme", "orders-node"), "{user:?}");
    }
}

/// Proves X6: a refusal is recorded for the user in whose name the node calls.
#[tokio::test]
async fn refusals_of_a_believed_caller_are_recorded() {
    let (nodes, log) = (Nodes::new(), Arc::new(MemoryAuditLog::default()));
    let audit = AuditQueue::open(log.clone(), Arc::new(ManualClock::new()));
    let authenticator = nodes.authenticator(Mode::Required, audit.clone()).await;
    let token = nodes.token(Token::Trusted, &Caller::new("acme", "ann")).await;
    let credentials = Credentials { bearer: Some(KEY), call_token: token.as_deref() };
    let identity = authenticator.authenticate(credentials).await.unwrap();
    identity.check_permission(Permission::RunWorkflow("echo")).unwrap();
    let refused = identity.check_permission(Permission::RunWorkflow("review")).unwrap_err();
    assert_eq!(refused.needed_scope, "workflow:review:run or agent:review:call");
    identity.check_permission(Permission::ReadAudit).unwrap_err();
    audit.wait_until_recorded().await;
    let page = log.list_audit_events("acme".to_owned(), None, 10).await.unwrap();
    let found: Vec<_> =
        page.events.iter().map(|event| (&*event.user, &*event.action, &*event.object)).collect();
    assert_eq!(found, [("ann", "audit:read", ""), ("ann", "workflow:run", "review")]);
    assert_eq!(page.events[1].reason, "needs the scope workflow:review:run or agent:review:call");
}
