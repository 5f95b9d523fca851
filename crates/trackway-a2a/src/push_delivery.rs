//! Push: sends updates to a client's server over HTTP. Clients choose the addresses, so every request
//! goes through a policy that checks the address at connection time.

mod push_sender;
mod push_signature;
mod push_target;

pub(crate) use push_sender::is_valid_header_text;
pub use push_sender::{PushSender, PushSenderOptions};
pub(crate) use push_target::{PushCredentials, PushTarget};
pub use trackway_outgoing::AddressPolicy;
