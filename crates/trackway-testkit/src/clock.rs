//! A clock that stops until a test moves it.

use std::time::Duration;

use tokio::sync::watch;
use trackway_domain::Timestamp;
use trackway_ports::{Clock, PortFuture};

/// The time at which every test starts: 2023-11-14T22:13:20Z.
const START_TIME: Timestamp = Timestamp::from_millis(1_700_000_000_000);

/// A clock that the test moves by hand. It survives restarts: pass the same one to the next
/// process.
#[derive(Debug)]
pub struct ManualClock {
    now: watch::Sender<Timestamp>,
    /// The times that the sleepers wait for.
    sleepers: watch::Sender<Vec<Timestamp>>,
}

impl Default for ManualClock {
    fn default() -> Self {
        Self { now: watch::Sender::new(START_TIME), sleepers: watch::Sender::default() }
    }
}

/// One sleeper, registered as long as this value exists.
struct Sleeper<'a> {
    clock: &'a ManualClock,
    until: Timestamp,
}

impl Drop for Sleeper<'_> {
    fn drop(&mut self) {
        self.clock.sleepers.send_modify(|sleepers| {
            if let Some(index) = sleepers.iter().position(|until| *until == self.until) {
                sleepers.swap_remove(index);
            }
        });
    }
}

impl ManualClock {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn advance(&self, span: Duration) {
        self.now.send_modify(|now| *now = *now + span);
    }

    /// Resolves when a task sleeps until that moment.
    pub async fn wait_for_sleeper(&self, moment: Timestamp) {
        let mut sleepers = self.sleepers.subscribe();
        let _ = sleepers.wait_for(|sleepers| sleepers.contains(&moment)).await;
    }

    /// Moves to that moment, unless it is in the past.
    pub fn advance_to(&self, moment: Timestamp) {
        self.now.send_if_modified(|now| {
            let later = moment > *now;
            if later {
                *now = moment;
            }
            later
        });
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        *self.now.borrow()
    }

    fn sleep_until(&self, moment: Timestamp) -> PortFuture<'_, ()> {
        let mut now = self.now.subscribe();
        Box::pin(async move {
            self.sleepers.send_modify(|sleepers| sleepers.push(moment));
            let _sleeper = Sleeper { clock: self, until: moment };
            // The sender lives as long as this borrow of the clock.
            let _ = now.wait_for(|now| *now >= moment).await;
        })
    }
}
