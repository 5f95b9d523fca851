//! What all HTTP doors share, so that a new door is only its routes.
//!
//! A handler takes [`Authenticated`], [`JsonBody`] and [`QueryParams`] from the request and returns an
//! [`HttpError`] if it refuses. [`sse`] streams events, [`origin_checks`] blocks pages of other sites,
//! [`catch_panics`] turns a panic into an answer. A server takes the routes as a [`ProtocolDoor`]. This
//! crate knows no route.

mod authenticated;
pub mod origin_checks;
mod problem_details;
mod protocol_door;
mod request_extractors;
pub mod sse;

pub use authenticated::{Authenticated, OptionalAuthenticator, authenticate_headers};
pub use problem_details::{HttpError, catch_panics, problem_response};
pub use protocol_door::ProtocolDoor;
pub use request_extractors::{JsonBody, QueryParams};
