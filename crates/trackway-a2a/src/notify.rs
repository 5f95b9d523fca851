//! Push notifications: the updates of a task as bodies of the generation that set the configuration.

use trackway_a2a_wire::Dialect;
use trackway_engine::RunView;
use trackway_ports::{Hook, PortFuture, Stored};
use trackway_runtime::{Messenger, Undelivered};

use crate::{
    asked::HISTORY_MESSAGES_MAX,
    ops::{Push, Snapshot, item},
    push::{Credentials, Outgoing, Target},
    version::Generation,
    wire::{StreamItem, Task},
};

/// Notifies clients of updates over HTTP.
#[derive(Debug)]
pub struct Notifier {
    outgoing: Outgoing,
}

impl Notifier {
    pub fn new(outgoing: Outgoing) -> Self {
        Self { outgoing }
    }
}

impl Messenger for Notifier {
    fn target(&self, hook: &Hook) -> String {
        let url = Push::of(hook).and_then(|push| push.url.parse::<reqwest::Url>().ok());
        url.and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default()
    }

    fn deliver<'a>(
        &'a self,
        hook: &'a Hook,
        stored: &'a Stored,
        view: &'a RunView,
    ) -> PortFuture<'a, Result<(), Undelivered>> {
        Box::pin(async move {
            let Some(push) = Push::of(hook) else {
                let reason = "the configuration cannot be read".to_owned();
                return Err(Undelivered::Refused { reason });
            };
            let Some((content_type, body)) = body(push.generation, stored, view) else {
                return Ok(());
            };
            self.outgoing.post(&target(push), content_type, body).await
        })
    }
}

/// In 1.0 the update itself, as in a stream; in 0.3 the task after the update.
fn body(
    generation: Generation,
    stored: &Stored,
    view: &RunView,
) -> Option<(&'static str, Vec<u8>)> {
    let (snapshot, _) = Snapshot::of(view.clone()).bounded(HISTORY_MESSAGES_MAX, true);
    let place = snapshot.place();
    let written = match generation {
        Generation::V1 => {
            let item = item(stored.clone())?;
            let item = StreamItem::new(&item, &place, HISTORY_MESSAGES_MAX, Dialect::V1);
            ("application/a2a+json", serde_json::to_vec(&item))
        }
        Generation::V03 => {
            let task = Task::new(&snapshot, &place, HISTORY_MESSAGES_MAX, Dialect::V03);
            ("application/json", serde_json::to_vec(&task))
        }
    };
    Some((written.0, written.1.expect("our types hold no map with keys other than strings")))
}

fn target(push: Push) -> Target {
    let credentials = push.authentication.map(|known| Credentials {
        scheme: known.scheme,
        value: known.credentials.unwrap_or_default(),
    });
    Target { url: push.url, token: push.token, credentials }
}
