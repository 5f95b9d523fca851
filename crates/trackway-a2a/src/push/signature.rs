//! HMAC-SHA256 (RFC 2104) over a delivery's body: how a receiver knows that it comes from here.

use sha2::{Digest as _, Sha256};

/// What SHA-256 takes in at once.
const BLOCK_BYTES: usize = 64;

/// The header's value for this body: `sha256=` and the digest in hex.
pub(super) fn signature(secret: &[u8], body: &[u8]) -> String {
    let digest = hmac(secret, body);
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256={hex}")
}

fn hmac(secret: &[u8], body: &[u8]) -> [u8; 32] {
    let mut key = [0; BLOCK_BYTES];
    if secret.len() > BLOCK_BYTES {
        key[..32].copy_from_slice(&Sha256::digest(secret));
    } else {
        key[..secret.len()].copy_from_slice(secret);
    }
    let inner = Sha256::new().chain_update(key.map(|byte| byte ^ 0x36)).chain_update(body);
    let outer = Sha256::new().chain_update(key.map(|byte| byte ^ 0x5c));
    outer.chain_update(inner.finalize()).finalize().into()
}

#[cfg(test)]
mod tests;
