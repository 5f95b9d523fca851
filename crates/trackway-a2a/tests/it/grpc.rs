//! The gRPC binding over a real socket, with generated clients.

mod errors;
mod line;
mod reflection;
mod v03;
mod v1;
