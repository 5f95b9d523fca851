//! Sessions in real stores: read, moved to another store, refused, removed.

mod bundles;
mod reading;
mod retention;
mod session_store;
