//! Documents for people: text in, the bytes of a file out.

pub mod pdf;
