//! Push: telling a client's server of updates over HTTP. The addresses are chosen by clients, so every
//! request goes through a policy that is applied to the address that is connected to.

mod outgoing;
mod signature;
mod target;

pub(crate) use outgoing::is_header_text;
pub use outgoing::{Outgoing, OutgoingOptions};
pub(crate) use target::{Credentials, Target};
pub use trackway_outgoing::AddressPolicy;
