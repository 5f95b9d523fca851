//! Parses requests and writes answers. Each generation has a folder for its requests, converted by hand
//! to domain types; answers have one form that knows the dialects.

pub(crate) mod error_details;
mod json_object;
pub(crate) mod metadata;
mod response_body;
#[cfg(test)]
mod samples;
pub(crate) mod sent_message;
mod task;
mod update;
pub(crate) mod v03;
pub(crate) mod v1;

pub(crate) use response_body::ResponseBody;
pub(crate) use task::WireTask;
pub(crate) use update::WireStreamItem;

#[cfg(test)]
mod tests;
