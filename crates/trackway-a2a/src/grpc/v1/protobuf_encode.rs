//! Encodes messages, tasks and stream items.

use trackway_a2a_wire::part_name_and_media_type;
use trackway_domain::{FileSource, Message, MessagePartContent, MessageRole, Part, RunId};

use crate::{
    grpc::{
        encoding_macros,
        pb::v1::{self as pb, part::Content as Written},
        protobuf_value,
    },
    operations::{DirectReply, TaskPage, TaskRef},
};

encoding_macros::task_encoding! { message: Message, status: message, canceled: Canceled }

pub(super) fn encode_task_page(outcome: &AgentCallOutcome) -> Option<pb::ListTasksResponse> {
    let AgentCallOutcome::Page { page: TaskPage { tasks, next, size, total }, history, artifacts } = outcome
    else {
        return None;
    };
    let listed = |snapshot: &TaskSnapshot| {
        let mut task = encode_task(snapshot, &snapshot.task_ref(), *history);
        if !artifacts {
            task.artifacts.clear();
        }
        task
    };
    Some(pb::ListTasksResponse {
        tasks: tasks.iter().map(listed).collect(),
        next_page_token: next.clone(),
        page_size: i32::try_from(*size).unwrap_or(i32::MAX),
        total_size: i32::try_from(*total).unwrap_or(i32::MAX),
    })
}

/// The state of a filter; none if it is unspecified, the number itself if it is not a state.
pub(super) fn decode_state_filter(number: i32) -> Result<Option<StateName>, i32> {
    let named = pb::TaskState::try_from(number).map_err(|_| number)?;
    Ok(StateName::ALL
        .into_iter()
        .find(|known| named != pb::TaskState::Unspecified && encode_state(*known) == named))
}

fn encode_message_with_ids(message: &Message, context_id: &str, task: Option<RunId>) -> pb::Message {
    pb::Message {
        message_id: message.id.to_string(),
        context_id: context_id.to_owned(),
        task_id: task.map(|run| run.to_string()).unwrap_or_default(),
        role: encode_role(message.role).into(),
        parts: message.parts.iter().map(encode_part).collect(),
        metadata: protobuf_value::encode_metadata(&message.metadata),
        extensions: message.extensions.clone(),
        reference_task_ids: message.references.clone(),
    }
}

fn encode_part(part: &Part) -> pb::Part {
    let (content, name, mime_type) = match &part.content {
        MessagePartContent::Text(text) => {
            let (name, mime_type) = part_name_and_media_type(&part.metadata);
            (Written::Text(text.clone()), name, mime_type)
        }
        MessagePartContent::Data(data) => {
            let (name, mime_type) = part_name_and_media_type(&part.metadata);
            (Written::Data(protobuf_value::encode_protobuf_value(data)), name, mime_type)
        }
        MessagePartContent::File(file) => {
            let source = match &file.source {
                FileSource::Base64(text) => Written::Raw(protobuf_value::decode_base64(text)),
                FileSource::Uri(uri) => Written::Url(uri.clone()),
            };
            (source, file.name.as_deref(), file.mime_type.as_deref())
        }
    };
    pb::Part {
        content: Some(content),
        metadata: protobuf_value::encode_metadata(&part.metadata),
        filename: name.unwrap_or_default().to_owned(),
        media_type: mime_type.unwrap_or_default().to_owned(),
    }
}
