//! Asking people from within a turn. They may take their time: it is not the turn's.

use serde_json::Value;
use trackway_domain::{Op, Part, Reason};

use super::drive::Driver;
use crate::record::Wait;

impl Driver {
    /// Puts a question of the turn itself. The wait is measured where the turn's seconds are counted.
    pub(super) async fn ask_people(
        &self,
        prompt: Vec<Part>,
        schema: Value,
    ) -> (Value, Option<Wait>) {
        let timed = self.spec.budgets.seconds.is_some();
        let from = if timed { Some(self.stage.now().await) } else { None };
        let (_, answer) = self.stage.ask(Reason::InputRequired, prompt, schema, None).await;
        let wait = match from {
            Some(from) => Some(Wait { from, to: self.stage.now().await }),
            None => None,
        };
        (answer.input, wait)
    }

    /// How long people were waited for within a step, by the log: a question may have been put before the
    /// step was begun again. For use within that step.
    pub(super) async fn waits_within(&self, step: &Op) -> Vec<Wait> {
        let (Some(_), Some(archive)) = (self.spec.budgets.seconds, self.stage.archive()) else {
            return Vec::new();
        };
        match archive.asked_within(self.stage.run(), step).await {
            Ok(asked) => asked.into_iter().map(|(from, to)| Wait { from, to }).collect(),
            Err(error) => {
                // What the tool gave matters more than the time that is counted for it.
                tracing::warn!(%error, %step, "how long people were waited for cannot be read");
                Vec::new()
            }
        }
    }
}
