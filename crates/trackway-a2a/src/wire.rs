//! Parses requests and writes answers. Each generation has a folder for its requests, converted by hand
//! to domain types; answers have one form that knows the dialects.

pub(crate) mod client_message;
pub(crate) mod error_details;
mod invocation_metadata;
mod json_object;
mod response_body;
pub(crate) mod trackway_metadata;
pub(crate) mod v03;
pub(crate) mod v1;
#[cfg(test)]
mod wire_samples;
mod wire_stream_item;
mod wire_task;

pub(crate) use response_body::ResponseBody;
pub(crate) use wire_stream_item::WireStreamItem;
pub(crate) use wire_task::WireTask;

#[cfg(test)]
mod tests;
