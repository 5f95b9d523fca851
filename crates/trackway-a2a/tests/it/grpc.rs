//! The gRPC binding over a real socket, with generated clients.

mod errors;
mod grpc_server;
mod push;
mod reflection;
mod v03;
mod v1;
