//! Sessions in real stores: read, carried to another one, refused, removed.

mod bundles;
mod reading;
mod retention;
mod session_store;
