//! HMAC-SHA256 over a delivery's body, so that a receiver can verify the sender.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

/// The header's value for this body: `sha256=` and the digest in hex.
pub(super) fn push_hmac_signature(secret: &[u8], body: &[u8]) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).expect("HMAC takes keys of any length");
    mac.update(body);
    let digest = mac.finalize().into_bytes();
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256={hex}")
}

#[cfg(test)]
mod tests;
