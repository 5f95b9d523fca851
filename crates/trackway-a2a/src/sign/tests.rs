//! Signatures are checked in tests/it with a key of their own.
