//! The engine drives definitions.
