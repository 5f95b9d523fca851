//! The key ring of a store: signs tokens, proves them, and signs session bundles.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use data_encoding::HEXLOWER;
use ed25519_dalek::{Signer as _, SigningKey};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};
use trackway_domain::Timestamp;
use trackway_ports::{KeyRevision, KeyStore};

use super::{
    token_codec::{self, AttemptRef, KeyId, NodeRef, SigningSecret, UnverifiedToken},
    token_error::{TokenError, TokenErrorKind, TokenParameter},
    token_keys::{KeyRingError, KeysOrigin, TokenKey, TokenKeyDocument, TokenKeys},
};

/// The keys of a store. Other processes may rotate them at any time: whoever serves a call asks for their
/// revision once, at its beginning ([`Self::reload_if_changed`]), and they are loaded if that has changed.
pub struct KeyRing {
    document: TokenKeyDocument,
    /// A `std` lock: it is held for a moment, and never while the store is asked.
    loaded: Mutex<LoadedKeys>,
    /// Held while keys are loaded, so that earlier ones do not replace later ones.
    loading: tokio::sync::Mutex<()>,
    origin: KeysOrigin,
}

struct LoadedKeys {
    revision: KeyRevision,
    contents: TokenKeys,
}

/// What a rotation did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRotation {
    /// The key that signs from now on.
    pub active: String,
    /// Keys whose tokens are still accepted, oldest first.
    pub valid: Vec<String>,
    /// Keys whose tokens this rotation made invalid.
    pub retired: Vec<String>,
}

/// A key for a purpose of its own, derived from a key that signs tokens.
#[derive(Clone, PartialEq, Eq)]
pub struct PurposeKey {
    /// The name of the key that it is derived from.
    pub name: String,
    /// None if that key is retired.
    pub secret: Option<[u8; 32]>,
}

/// Signs session bundles, so that an import can check that a bundle is unaltered.
pub struct BundleSigner(SigningKey);

impl KeyRing {
    /// The keys of this store, created if there are none.
    pub async fn open(store: Arc<dyn KeyStore>, now: Timestamp) -> Result<Self, KeyRingError> {
        let document = TokenKeyDocument::in_store(store);
        let (revision, contents, origin) = document.load_or_create(now).await?;
        if origin == KeysOrigin::Recreated {
            tracing::warn!(
                "this folder had keys for tokens, and they are gone: new ones are made, and earlier tokens \
                 are foreign; workflow_resume and `trackway runs fork RUN` give new ones"
            );
        }
        // Reported and not changed: it may be intended, and whoever has read the keys has them.
        if let Some(mode) = document.inspect().await?.exposed_permissions {
            tracing::warn!(
                path = %document.location(),
                %mode,
                "others can get at the keys for tokens: let only their owner read them (chmod 600), \
                 and sign with a new one (trackway keys rotate)"
            );
        }
        Ok(Self::with_loaded(document, LoadedKeys { revision, contents }, origin))
    }

    /// The keys of this store, if it has any. Nothing is created.
    pub async fn open_existing(store: Arc<dyn KeyStore>) -> Result<Option<Self>, KeyRingError> {
        let document = TokenKeyDocument::in_store(store);
        let found = document.load().await?;
        Ok(found.map(|(revision, contents)| {
            Self::with_loaded(document, LoadedKeys { revision, contents }, KeysOrigin::Found)
        }))
    }

    fn with_loaded(document: TokenKeyDocument, loaded: LoadedKeys, origin: KeysOrigin) -> Self {
        Self { document, loaded: Mutex::new(loaded), loading: tokio::sync::Mutex::default(), origin }
    }

    /// A new key signs from here on. Tokens of the earlier keys stay good, except of those that have
    /// not signed for so long: these lose their secret and keep their name.
    pub async fn rotate(
        store: Arc<dyn KeyStore>,
        now: Timestamp,
        retire_older_than: Option<Duration>,
    ) -> Result<KeyRotation, KeyRingError> {
        let rotate = |contents: &mut TokenKeys| {
            if let Some(last) = contents.keys.last_mut() {
                last.replaced_at = Some(now);
            }
            let mut retired = Vec::new();
            for key in &mut contents.keys {
                let idle = now.duration_since(key.replaced_at.unwrap_or(now));
                if key.secret.is_some() && retire_older_than.is_some_and(|most| idle >= most) {
                    key.secret = None;
                    retired.push(format_key_name(key.id));
                }
            }
            let valid = contents.keys.iter().filter(|key| key.secret.is_some());
            let valid = valid.map(|key| format_key_name(key.id)).collect();
            let mut fresh = TokenKey::generate(now)?;
            // Ids are short, and the id is the only name of the key in a token.
            while contents.keys.iter().any(|key| key.id == fresh.id) {
                fresh = TokenKey::generate(now)?;
            }
            let active = format_key_name(fresh.id);
            contents.keys.push(fresh);
            Ok(KeyRotation { active, valid, retired })
        };
        TokenKeyDocument::in_store(store).update(now, rotate).await
    }

    /// Loads what another process may have changed.
    ///
    /// A document that is gone is written again: without it, every token of these keys would end with this
    /// process.
    pub async fn reload_if_changed(&self) {
        match self.document.revision().await {
            Ok(Some(revision)) if revision == self.lock_loaded_keys().revision => {}
            Ok(None) => self.rewrite_missing_document().await,
            Ok(Some(_)) | Err(_) => self.reload_and_detect_key_change().await,
        }
    }

    /// Loads the keys again if there is none of this name: another process may have made it and signed
    /// with it since this call began.
    pub(crate) async fn ensure_key(&self, name: &str) {
        if find_signing_key_by_name(&self.lock_loaded_keys().contents, name).is_none() {
            self.reload_if_changed().await;
        }
    }

    /// Whether this opening created new keys in a folder that had some before: tokens of those are foreign.
    pub fn has_replaced_lost_keys(&self) -> bool {
        self.origin == KeysOrigin::Recreated
    }

    /// Name of the key that signs now.
    pub fn active_key_name(&self) -> String {
        format_key_name(newest_key(&self.lock_loaded_keys().contents).0)
    }

    /// The token of a node, signed with the key of this name, or with the newest if that key is retired.
    pub fn sign_state_token(&self, node: NodeRef, key: &str) -> String {
        let (id, key) = self.find_signing_key(key);
        token_codec::encode_state_token(id, &key, node)
    }

    /// The token of an attempt, signed in the same way.
    pub fn sign_ack_token(&self, ack: AttemptRef, key: &str) -> String {
        let (id, key) = self.find_signing_key(key);
        token_codec::encode_ack_token(id, &key, ack)
    }

    pub fn verify_state_token(&self, text: &str) -> Result<NodeRef, TokenError> {
        self.verify_token(TokenParameter::State, text).map(|token| token.decode_node_ref())
    }

    /// Reads an ack token that was sent with the state token of this node.
    pub fn verify_ack_token(&self, text: &str, at: NodeRef) -> Result<AttemptRef, TokenError> {
        let proved = self.verify_token(TokenParameter::Ack, text)?;
        proved.decode_attempt_ref(at).map_err(|fault| TokenError { param: TokenParameter::Ack, fault })
    }

    /// Hashes of the tokens of a node, one for each accepted key, the newest key first. A person who has a
    /// token from a chat finds the node by it.
    pub fn state_token_hashes(&self, node: NodeRef) -> Vec<String> {
        let seen = self.lock_loaded_keys();
        let tokens =
            usable_keys(&seen.contents).map(|(id, key)| token_codec::encode_state_token(id, &key, node));
        tokens.map(|token| token_hash(&token)).collect()
    }

    /// The same for an ack.
    pub fn ack_token_hashes(&self, ack: AttemptRef) -> Vec<String> {
        let seen = self.lock_loaded_keys();
        let tokens =
            usable_keys(&seen.contents).map(|(id, key)| token_codec::encode_ack_token(id, &key, ack));
        tokens.map(|token| token_hash(&token)).collect()
    }

    pub fn bundle_signer(&self) -> BundleSigner {
        BundleSigner(SigningKey::from_bytes(&self.lock_loaded_keys().contents.bundle))
    }

    /// A key for a purpose of its own, the same in every process on this store and after a rotation.
    pub(crate) fn derive_key_for_purpose(&self, purpose: &[u8]) -> [u8; 32] {
        derive_secret(&self.lock_loaded_keys().contents.bundle, purpose)
    }

    /// A key for this purpose from each key that signs or signed tokens, the newest first. They are rotated
    /// and retired with those.
    pub fn derive_rotated_keys(&self, purpose: &[u8]) -> Vec<PurposeKey> {
        let loaded = self.lock_loaded_keys();
        let derive = |key: &TokenKey| PurposeKey {
            name: format_key_name(key.id),
            secret: key.secret.as_ref().map(|secret| derive_secret(secret, purpose)),
        };
        loaded.contents.keys.iter().rev().map(derive).collect()
    }

    fn verify_token(&self, param: TokenParameter, text: &str) -> Result<UnverifiedToken, TokenError> {
        let proved =
            token_codec::decode_token(param, text).and_then(|token| self.check_token_signature(token));
        proved.map_err(|fault| {
            // A valid token in the wrong parameter is not altered, so the error says which kind it is.
            let other = token_codec::decode_token(param.other_parameter(), text)
                .and_then(|token| self.check_token_signature(token));
            let fault = match other {
                Ok(_) => TokenErrorKind::Swapped { is: param.other_parameter() },
                Err(TokenErrorKind::Malformed { .. }) => fault,
                Err(other) => other,
            };
            TokenError { param, fault }
        })
    }

    fn check_token_signature(&self, token: UnverifiedToken) -> Result<UnverifiedToken, TokenErrorKind> {
        verify_token_with_keys(&self.lock_loaded_keys().contents, &token)?;
        Ok(token)
    }

    /// The key of this name. A retired one signs no more, and the newest does.
    fn find_signing_key(&self, key_name: &str) -> (KeyId, SigningSecret) {
        let loaded = self.lock_loaded_keys();
        find_signing_key_by_name(&loaded.contents, key_name).unwrap_or_else(|| newest_key(&loaded.contents))
    }

    fn lock_loaded_keys(&self) -> MutexGuard<'_, LoadedKeys> {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn rewrite_missing_document(&self) {
        let _loading = self.loading.lock().await;
        let before = self.lock_loaded_keys().contents.clone();
        match self.document.rewrite_if_missing(&before).await {
            Ok((revision, contents)) => {
                if contents == before {
                    tracing::warn!("the file of keys for tokens was gone; it is written again");
                } else {
                    tracing::error!(
                        "the token key file was replaced by another process: tokens of the \
                         earlier keys are foreign here from now on"
                    );
                }
                *self.lock_loaded_keys() = LoadedKeys { revision, contents };
            }
            Err(error) => {
                tracing::error!(%error, "the token key file is missing; the loaded keys stay in use")
            }
        }
    }

    /// A document that is gone or damaged changes nothing here: the keys that were read still are the keys.
    async fn reload_and_detect_key_change(&self) {
        let _loading = self.loading.lock().await;
        match self.document.load().await {
            Ok(Some((revision, contents))) => *self.lock_loaded_keys() = LoadedKeys { revision, contents },
            Ok(None) => tracing::error!("the file of keys for tokens is gone; the ones read stay"),
            Err(error) => tracing::error!(%error, "the keys for tokens that were read stay"),
        }
    }
}

impl fmt::Debug for KeyRing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyRing").field("document", &self.document).finish_non_exhaustive()
    }
}

/// The secret is not printed.
impl fmt::Debug for PurposeKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PurposeKey").field("name", &self.name).finish_non_exhaustive()
    }
}

impl BundleSigner {
    pub fn sign_bundle_bytes(&self, bytes: &[u8]) -> [u8; 64] {
        self.0.sign(bytes).to_bytes()
    }

    pub fn bundle_public_key(&self) -> [u8; 32] {
        self.0.verifying_key().to_bytes()
    }
}

impl fmt::Debug for BundleSigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BundleSigner({})", HEXLOWER.encode(&self.bundle_public_key()))
    }
}

fn verify_token_with_keys(contents: &TokenKeys, token: &UnverifiedToken) -> Result<(), TokenErrorKind> {
    match contents.keys.iter().find(|key| key.id == token.key) {
        Some(TokenKey { secret: None, .. }) => Err(TokenErrorKind::Expired),
        Some(TokenKey { id, secret: Some(key), .. }) => {
            if token.is_signed_by(*id, key) {
                Ok(())
            } else {
                Err(TokenErrorKind::Altered)
            }
        }
        None => {
            // Signed by one of our keys, but the name of the key in it was altered.
            let ours = contents
                .keys
                .iter()
                .any(|key| key.secret.as_ref().is_some_and(|secret| token.is_signed_by(key.id, secret)));
            Err(if ours { TokenErrorKind::Altered } else { TokenErrorKind::Foreign })
        }
    }
}

fn derive_secret(secret: &SigningSecret, purpose: &[u8]) -> [u8; 32] {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).expect("a key may have any length");
    mac.update(purpose);
    mac.finalize().into_bytes().into()
}

fn usable_keys(contents: &TokenKeys) -> impl Iterator<Item = (KeyId, SigningSecret)> {
    contents.keys.iter().rev().filter_map(|key| Some((key.id, key.secret?)))
}

fn find_signing_key_by_name(contents: &TokenKeys, signing_key_name: &str) -> Option<(KeyId, SigningSecret)> {
    usable_keys(contents).find(|(id, _)| format_key_name(*id) == signing_key_name)
}

fn newest_key(contents: &TokenKeys) -> (KeyId, SigningSecret) {
    usable_keys(contents).next().expect("a ring is read only when its last key can sign")
}

/// The name of a token in views: enough to recognise the token, not to use it.
fn token_hash(token: &str) -> String {
    format!("sha256-{}", HEXLOWER.encode(&Sha256::digest(token)))
}

fn format_key_name(id: KeyId) -> String {
    HEXLOWER.encode(&id)
}

#[cfg(test)]
mod tests;
