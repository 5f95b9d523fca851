//! Sessions in real stores: read, carried to another one, refused, removed.

mod bundles;
mod kit;
mod reading;
mod retention;
