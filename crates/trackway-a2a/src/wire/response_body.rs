//! Writes the outcome of a call: the result on JSON-RPC, the whole body on HTTP+JSON.

use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::Value;
use trackway_a2a_wire::{JsonDialect, WirePushConfig};

use super::{wire_stream_item::WireStreamItem, wire_task::WireTask};
use crate::operations::{
    AgentCallOutcome, HistoryLength, PushNotificationConfig, SendReply, TaskPage, TaskSnapshot,
};

/// Every outcome except streams, which are written event by event.
#[derive(Debug)]
pub(crate) struct ResponseBody<'a> {
    pub(crate) outcome: &'a AgentCallOutcome,
    /// The card of an [`AgentCallOutcome::ExtendedCard`].
    pub(crate) card: &'a Value,
    pub(crate) dialect: JsonDialect,
}

impl Serialize for ResponseBody<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let dialect = self.dialect;
        match self.outcome {
            AgentCallOutcome::Reply(SendReply::Task(snapshot), history) => {
                let place = snapshot.task_ref();
                let task = WireTask::new(snapshot, &place, *history, dialect);
                WireStreamItem::from_task(task, dialect).serialize(serializer)
            }
            AgentCallOutcome::Reply(SendReply::Message(said), _) => {
                WireStreamItem::from_direct_reply(said, dialect).serialize(serializer)
            }
            AgentCallOutcome::Task(snapshot, history) => {
                WireTask::new(snapshot, &snapshot.task_ref(), *history, dialect).serialize(serializer)
            }
            AgentCallOutcome::Page { page, history, artifacts } => {
                serialize_task_page(page, *history, *artifacts, dialect, serializer)
            }
            AgentCallOutcome::Push { task, push } => {
                WireTaskPushConfig { task, push, dialect }.serialize(serializer)
            }
            AgentCallOutcome::Pushes { task, pushes, next } => {
                let configs = pushes.iter().map(|push| WireTaskPushConfig { task, push, dialect });
                if dialect == JsonDialect::V03 {
                    return serializer.collect_seq(configs);
                }
                let mut fields = serializer.serialize_map(None)?;
                fields.serialize_entry("configs", &configs.collect::<Vec<_>>())?;
                if dialect == JsonDialect::V1 {
                    fields.serialize_entry("nextPageToken", next)?;
                }
                fields.end()
            }
            AgentCallOutcome::ExtendedCard => self.card.serialize(serializer),
            AgentCallOutcome::Done | AgentCallOutcome::Stream(..) if dialect == JsonDialect::V03 => {
                serializer.serialize_unit()
            }
            AgentCallOutcome::Done | AgentCallOutcome::Stream(..) => serializer.serialize_map(Some(0))?.end(),
        }
    }
}

/// Only 1.0 lists tasks.
fn serialize_task_page<S: Serializer>(
    page: &TaskPage,
    history: HistoryLength,
    artifacts: bool,
    dialect: JsonDialect,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let places: Vec<_> = page.tasks.iter().map(TaskSnapshot::task_ref).collect();
    let tasks =
        page.tasks.iter().zip(&places).map(|(snapshot, place)| {
            WireTask::new(snapshot, place, history, dialect).for_task_list(artifacts)
        });
    let mut fields = serializer.serialize_map(Some(4))?;
    fields.serialize_entry("tasks", &tasks.collect::<Vec<_>>())?;
    fields.serialize_entry("nextPageToken", &page.next)?;
    fields.serialize_entry("pageSize", &page.size)?;
    fields.serialize_entry("totalSize", &page.total)?;
    fields.end()
}

/// A configuration and its task.
struct WireTaskPushConfig<'a> {
    task: &'a str,
    push: &'a PushNotificationConfig,
    dialect: JsonDialect,
}

impl Serialize for WireTaskPushConfig<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { task, push, dialect } = *self;
        let id = push.id.as_deref().unwrap_or_default();
        let known = push.authentication.as_ref();
        let config = WirePushConfig {
            id: if dialect == JsonDialect::V03 { push.id.as_deref() } else { Some(id) },
            url: &push.url,
            token: push.token.as_deref(),
            authentication: known.map(|known| (&*known.scheme, known.credentials.as_deref())),
            task: (dialect == JsonDialect::V1).then_some(task),
            generation: dialect.protocol_version(),
        };
        let mut fields = match dialect {
            JsonDialect::V1 => return config.serialize(serializer),
            JsonDialect::V03 | JsonDialect::V03Protobuf => serializer.serialize_map(Some(2))?,
        };
        if dialect == JsonDialect::V03 {
            fields.serialize_entry("taskId", task)?;
        } else {
            let name = format!("tasks/{task}/pushNotificationConfigs/{id}");
            fields.serialize_entry("name", &name)?;
        }
        fields.serialize_entry("pushNotificationConfig", &config)?;
        fields.end()
    }
}
