//! Workflows written down as YAML or JSON.
//!
//! A file is read into a [`Definition`] in its normal form, which is hashed and pinned; the interpreter
//! walks it for two drivers: the *caller* (an outside agent that holds tokens) and the *engine*. There
//! is no IO here, no clock and no async: files are handed in as text, and time and ids by the caller.

#[allow(dead_code, reason = "the interpreter calls it")]
mod condition;
mod contracts;
#[allow(dead_code, reason = "the interpreter calls it")]
mod expression;
mod fault;
mod guide;
#[allow(dead_code, reason = "the interpreter calls it")]
mod lack;
pub mod model;
mod normal;
mod read;
mod shallow;
mod suggest;
#[allow(dead_code, reason = "the interpreter calls it")]
mod template;
mod text;

pub use fault::Fault;
pub use guide::{Standing, advance, open, repin};
pub use model::Definition;
pub use read::{Draft, Format, Unreadable, read};
