//! The JSON of the A2A protocol: one model for the server and the client.
//!
//! A [`Dialect`] is a generation of the protocol on a binding. Types that are written borrow from the
//! domain types and know their dialect. One function writes everything that the dialects have in
//! common.

mod dialect;
mod message;
mod part;
mod push;
mod read;

pub use dialect::{Dialect, Generation};
pub use message::{Artifact, Message};
pub use part::{DATA_PART_COMPAT, beside, take_references, unwrapped, with_references};
pub use push::PushConfig;
pub use read::{NotOneContent, PartV1};
