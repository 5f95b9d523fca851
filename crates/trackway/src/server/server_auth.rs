//! How a server finds out who is calling.

use std::{net::SocketAddr, sync::Arc};

use trackway_mesh::{CallAudience, CallTokenVerifier, CallTokenVerifierOptions, NodePublicKey};
use trackway_ports::{Authenticator, Clock, KeyStore, SharedAuditRecorder};
use trackway_runtime::SystemClock;

use crate::{Auth, AuthError, auth::ServerAuthenticator};

/// How a server authenticates callers.
#[derive(Debug, Clone, Copy)]
pub(super) struct AuthMode {
    /// Every caller must be authenticated.
    pub(super) required: bool,
    /// No key is needed: every caller is the local caller.
    pub(super) is_open_to_all: bool,
}

/// What the authentication of a server needs.
pub(super) struct AuthenticatorOptions<'a> {
    pub(super) auth: Auth,
    pub(super) keys: Arc<dyn KeyStore>,
    pub(super) audit: SharedAuditRecorder,
    /// Nodes that are believed: `[mesh] trust`.
    pub(super) trusted_nodes: Vec<NodePublicKey>,
    pub(super) listens_on: SocketAddr,
    pub(super) public_url: Option<&'a str>,
    /// The name under which other nodes call this one without an address.
    pub(super) mesh_audience: Option<CallAudience>,
}

pub(super) async fn open_authenticator(
    options: AuthenticatorOptions<'_>,
) -> Result<Arc<dyn Authenticator>, AuthError> {
    let AuthenticatorOptions { auth, keys, audit, trusted_nodes, listens_on, public_url, mesh_audience } =
        options;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let mut audiences = CallAudience::of_node(listens_on, public_url);
    audiences.extend(mesh_audience);
    if !trusted_nodes.is_empty() && audiences.is_empty() {
        tracing::warn!(
            "[mesh] trust has no effect: the server listens on every address, and only [server] public_url \
             says which calls are for it"
        );
    }
    let trust = CallTokenVerifierOptions { trusted_keys: trusted_nodes, audiences, clock: clock.clone() };
    let calls = CallTokenVerifier::new(trust);
    Ok(Arc::new(ServerAuthenticator::open(auth, keys, clock, calls, audit).await?))
}
