//! The signed call token: for whom a node calls another, and through which agents the call came.
//!
//! A node signs each of its calls with its own key ([`NodeKeys`]). The node that is called reads the token
//! ([`CallTokenVerifier`]). It believes the caller only if the key is one that its operator trusts; how long
//! the chain of agents is, it takes from everybody, because a lie could only be shorter than silence.
//!
//! The token is a compact JWS (RFC 7515) with the algorithm EdDSA and nothing else. It is the value of the
//! header `Trackway-Call`.

mod call_audience;
mod call_claims;
mod call_token_signer;
mod call_token_verifier;
mod compact_jws;
mod node_key;
mod node_public_key;

pub use call_audience::CallAudience;
pub use call_claims::CallClaims;
pub use call_token_signer::CallTokenSigner;
pub use call_token_verifier::{
    CallTokenRefusal, CallTokenVerifier, CallTokenVerifierOptions, MalformedCallToken, ReceivedCall,
};
pub use node_key::{NodeKeyError, NodeKeys};
pub use node_public_key::{InvalidNodePublicKey, NodePublicKey};

#[cfg(test)]
mod tests;
