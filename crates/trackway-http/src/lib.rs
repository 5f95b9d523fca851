//! What every door over HTTP shares, so that a new door is its routes and nothing else.
//!
//! A handler takes [`Authenticated`], [`Body`] and [`Params`] from the request and gives back a
//! [`Refusal`] where it does not do what was asked. [`sse`] streams events, [`origin`] keeps pages of
//! other sites out, [`catch_panics`] turns a panic into an answer. A server takes the routes as a [`Door`].
//! Nothing here knows a route.

mod authenticated;
mod door;
mod extract;
pub mod origin;
mod problem;
pub mod sse;

pub use authenticated::{Authenticated, Gate, identify};
pub use door::Door;
pub use extract::{Body, Params};
pub use problem::{Refusal, catch_panics, problem};
