//! The code that `cargo xtask generate` creates from the `.proto` files.

/// Protocol 1.0.
#[allow(
    clippy::all,
    missing_debug_implementations,
    unreachable_pub,
    reason = "generated code is as its generator writes it"
)]
pub(crate) mod v1 {
    include!("../../proto/generated/lf.a2a.v1.rs");
}

/// Protocol 0.3.
#[allow(
    clippy::all,
    missing_debug_implementations,
    unreachable_pub,
    reason = "generated code is as its generator writes it"
)]
pub(crate) mod v03 {
    include!("../../proto/generated/a2a.v1.rs");
}

/// The descriptors of both, for reflection.
pub(crate) const DESCRIPTORS: &[u8] = include_bytes!("../../proto/generated/descriptors.bin");
