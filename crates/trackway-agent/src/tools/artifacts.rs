//! `artifact_list`, `artifact_read` and `artifact_write`: what came of a conversation so far, and what the
//! model adds to it. A model can name runs of its own conversation only, and writes to its own turn only.

mod list;
mod read;
mod write;

pub(super) use list::ArtifactList;
pub(super) use read::ArtifactRead;
pub(super) use write::ArtifactWrite;

#[cfg(test)]
mod tests;
