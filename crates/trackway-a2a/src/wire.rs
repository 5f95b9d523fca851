//! Parses requests and writes answers. Each generation has a folder for its requests, converted by hand
//! to domain types; answers have one form that knows the dialects.

mod answer;
pub(crate) mod details;
pub(crate) mod metadata;
mod object;
#[cfg(test)]
mod samples;
pub(crate) mod sent;
mod task;
mod update;
pub(crate) mod v03;
pub(crate) mod v1;

pub(crate) use answer::Answer;
pub(crate) use task::Task;
pub(crate) use update::StreamItem;

#[cfg(test)]
mod tests;
