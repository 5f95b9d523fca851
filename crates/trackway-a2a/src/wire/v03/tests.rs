//! What goes out.

mod task;
mod update;
