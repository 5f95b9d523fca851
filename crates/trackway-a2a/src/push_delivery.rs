//! Push: sends updates to a client's server over HTTP. Clients choose the addresses, so every request
//! goes through a policy that checks the address at connection time.

mod sender;
mod signature;
mod target;

pub(crate) use sender::is_header_text;
pub use sender::{PushSender, PushSenderOptions};
pub(crate) use target::{PushCredentials, PushTarget};
pub use trackway_outgoing::AddressPolicy;
