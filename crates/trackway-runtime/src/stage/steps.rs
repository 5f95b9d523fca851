//! Steps: side effects whose outcome is recorded once.

use std::{future::Future, pin::Pin, time::Duration};

use serde_json::Value;
use trackway_domain::{Failure, Op, OpKind, RunCommand, StepOutcome, StepRetry, Timestamp};

use super::{RecordedFact, Stage, activity_guards};
use crate::live_run;

/// One attempt at a step, as its closure sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepAttempt {
    /// The same for every attempt of this step, even after a crash: pass it to services that can recognise a
    /// repeated request.
    pub idempotency_key: String,
    /// 1 for the first.
    pub number: u32,
    /// The step's name in the log.
    pub op: Op,
}

/// How often a failing step is tried, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Attempts in all; 1 means that the first failure is final.
    pub attempts: u32,
    /// Pause after the first failure; it doubles with each further one.
    pub backoff: Duration,
    pub backoff_max: Duration,
    /// Time for all attempts together.
    pub deadline: Option<Duration>,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            attempts: 1,
            backoff: Duration::from_millis(100),
            backoff_max: Duration::from_secs(60),
            deadline: None,
        }
    }
}

/// What a step's work changes elsewhere, which decides what must be durable around it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StepEffect {
    /// It changes something: everything before it is durable when it begins.
    Change,
    /// It changes nothing but should not be repeated without need, for example a model call: outcomes of
    /// changes and requests before it are durable when it begins.
    Request,
    /// It only reads: as for a request, and no request waits for its outcome.
    Read,
}

/// The progress of a step through its attempts.
struct StepAttemptState {
    policy: RetryPolicy,
    /// The number of the next attempt.
    number: u32,
    /// When the first attempt began.
    since: Option<Timestamp>,
    effect: StepEffect,
}

/// What a step does; called once for each attempt.
pub type StepWork<'a> =
    dyn FnMut(StepAttempt) -> Pin<Box<dyn Future<Output = Result<Value, Failure>> + Send + 'a>> + Send + 'a;

impl Stage {
    /// Whether a log that is only checked holds another step of this key. For a step that depends on
    /// something that a check does not have; in a live run the answer is no.
    pub fn checked_log_has_step(&self, key: &str) -> bool {
        self.0.live_run().is_none() && self.0.lock_replay_state().has_record_of_next_op(OpKind::Step, key)
    }

    /// Does a step, or returns its recorded outcome.
    ///
    /// Everything recorded before it is durable when the work begins. A crash between the work and its
    /// record repeats the work with the same idempotency key; once recorded, it is never done again.
    pub async fn step(
        &self,
        step_key: &str,
        policy: RetryPolicy,
        work: &mut StepWork<'_>,
    ) -> (Op, StepOutcome) {
        self.run_step_with_effect(step_key, policy, work, StepEffect::Change).await
    }

    /// As [`Stage::step`], for work that changes nothing elsewhere but costs something, such as a model call.
    /// The submission and the outcomes of earlier steps are durable when it begins; other earlier records may
    /// still be on their way to the store.
    pub async fn run_request_step(
        &self,
        key: &str,
        policy: RetryPolicy,
        work: &mut StepWork<'_>,
    ) -> (Op, StepOutcome) {
        self.run_step_with_effect(key, policy, work, StepEffect::Request).await
    }

    /// As [`Stage::run_request_step`], for work that costs nothing, such as reading earlier runs: a request
    /// does not wait for its outcome to be durable.
    pub async fn run_read_step(
        &self,
        key: &str,
        policy: RetryPolicy,
        work: &mut StepWork<'_>,
    ) -> (Op, StepOutcome) {
        self.run_step_with_effect(key, policy, work, StepEffect::Read).await
    }

    async fn run_step_with_effect(
        &self,
        key: &str,
        policy: RetryPolicy,
        work: &mut StepWork<'_>,
        effect: StepEffect,
    ) -> (Op, StepOutcome) {
        let op = self.0.lock_replay_state().claim_next_op(OpKind::Step, key);
        let (mut number, mut since) = (1, None);
        loop {
            if !self.0.lock_replay_state().has_record_for_op(&op) {
                self.wait_for_replay_end(&op).await;
                let tries = StepAttemptState { policy, number, since, effect };
                let command = self.attempt_step_once(&op, tries, work).await;
                self.decide_and_append(command).await;
                if effect != StepEffect::Read {
                    self.0.require_durable_step_outcome();
                }
            }
            match self.next_recorded_fact(&op).await {
                RecordedFact::StepDone(outcome) => return (op, outcome),
                RecordedFact::StepFailed { attempt, since: first } => {
                    (number, since) = (attempt + 1, Some(first));
                    self.wait_durably_for_fact(&op).await;
                }
                _ => {}
            }
        }
    }

    /// Records a known value as a step's outcome. No work is done, so nothing has to be durable before it; a
    /// replay returns what was recorded.
    pub async fn record_step_outcome(
        &self,
        key: &str,
        value: impl FnOnce() -> Result<Value, Failure> + Send,
    ) -> StepOutcome {
        let op = self.0.lock_replay_state().claim_next_op(OpKind::Step, key);
        if !self.0.lock_replay_state().has_record_for_op(&op) {
            self.wait_for_replay_end(&op).await;
            let outcome = value().map_or_else(StepOutcome::Err, StepOutcome::Ok);
            self.decide_and_append(RunCommand::FinishStep { op: op.clone(), outcome }).await;
        }
        loop {
            if let RecordedFact::StepDone(outcome) = self.next_recorded_fact(&op).await {
                return outcome;
            }
        }
    }

    /// One attempt. Returns the command that records its outcome.
    async fn attempt_step_once(
        &self,
        op: &Op,
        state: StepAttemptState,
        work: &mut StepWork<'_>,
    ) -> RunCommand {
        let StepAttemptState { policy, number, since, effect } = state;
        let Some((core, live)) = self.0.live_run() else {
            return std::future::pending().await;
        };
        let _active = activity_guards::ActiveProgramGuard::new(self.0.clone());
        let seq = match effect {
            StepEffect::Change => live.lock_head().run.as_ref().map_or(0, |run| run.seq),
            StepEffect::Request | StepEffect::Read => self.0.required_durable_seq(),
        };
        let is_durable = live.wait_until_seq_committed(seq).await == live_run::DecisionDurability::Durable;
        // Work whose outcome could not be recorded is not done either.
        if !is_durable || core.store_failure.borrow().is_some() {
            return std::future::pending().await;
        }
        core.reach_fault_point("step:before");
        let again = since.is_some();
        let since = since.unwrap_or_else(|| core.now());
        let end = policy.deadline.map(|span| since + span);
        let late = || {
            let failure = Failure::new(format!("step {:?} passed its deadline", op.key));
            finish_step_command(op, StepOutcome::Err(failure))
        };
        // The pause may have been longer than planned: no process ran when it was over.
        if again && end.is_some_and(|end| core.now() >= end) {
            return late();
        }
        let _running = activity_guards::RunningStepGuard::new(self.0.clone(), op.clone());
        let idempotency_key = format!("{}/{op}", self.run_id());
        let result = match end {
            None => work(StepAttempt { idempotency_key, number, op: op.clone() }).await,
            Some(end) => tokio::select! {
                biased;
                result = work(StepAttempt { idempotency_key, number, op: op.clone() }) => result,
                () = core.options.clock.sleep_until(end) => return late(),
            },
        };
        core.reach_fault_point("step:after");
        let failure = match result {
            Ok(value) => return finish_step_command(op, StepOutcome::Ok(value)),
            Err(failure) => failure,
        };
        let due = core.now() + step_backoff_after(policy, number);
        if number >= policy.attempts || end.is_some_and(|end| due >= end) {
            return finish_step_command(op, StepOutcome::Err(failure));
        }
        RunCommand::RetryStep(StepRetry { op: op.clone(), attempt: number, failure, due, since })
    }
}

fn finish_step_command(op: &Op, outcome: StepOutcome) -> RunCommand {
    RunCommand::FinishStep { op: op.clone(), outcome }
}

/// The pause after the attempt of that number.
fn step_backoff_after(policy: RetryPolicy, attempt: u32) -> Duration {
    let factor = 2_u32.saturating_pow(attempt.saturating_sub(1));
    policy.backoff.saturating_mul(factor).min(policy.backoff_max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backoff_doubles_up_to_its_limit() {
        let policy = RetryPolicy { backoff_max: Duration::from_millis(500), ..RetryPolicy::default() };
        let pauses: Vec<_> = (1..=5).map(|number| step_backoff_after(policy, number).as_millis()).collect();
        assert_eq!(pauses, [100, 200, 400, 500, 500]);
        assert_eq!(step_backoff_after(policy, u32::MAX).as_millis(), 500);
    }
}
