//! The JSON of the A2A protocol: one model for all that write or read it.
//!
//! A [`Dialect`] is a generation of the protocol on a binding. Types that are written borrow from the
//! domain's and know their dialect; what the dialects write alike is written by one function.

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
