//! Counts what a program is doing, so that its driver knows when it only waits.

use std::sync::Arc;

use trackway_domain::Op;

use super::StageInner;

/// The program is active: it runs a step, or waits for a permit to record.
#[derive(Debug)]
pub(super) struct ActiveProgramGuard(Arc<StageInner>);

impl ActiveProgramGuard {
    pub(super) fn new(inner: Arc<StageInner>) -> Self {
        inner.lock_replay_state().active_count += 1;
        Self(inner)
    }
}

impl Drop for ActiveProgramGuard {
    fn drop(&mut self) {
        self.0.lock_replay_state().active_count -= 1;
    }
}

/// The work of a step is being done; only meanwhile it can record notes.
pub(super) struct RunningStepGuard {
    inner: Arc<StageInner>,
    op: Op,
}

impl RunningStepGuard {
    pub(super) fn new(inner: Arc<StageInner>, op: Op) -> Self {
        inner.lock_replay_state().running_steps.insert(op.clone());
        Self { inner, op }
    }
}

impl Drop for RunningStepGuard {
    fn drop(&mut self) {
        self.inner.lock_replay_state().running_steps.remove(&self.op);
    }
}

/// The program waits for its context, for any length of time.
pub(super) struct ReplayWaitGuard(Arc<StageInner>);

impl ReplayWaitGuard {
    pub(super) fn new(inner: Arc<StageInner>) -> Self {
        inner.lock_replay_state().replay_waits += 1;
        Self(inner)
    }
}

impl Drop for ReplayWaitGuard {
    fn drop(&mut self) {
        self.0.lock_replay_state().replay_waits -= 1;
    }
}

/// The program waits for something that is durable: an answer, a timer, a child.
pub(super) struct DurableWaitGuard(Arc<StageInner>);

impl DurableWaitGuard {
    pub(super) fn new(inner: Arc<StageInner>) -> Self {
        inner.lock_replay_state().durable_waits += 1;
        Self(inner)
    }
}

impl Drop for DurableWaitGuard {
    fn drop(&mut self) {
        self.0.lock_replay_state().durable_waits -= 1;
    }
}

/// A question that is, or may be, open. If it is dropped unanswered, it is withdrawn: the program took
/// another path. Withdrawing a question that was never asked changes nothing.
pub(super) struct OpenQuestionGuard {
    inner: Arc<StageInner>,
    op: Option<Op>,
}

impl OpenQuestionGuard {
    pub(super) fn new(inner: Arc<StageInner>, op: Op) -> Self {
        Self { inner, op: Some(op) }
    }

    pub(super) fn disarm_withdrawal(mut self) {
        self.op = None;
    }
}

impl Drop for OpenQuestionGuard {
    fn drop(&mut self) {
        if let Some(op) = self.op.take() {
            let mut book = self.inner.lock_replay_state();
            // A program that is dropped as a whole withdraws nothing; it will ask again.
            if !book.is_dropping {
                book.withdrawn.push(op);
            }
        }
    }
}
