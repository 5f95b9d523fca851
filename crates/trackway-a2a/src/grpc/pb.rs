//! What the build script made of the `.proto` files.

/// Protocol 1.0.
#[allow(
    clippy::all,
    missing_debug_implementations,
    unreachable_pub,
    reason = "generated code is as its generator writes it"
)]
pub(crate) mod v1 {
    tonic::include_proto!("lf.a2a.v1");
}

/// Protocol 0.3.
#[allow(
    clippy::all,
    missing_debug_implementations,
    unreachable_pub,
    reason = "generated code is as its generator writes it"
)]
pub(crate) mod v03 {
    tonic::include_proto!("a2a.v1");
}

/// Both, as data: what reflection tells.
pub(crate) const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));
