//! Protocol 1.0 (1.0.1): its JSON form, the same on JSON-RPC and on HTTP+JSON.
//!
//! The protocol is defined by its protobuf messages and their JSON form: fields with their default
//! value may be omitted, enums are written by name, and both spellings of a field name are accepted.

mod agent_call_parsing;
mod card_json;
mod json_integer;
mod message_parsing;
mod push_params;
mod request_params;

pub(crate) use agent_call_parsing::{
    parse_cancel_task, parse_get_push, parse_get_task, parse_list_pushes, parse_list_tasks,
    parse_remove_push, parse_send_message, parse_set_push, parse_stream_message, parse_subscribe_to_task,
};
pub(crate) use card_json::render_card_json;
pub(crate) use json_integer::JsonInteger;
pub(crate) use push_params::PushConfigParams;
pub(crate) use request_params::{
    GetTaskParams, ListPushesParams, ListTasksParams, PushIdParams, SendParams, TaskIdParams, TenantParams,
};
