//! Workflows written down as YAML or JSON.
//!
//! A file is read into a [`Definition`] in its normal form, which is hashed and pinned; the interpreter
//! walks it for two drivers: the *caller* (an outside agent that holds tokens) and the *engine*. There
//! is no IO here, no clock and no async: files are handed in as text, and time and ids by the caller.

mod asked;
mod condition;
mod contract;
pub mod drive;
mod example;
mod expression;
mod fault;
mod guide;
mod lack;
pub mod model;
mod normal;
mod read;
mod template;
#[cfg(test)]
mod testing;
mod walk;

pub use fault::Fault;
pub use guide::{Standing, advance, open, repin};
pub use model::Definition;
pub use read::{Draft, Format, Unreadable, read};
