//! `trackway runs …`: runs that exist.

pub(super) mod adopt;
pub(super) mod cancel;
pub(super) mod fork;
mod guided;
pub(super) mod list;
pub(super) mod migrate;
pub(super) mod replay_check;
pub(super) mod resume;
pub(super) mod show;
