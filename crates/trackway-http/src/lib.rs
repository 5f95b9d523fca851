//! What all HTTP doors share, so that a new door is only its routes.
//!
//! A handler takes [`Authenticated`], [`JsonBody`] and [`QueryParams`] from the request and returns an
//! [`HttpError`] if it refuses. [`sse`] streams events, [`origin`] blocks pages of other sites,
//! [`catch_panics`] turns a panic into an answer. A server takes the routes as a [`Door`]. This crate knows
//! no route.

mod authenticated;
mod door;
mod extract;
pub mod origin;
mod problem;
pub mod sse;

pub use authenticated::{Authenticated, OptionalAuthenticator, authenticate};
pub use door::Door;
pub use extract::{JsonBody, QueryParams};
pub use problem::{HttpError, catch_panics, problem_response};
