//! Encodes messages, tasks and stream items.

use serde_json::Value;
use trackway_a2a_wire::{DATA_PART_COMPAT, metadata_with_referenced_tasks};
use trackway_domain::{FileSource, Message, MessagePartContent, MessageRole, Object, Part, RunId};

use crate::{
    grpc::{
        encoding_macros,
        pb::v03::{self as pb, file_part::File as Source, part::Part as Written},
        protobuf_value,
    },
    operations::{DirectReply, TaskRef},
};

encoding_macros::task_encoding! { message: Msg, status: update, canceled: Cancelled, last: r#final }

fn encode_message_with_ids(message: &Message, context_id: &str, task: Option<RunId>) -> pb::Message {
    pb::Message {
        message_id: message.id.to_string(),
        context_id: context_id.to_owned(),
        task_id: task.map(|run| run.to_string()).unwrap_or_default(),
        role: encode_role(message.role).into(),
        content: message.parts.iter().map(encode_part).collect(),
        metadata: protobuf_value::encode_metadata(&metadata_with_referenced_tasks(message)),
        extensions: message.extensions.clone(),
    }
}

fn encode_part(part: &Part) -> pb::Part {
    let mut metadata = part.metadata.clone();
    let written = match &part.content {
        MessagePartContent::Text(text) => Written::Text(text.clone()),
        MessagePartContent::Data(Value::Object(fields)) => encode_data_part(fields),
        // Data of this generation is an object; any other value is wrapped and marked.
        MessagePartContent::Data(other) => {
            metadata.insert(DATA_PART_COMPAT.to_owned(), true.into());
            encode_data_part(&Object::from_iter([("value".to_owned(), other.clone())]))
        }
        MessagePartContent::File(file) => {
            let source = match &file.source {
                FileSource::Base64(text) => Source::FileWithBytes(protobuf_value::decode_base64(text)),
                FileSource::Uri(uri) => Source::FileWithUri(uri.clone()),
            };
            Written::File(pb::FilePart {
                file: Some(source),
                mime_type: file.mime_type.clone().unwrap_or_default(),
                name: file.name.clone().unwrap_or_default(),
            })
        }
    };
    pb::Part { part: Some(written), metadata: protobuf_value::encode_metadata(&metadata) }
}

fn encode_data_part(fields: &Object) -> Written {
    Written::Data(pb::DataPart { data: Some(protobuf_value::encode_protobuf_struct(fields)) })
}
