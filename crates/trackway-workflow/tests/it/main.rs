//! What the compiler refuses.

mod compile_fail;
