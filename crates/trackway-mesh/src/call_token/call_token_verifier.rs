//! Reads the tokens of calls to this node.

use std::{sync::Arc, time::Duration};

use trackway_ports::Clock;

use super::{CallAudience, CallClaims, NodePublicKey, call_token_signer::LIFETIME, compact_jws::CompactJws};

/// How far the clocks of two nodes may differ.
/// Limit (Mesh): difference between the clocks of two nodes that a call token may show.
const LEEWAY: Duration = Duration::from_secs(30);

/// Reads the tokens of calls to this node; cheap to clone.
#[derive(Debug, Clone)]
pub struct CallTokenVerifier(Arc<CallTokenVerifierOptions>);

#[derive(Debug)]
pub struct CallTokenVerifierOptions {
    /// The keys of nodes that are believed: `[mesh] trust`.
    pub trusted_keys: Vec<NodePublicKey>,
    /// The addresses of this node.
    pub audiences: Vec<CallAudience>,
    pub clock: Arc<dyn Clock>,
}

/// A text that is not a call token. It says nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the call token cannot be read: {0}")]
pub struct MalformedCallToken(pub(super) &'static str);

/// Why the caller in a token is not believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CallTokenRefusal {
    #[error("the key of its node is not in [mesh] trust")]
    UntrustedKey,
    #[error("its signature is wrong")]
    WrongSignature,
    #[error("it is for another node")]
    OtherAudience,
    #[error("it has expired")]
    Expired,
    #[error("it is from the future")]
    NotYetValid,
    #[error("it is valid for too long")]
    TooLongLived,
}

/// A call token as it was read.
#[derive(Debug, Clone, PartialEq)]
pub struct ReceivedCall {
    pub claims: CallClaims,
    /// Why its caller is not believed; `None` if it is. The chain of agents counts in any case.
    pub refusal: Option<CallTokenRefusal>,
}

impl ReceivedCall {
    /// Whether a node that we trust says for whom it calls us, now.
    pub const fn is_trusted(&self) -> bool {
        self.refusal.is_none()
    }
}

impl CallTokenVerifier {
    pub fn new(options: CallTokenVerifierOptions) -> Self {
        Self(Arc::new(options))
    }

    /// Reads the value of the header [`trackway_ports::CALL_TOKEN_HEADER`].
    pub fn read_call_token(&self, token: &str) -> Result<ReceivedCall, MalformedCallToken> {
        let mut jws = CompactJws::parse(token)?;
        let claims = CallClaims::from_json(jws.payload.take())?;
        let refusal = self.check_call(&jws, &claims).err();
        Ok(ReceivedCall { claims, refusal })
    }

    fn check_call(&self, jws: &CompactJws<'_>, claims: &CallClaims) -> Result<(), CallTokenRefusal> {
        let CallTokenVerifierOptions { trusted_keys, audiences, clock } = &*self.0;
        // Signatures of strangers are not worth the time that their check takes.
        if !trusted_keys.contains(&jws.signer) {
            return Err(CallTokenRefusal::UntrustedKey);
        }
        if !jws.has_valid_signature() {
            return Err(CallTokenRefusal::WrongSignature);
        }
        if !audiences.iter().any(|audience| audience.as_str() == claims.audience) {
            return Err(CallTokenRefusal::OtherAudience);
        }
        let now = clock.now();
        if claims.expires_at + LEEWAY <= now {
            return Err(CallTokenRefusal::Expired);
        }
        if claims.issued_at > now + LEEWAY {
            return Err(CallTokenRefusal::NotYetValid);
        }
        if claims.expires_at > claims.issued_at + LIFETIME {
            return Err(CallTokenRefusal::TooLongLived);
        }
        Ok(())
    }
}
