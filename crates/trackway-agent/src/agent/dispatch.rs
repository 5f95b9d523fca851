//! Dispatch: a workflow started from within the model's loop. Its first answer is the call's result; it
//! goes on by itself (D2).

use futures_util::future::{Either, select};
use serde_json::Value;
use trackway_domain::{FirstAnswer, Op};

use super::{
    drive::Driver,
    told::{self, Told},
};
use crate::{CallRecord, Waiting};

impl Driver {
    pub(super) async fn dispatch(
        &self,
        waiting: &Waiting,
        workflow: &str,
        description: &str,
        input: Value,
    ) -> CallRecord {
        let (op, run) = match self.stage.dispatch(&waiting.key(), workflow, input).await {
            Ok(started) => started,
            Err(error) => {
                let why = format!("{error}. Nothing was started.");
                return self.note(waiting, told::not_started(workflow, description, &why)).await;
            }
        };
        let answer = self.first_answer(&op).await;
        self.tell(waiting, &Told { run, workflow, description, answer }).await
    }

    /// The first answer, if it comes in time. The program stays in memory for this while: most answers
    /// come within milliseconds.
    pub(super) async fn first_answer(&self, op: &Op) -> Option<FirstAnswer> {
        let _stays = self.stage.stay();
        let timeout = self.workshop.stock().first_answer_timeout;
        let answer = std::pin::pin!(self.stage.answer_of(op));
        let late = std::pin::pin!(self.stage.sleep(timeout));
        match select(answer, late).await {
            Either::Left((answer, _)) => Some(answer),
            Either::Right(_) => None,
        }
    }

    /// Records what came of it, and tells the parent's watchers once, of this run alone (D5).
    pub(super) async fn tell(&self, waiting: &Waiting, told: &Told<'_>) -> CallRecord {
        let record = self.note(waiting, told.record()).await;
        let (parts, metadata) = told.update();
        self.stage.reference(told.run, parts, metadata).await;
        record
    }
}
