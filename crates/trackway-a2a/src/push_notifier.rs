//! Push notifications: the updates of a task as bodies of the generation that set the configuration.

use trackway_a2a_wire::JsonDialect;
use trackway_engine::RunView;
use trackway_ports::{Hook, PortFuture, StoredEvent};
use trackway_runtime::{HookDeliveryError, HookMessenger};

use crate::{
    operations::{PushNotificationConfig, TaskSnapshot, task_event_from_stored},
    protocol_version::ProtocolVersion,
    push_delivery::{PushCredentials, PushSender, PushTarget},
    request_options::HISTORY_MESSAGES_MAX,
    wire::{WireStreamItem, WireTask},
};

/// Notifies clients of updates over HTTP.
#[derive(Debug)]
pub struct PushNotifier {
    outgoing: PushSender,
}

impl PushNotifier {
    pub fn new(outgoing: PushSender) -> Self {
        Self { outgoing }
    }
}

impl HookMessenger for PushNotifier {
    fn hook_target_host(&self, hook: &Hook) -> String {
        let url = PushNotificationConfig::push_config_from_hook(hook)
            .and_then(|push| push.url.parse::<reqwest::Url>().ok());
        url.and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default()
    }

    fn deliver_hook_update<'a>(
        &'a self,
        hook: &'a Hook,
        stored: &'a StoredEvent,
        view: &'a RunView,
    ) -> PortFuture<'a, Result<(), HookDeliveryError>> {
        Box::pin(async move {
            let Some(push) = PushNotificationConfig::push_config_from_hook(hook) else {
                let reason = "the configuration cannot be read".to_owned();
                return Err(HookDeliveryError::Refused { reason });
            };
            let Some((content_type, body)) = push_notification_body(push.generation, stored, view) else {
                return Ok(());
            };
            self.outgoing.post_notification(&push_target_from_config(push), content_type, body).await
        })
    }
}

/// In 1.0 the update itself, as in a stream; in 0.3 the task after the update.
fn push_notification_body(
    generation: ProtocolVersion,
    stored: &StoredEvent,
    view: &RunView,
) -> Option<(&'static str, Vec<u8>)> {
    let (snapshot, _) =
        TaskSnapshot::snapshot_from_view(view.clone()).limit_history(HISTORY_MESSAGES_MAX, true);
    let place = snapshot.task_ref();
    let written = match generation {
        ProtocolVersion::V1 => {
            let item = task_event_from_stored(stored.clone())?;
            let item = WireStreamItem::new(&item, &place, HISTORY_MESSAGES_MAX, JsonDialect::V1);
            ("application/a2a+json", serde_json::to_vec(&item))
        }
        ProtocolVersion::V03 => {
            let task = WireTask::new(&snapshot, &place, HISTORY_MESSAGES_MAX, JsonDialect::V03);
            ("application/json", serde_json::to_vec(&task))
        }
    };
    Some((written.0, written.1.expect("our types hold no map with keys other than strings")))
}

fn push_target_from_config(push: PushNotificationConfig) -> PushTarget {
    let credentials = push
        .authentication
        .map(|known| PushCredentials { scheme: known.scheme, value: known.credentials.unwrap_or_default() });
    PushTarget { url: push.url, token: push.token, credentials }
}
