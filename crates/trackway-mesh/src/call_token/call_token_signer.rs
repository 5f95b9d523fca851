//! Signs the calls of this node.

use std::{sync::Arc, time::Duration};

use trackway_domain::{CallChain, Caller};
use trackway_ports::{Clock, KeyStore};

use super::{CallAudience, CallClaims, NodeKeyError, NodeKeys, compact_jws};

/// How long a token can be used: the time for a request and its repetitions. A new request has a new token.
/// Limit (Mesh): time for which a signed call token is valid.
pub(super) const LIFETIME: Duration = Duration::from_secs(300);

/// Addresses of agents in a token: headers of some proxies end at 16 KiB.
/// Limit (Mesh): addresses of agents in a signed call token.
const ANCESTORS_BYTES_MAX: usize = 8 * 1024;

/// Signs the calls of this node; cheap to clone.
#[derive(Debug, Clone)]
pub struct CallTokenSigner {
    keys: NodeKeys,
    clock: Arc<dyn Clock>,
}

impl CallTokenSigner {
    /// The key of the store; it is made at the first call.
    pub fn in_store(store: Arc<dyn KeyStore>, clock: Arc<dyn Clock>) -> Self {
        Self { keys: NodeKeys::in_store(store), clock }
    }

    /// The value of the header [`trackway_ports::CALL_TOKEN_HEADER`] for one request to the node at
    /// `peer_url`, made for this caller. `call_chain` is what the receiver shall see. A token expires after
    /// minutes, so make one for every request, also when a stream is opened again.
    pub async fn sign_call(
        &self,
        peer_url: &str,
        caller: &Caller,
        call_chain: &CallChain,
    ) -> Result<String, NodeKeyError> {
        let now = self.clock.now();
        // An address that is none has no audience, and no node believes the token.
        let audience = CallAudience::of_url(peer_url);
        let audience = audience.as_ref().map_or("", CallAudience::as_str).to_owned();
        let claims = CallClaims {
            caller: caller.clone(),
            call_chain: shorten_chain(call_chain),
            audience,
            issued_at: now,
            expires_at: now + LIFETIME,
        };
        Ok(compact_jws::sign_payload(&self.keys.load_or_create().await?, &claims.to_json()))
    }
}

/// The chain as far as a token can hold it: its newest agents. The depth says how long it really is.
fn shorten_chain(chain: &CallChain) -> CallChain {
    let mut bytes = 0;
    let newest = chain.ancestors.iter().rev().take_while(|ancestor| {
        bytes += ancestor.len();
        bytes <= ANCESTORS_BYTES_MAX
    });
    let mut ancestors: Vec<String> = newest.cloned().collect();
    ancestors.reverse();
    CallChain { depth: chain.depth, ancestors }
}
