//! Dispatch: a workflow started from within the model's loop. Its first answer is the call's result; it
//! goes on by itself (D2).

use std::time::Duration;

use serde_json::Value;
use trackway_domain::{FirstAnswer, Op, matches_pattern};

use super::{
    call::Outcome,
    drive::Driver,
    told::{self, Told},
};
use crate::Waiting;

impl Driver {
    pub(super) async fn dispatch(
        &self,
        waiting: &Waiting,
        workflow: &str,
        description: &str,
        input: Value,
    ) -> Outcome {
        let (op, run) = match self.stage.dispatch(&waiting.key(), workflow, input).await {
            Ok(started) => started,
            Err(error) => {
                let why = format!("{error}. Nothing was started.");
                let failed = told::not_started(workflow, description, &why);
                return self.note(waiting, failed).await.into();
            }
        };
        let answer = self.first_answer(&op, workflow).await;
        self.tell(waiting, &Told { run, workflow, description, answer }).await
    }

    /// The first answer, if it comes in time. Most come within milliseconds.
    pub(super) async fn first_answer(&self, op: &Op, workflow: &str) -> Option<FirstAnswer> {
        self.stage.answer_within(op, self.first_answer_timeout(workflow)).await
    }

    /// Records what came of it, and tells the parent's watchers once, of this run alone (D5).
    pub(super) async fn tell(&self, waiting: &Waiting, told: &Told<'_>) -> Outcome {
        let record = self.note(waiting, told.record()).await;
        let (parts, metadata) = told.update();
        self.stage.reference(told.run, parts, metadata).await;
        Outcome { record, shown: told.shown() }
    }

    /// What the agent's file says of this workflow, else the workflow itself, else the workspace.
    fn first_answer_timeout(&self, workflow: &str) -> Duration {
        let of_agent = self.spec.first_answer_timeouts.iter();
        let of_agent = of_agent.filter(|(pattern, _)| matches_pattern(pattern, workflow));
        if let Some((_, seconds)) = of_agent.max_by_key(|(pattern, _)| pattern.len()) {
            return Duration::from_secs(*seconds);
        }
        let programs = self.stage.programs();
        let program = programs.iter().find(|program| program.info().name == workflow);
        let own = program.and_then(|program| program.first_answer_timeout());
        own.unwrap_or_else(|| self.workshop.stock().first_answer_timeout)
    }
}
