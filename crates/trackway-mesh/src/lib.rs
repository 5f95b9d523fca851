//! Agents of other processes: who they are, whether they answer, and how to call them.
//!
//! [`PeerRegistry`] is the one list of peers. They come from the configuration, from people (`trackway peers
//! add`), and from discovery elsewhere ([`PeerRegistry::update_discovered`]). One task per registry keeps the
//! cards up to date. Everybody else takes a [`PeerSnapshot`] and waits for notifications.
//!
//! [`PeerTools`] makes a tool of each peer.
//!
//! [`CallTokenSigner`] says for whom this node calls another, [`CallTokenVerifier`] reads what others say.

mod added_peers;
mod call_token;
mod card_classification;
mod mesh_options;
mod peer;
mod peer_error;
mod peer_name;
mod peer_registry;
mod peer_snapshot;
mod peer_tools;

pub use added_peers::{AddedPeer, AddedPeers, AddedPeersError};
pub use call_token::{
    CallAudience, CallClaims, CallTokenRefusal, CallTokenSigner, CallTokenVerifier, CallTokenVerifierOptions,
    InvalidNodePublicKey, MalformedCallToken, NodeKeyError, NodeKeys, NodePublicKey, ReceivedCall,
};
pub use mesh_options::{ConfiguredPeer, MeshOptions, PeerAddress, PeerCredentials};
pub use peer::{PEER_TOOL_PREFIXES, Peer, PeerHealth, PeerKind, PeerSource};
pub use peer_error::PeerError;
pub use peer_name::{InvalidPeerName, PeerName};
pub use peer_registry::{
    AddedOutcome, DiscoveredPeer, MeshConfiguration, NewPeer, PEERS_MAX, PeerRegistry, PeerRegistryOptions,
    normalize_peer_url,
};
pub use peer_snapshot::PeerSnapshot;
pub use peer_tools::{PeerTaskReleaser, PeerTools, PeerToolsOptions};
