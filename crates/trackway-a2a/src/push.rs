//! Push: sends updates to a client's server over HTTP. Clients choose the addresses, so every request
//! goes through a policy that checks the address at connection time.

mod outgoing;
mod signature;
mod target;

pub(crate) use outgoing::is_header_text;
pub use outgoing::{Outgoing, OutgoingOptions};
pub(crate) use target::{Credentials, Target};
pub use trackway_outgoing::AddressPolicy;
