//! Counts of what a program is doing, so that its driver knows when it only waits.

use std::sync::Arc;

use trackway_domain::Op;

use super::Inner;

/// The program is doing something: running a step, or waiting for leave to record.
#[derive(Debug)]
pub(super) struct Active(Arc<Inner>);

impl Active {
    pub(super) fn at(inner: Arc<Inner>) -> Self {
        inner.book().active += 1;
        Self(inner)
    }
}

impl Drop for Active {
    fn drop(&mut self) {
        self.0.book().active -= 1;
    }
}

/// The program waits for its context, for however long.
pub(super) struct Asking(Arc<Inner>);

impl Asking {
    pub(super) fn at(inner: Arc<Inner>) -> Self {
        inner.book().asking += 1;
        Self(inner)
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        self.0.book().asking -= 1;
    }
}

/// The program waits for something that is durable: an answer, a timer, a child.
pub(super) struct Waiting(Arc<Inner>);

impl Waiting {
    pub(super) fn at(inner: Arc<Inner>) -> Self {
        inner.book().waits += 1;
        Self(inner)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.book().waits -= 1;
    }
}

/// A question that is, or may be, open. Dropped unanswered, it is withdrawn: the program took another
/// way. Withdrawing one that was never put changes nothing.
pub(super) struct OpenQuestion {
    inner: Arc<Inner>,
    op: Option<Op>,
}

impl OpenQuestion {
    pub(super) fn at(inner: Arc<Inner>, op: Op) -> Self {
        Self { inner, op: Some(op) }
    }

    pub(super) fn answered(mut self) {
        self.op = None;
    }
}

impl Drop for OpenQuestion {
    fn drop(&mut self) {
        if let Some(op) = self.op.take() {
            let mut book = self.inner.book();
            // A program that is dropped as a whole withdraws nothing; it will ask again.
            if !book.leaving {
                book.withdrawn.push(op);
            }
        }
    }
}
