//! Workflows written down as YAML or JSON.
//!
//! A file is read into a [`Definition`] in its normal form, which is hashed and pinned; the interpreter
//! walks it for two drivers: the *caller* (an outside agent that holds tokens) and the *engine*. There
//! is no IO here, no clock and no async: files are handed in as text, and time and ids by the caller.

mod asked;
mod assessment;
mod choice;
mod condition;
mod contract;
mod contracts;
mod criteria;
mod documents;
pub mod drive;
pub mod effort;
mod expression;
mod facts;
mod fault;
mod flaw;
mod guide;
mod lack;
pub mod model;
mod normal;
mod pattern;
mod published;
mod read;
mod reads;
mod schema;
mod shallow;
mod shape;
mod suggest;
mod template;
#[cfg(test)]
mod testing;
mod text;
mod walk;

pub use fault::Fault;
pub use guide::{advance, open, repin};
pub use model::Definition;
pub use published::file_schema;
pub use read::{Draft, Format, Unreadable, read};
pub use schema::{Filling, example_value, resolved};
pub use suggest::nearest;
pub use text::{Located, TEXT_MAX, locate};
