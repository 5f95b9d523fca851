//! Children: runs that a program starts and waits for.

use std::time::Duration;

use futures_util::future::{Either, select};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use trackway_domain::{
    Access, ChildFirstAnswer, ChildOutcome, Failure, Message, MessageId, NewChildRun, Op, OpKind, QuestionId,
    RunCommand, RunId, ValidationError, normalize_integers,
};
use trackway_engine::MessageDeliveryOutcome;
use trackway_ports::PinnedDefinition;

use super::{RecordedFact, Stage};
use crate::{DeliverMessageRequest, ProgramKind, RunAddress, child_limits::ParentRun};

/// Why a child was not started. Recorded, so that replays fail the same way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
pub enum ChildError {
    #[error("there is no workflow named {0:?}")]
    UnknownWorkflow(String),
    #[error("the input does not satisfy the schema of workflow {name:?}: {}", format_validation_errors(.problems))]
    InvalidInput { name: String, problems: Vec<ValidationError> },
    #[error("runs may start each other {max} deep, and this one is as deep already")]
    TooDeep { max: u32 },
    #[error("{max} agents and workflows were started from here already, which is the limit")]
    TooMany { max: u32 },
}

fn format_validation_errors(problems: &[ValidationError]) -> String {
    problems.iter().map(ValidationError::format_validation_error).collect::<Vec<_>>().join("; ")
}

impl Stage {
    /// Starts a child of the workflow with that name. Returns when the start is appended; the child exists
    /// when this run's log says so.
    pub async fn start_child_run(&self, workflow: &str, input: Value) -> Result<(Op, RunId), ChildError> {
        self.begin_child_run(workflow, workflow, input, false).await
    }

    /// As [`Stage::start_child_run`], recorded under its own key: for children of one workflow that run in
    /// parallel.
    pub async fn start_child_run_with_key(
        &self,
        op_key: &str,
        workflow: &str,
        input: Value,
    ) -> Result<(Op, RunId), ChildError> {
        self.begin_child_run(op_key, workflow, input, false).await
    }

    /// Starts a child, recorded under that key, whose first answer is needed:
    /// [`Stage::wait_for_child_first_answer`] waits for it. The start sends no update; the program does that
    /// itself, with [`Stage::report_status_of_other_run`]. Returns when the start is appended.
    pub async fn dispatch_child_run(
        &self,
        op_key: &str,
        workflow: &str,
        input: Value,
    ) -> Result<(Op, RunId), ChildError> {
        self.begin_child_run(op_key, workflow, input, true).await
    }

    async fn begin_child_run(
        &self,
        key: &str,
        workflow: &str,
        mut input: Value,
        is_awaited: bool,
    ) -> Result<(Op, RunId), ChildError> {
        normalize_integers(&mut input);
        let op = self.0.lock_replay_state().claim_next_op(OpKind::Child, key);
        if !self.0.lock_replay_state().has_record_for_op(&op) {
            self.wait_for_replay_end(&op).await;
            let checked = match self.build_new_child(workflow, input, is_awaited) {
                Ok(child) => self.check_may_start_child(workflow, is_awaited).await.map(|()| child),
                Err(error) => Err(error),
            };
            let (command, pins) = match checked {
                Ok((child, pins)) => {
                    (RunCommand::StartChild { op: op.clone(), child: Box::new(child) }, pins)
                }
                Err(error) => (RunCommand::RecordValue { op: op.clone(), value: json!(error) }, Vec::new()),
            };
            self.append_command_with_pins(command, pins).await;
        }
        loop {
            match self.next_recorded_fact(&op).await {
                RecordedFact::Child(child) => return Ok((op, child)),
                RecordedFact::Value(error) => match ChildError::deserialize(&error) {
                    Ok(error) => return Err(error),
                    Err(unknown) => self.park_as_nondeterministic(&op.to_string(), unknown.to_string()).await,
                },
                _ => {}
            }
        }
    }

    /// Waits for a child's end.
    pub async fn wait_for_child_outcome(&self, op: &Op) -> ChildOutcome {
        loop {
            if let RecordedFact::ChildEnded(outcome) = self.wait_durably_for_fact(op).await {
                return outcome;
            }
        }
    }

    /// Waits for the first answer of a dispatched child, or of a run that this one sent a message to. That
    /// run always answers, by its end at the latest. The end of a child may be recorded before its first
    /// answer, and is not an answer.
    pub async fn wait_for_child_first_answer(&self, op: &Op) -> ChildFirstAnswer {
        loop {
            if let RecordedFact::FirstAnswer(answer) = self.wait_durably_for_fact(op).await {
                return *answer;
            }
        }
    }

    /// As [`Stage::wait_for_child_first_answer`], with a time limit. A timeout is recorded. If the answer
    /// comes in time, nothing more is recorded, so most waits cost no timer in the store: after a crash the
    /// limit begins again. The program stays in memory during the wait.
    pub async fn wait_for_first_answer_or_timeout(
        &self,
        op: &Op,
        limit: Duration,
    ) -> Option<ChildFirstAnswer> {
        let _stays = self.keep_program_in_memory();
        let late_op = self.0.lock_replay_state().claim_next_op(OpKind::Sleep, "");
        let answer = std::pin::pin!(self.wait_for_child_first_answer(op));
        let late = std::pin::pin!(self.wait_and_record_timeout(&late_op, limit));
        match select(answer, late).await {
            Either::Left((answer, _)) => Some(answer),
            Either::Right(((), _)) => None,
        }
    }

    /// Returns once the timeout is recorded.
    async fn wait_and_record_timeout(&self, op: &Op, limit: Duration) {
        if !self.0.lock_replay_state().has_record_for_op(op) {
            self.wait_for_replay_end(op).await;
            let Some((core, _)) = self.0.live_run() else {
                return std::future::pending().await;
            };
            core.options.clock.sleep_until(core.now() + limit).await;
            self.decide_and_append(RunCommand::RecordValue { op: op.clone(), value: Value::Null }).await;
        }
        self.next_recorded_fact(op).await;
    }

    /// The op under which this run receives the answer to that message. Call it once for each message that
    /// was accepted as an answer.
    pub fn claim_reply_op(&self, message: &MessageId) -> Op {
        self.0.lock_replay_state().claim_next_op(OpKind::Child, message.as_str())
    }

    /// Sends another run of the same caller a message that answers its question, and requests its next answer
    /// for this run. Call it within a step: a repetition with the same message changes nothing.
    pub async fn answer_question_of_run(
        &self,
        run: RunId,
        question: Option<QuestionId>,
        message: Message,
    ) -> Result<MessageDeliveryOutcome, Failure> {
        let Some((core, _)) = self.0.live_run() else {
            return std::future::pending().await;
        };
        let access = Access::own_only(self.caller().clone());
        let to = RunAddress { run, access, workflow: None };
        let deliver = DeliverMessageRequest { to, session: None, message, question, hook: None };
        let answered = core.deliver_message(deliver, Some(self.run_id())).await;
        answered.map(|answered| answered.delivered).map_err(|error| Failure::new(error.to_string()))
    }

    /// Whether the run may have one more child. A failed read is no reason to refuse it.
    async fn check_may_start_child(&self, name: &str, is_awaited: bool) -> Result<(), ChildError> {
        let Some((core, live)) = self.0.live_run() else { return Ok(()) };
        let parent = ParentRun {
            run: self.run_id(),
            session: self.session_id().clone(),
            parent: live.lock_head().run.as_ref().and_then(|run| run.submission.parent),
            is_first: !self.0.lock_replay_state().has_started_children(),
        };
        let program = core.options.registry.current_program(name);
        let is_agent = program.is_some_and(|program| program.info().kind == ProgramKind::Agent);
        let _stays = self.keep_program_in_memory();
        let checked = core.check_child_limits(parent, is_awaited || is_agent).await;
        checked.unwrap_or_else(|error| {
            tracing::warn!(run = %self.run_id(), %error, "the ancestors of a run cannot be read");
            Ok(())
        })
    }

    /// The submission of the child, and the definition that it needs.
    fn build_new_child(
        &self,
        name: &str,
        input: Value,
        is_awaited: bool,
    ) -> Result<(NewChildRun, Vec<PinnedDefinition>), ChildError> {
        let unknown = || ChildError::UnknownWorkflow(name.to_owned());
        let (core, _) = self.0.live_run().ok_or_else(unknown)?;
        let registry = &core.options.registry;
        let program = registry.current_program(name).ok_or_else(unknown)?;
        let info = program.info();
        let problems = registry.check_program_input(&*program, &input);
        if !problems.is_empty() {
            return Err(ChildError::InvalidInput { name: name.to_owned(), problems });
        }
        let child = NewChildRun {
            workflow: info.workflow_ref(),
            description: info.description.clone(),
            input,
            awaited: is_awaited,
            deadline: info.deadline.map(|span| core.now() + span),
            exit: program.exit_workflow(),
        };
        Ok((child, program.pinned_source().into_iter().collect()))
    }
}
