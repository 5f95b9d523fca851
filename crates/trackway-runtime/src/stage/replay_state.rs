//! The replay state of a program: what it requested, what the log holds, what it may see by now.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::Arc,
    task::{Poll, Waker},
};

use serde_json::Value;
use trackway_domain::{
    ArtifactId, ChildFirstAnswer, ChildOutcome, Event, Failure, Message, MessageId, Op, OpKind, QuestionId,
    ReplayMismatch, RunId, StepOutcome, Timestamp,
};

/// An answer that satisfied its question's schema.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    pub input: Value,
    /// The message that brought it.
    pub message: Message,
}

/// A fact that became known under an op's name.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum RecordedFact {
    /// A status, a question or a timer was recorded.
    Recorded,
    Answer(Box<Answer>),
    StepDone(StepOutcome),
    /// An attempt failed; the next one begins when the op wakes.
    StepFailed {
        attempt: u32,
        since: Timestamp,
    },
    Woke,
    Child(RunId),
    ChildEnded(ChildOutcome),
    /// The first answer of another run.
    FirstAnswer(Box<ChildFirstAnswer>),
    Value(Value),
}

#[derive(Debug, Default)]
pub(crate) struct ReplayState {
    /// How often each kind and key was requested.
    counts: HashMap<(OpKind, Arc<str>), u32>,
    /// Ops that the log holds and the program has not requested, with their index in the log.
    unclaimed: HashMap<Op, usize>,
    /// Facts in the order of the log that the program may not see yet.
    queue: VecDeque<(Op, RecordedFact)>,
    /// Facts that it may see, by op.
    visible: HashMap<Op, VecDeque<RecordedFact>>,
    /// Facts of each op, in the queue or visible.
    fact_counts: HashMap<Op, usize>,
    wakers: HashMap<Op, Waker>,
    questions: HashMap<QuestionId, Op>,
    children: HashMap<RunId, Op>,
    /// Steps that emitted an artifact, and the artifact.
    step_artifacts: HashSet<(Op, ArtifactId)>,
    /// The newest notes of steps that have no outcome.
    step_notes: HashMap<Op, Value>,
    /// Steps whose work is being done.
    pub(crate) running_steps: HashSet<Op>,
    /// Events added so far; orders `unclaimed`.
    events: usize,
    /// The program requested the complete log; it may do new things.
    pub(crate) is_live: bool,
    /// The log is still being read: new events wait in `early_events`.
    pub(crate) is_filling: bool,
    early_events: Vec<Event>,
    /// An answer arrived while the program runs.
    pub(crate) has_new_answer: bool,
    /// The first op that the log does not hold.
    pub(crate) first_new_op: Option<Op>,
    /// Ops that wait for `is_live`.
    pub(crate) replay_wakers: Vec<Waker>,
    /// Ops that wait for anything to become visible.
    pub(crate) change_wakers: Vec<Waker>,
    /// Questions that were dropped unanswered.
    pub(crate) withdrawn: Vec<Op>,
    /// The program is being dropped as a whole.
    pub(crate) is_dropping: bool,
    /// Why the program does not fit, found while it ran.
    pub(crate) replay_mismatch: Option<ReplayMismatch>,
    /// Why a command of the program cannot be recorded.
    pub(crate) failure: Option<Failure>,
    /// Futures of the context that wait for the log or for permission to do something new.
    pub(crate) replay_waits: usize,
    pub(crate) active_count: usize,
    pub(crate) durable_waits: usize,
    /// The driver's task, if it sleeps.
    pub(crate) driver: Option<Waker>,
    /// The program was polled until it was idle after the last fact that it received.
    was_polled_idle: bool,
}

impl ReplayState {
    /// The name of the next op of this kind and key; the log's record of it, if any, is claimed.
    pub(crate) fn claim_next_op(&mut self, kind: OpKind, key: &str) -> Op {
        let key: Arc<str> = key.into();
        let count = self.counts.entry((kind, key.clone())).or_default();
        let op = Op { kind, key, occurrence: *count };
        *count += 1;
        self.unclaimed.remove(&op);
        op
    }

    /// Whether the log holds the op of this kind and key that would be claimed next.
    pub(crate) fn has_record_of_next_op(&self, kind: OpKind, key: &str) -> bool {
        let key: Arc<str> = key.into();
        let occurrence = self.counts.get(&(kind, key.clone())).copied().unwrap_or_default();
        self.has_record_for_op(&Op { kind, key, occurrence })
    }

    /// Whether the log, or what was recorded since, holds another fact under this name.
    pub(crate) fn has_record_for_op(&self, op: &Op) -> bool {
        self.fact_counts.get(op).is_some_and(|count| *count > 0)
    }

    /// Adds the log up to the point where the program was resumed, then what arrived in the meantime.
    pub(crate) fn fill_from_log_events<'a>(&mut self, log: impl Iterator<Item = &'a Event>) {
        self.is_filling = false;
        for event in log {
            self.queue_fact_of_event(event, true);
        }
        for event in std::mem::take(&mut self.early_events) {
            self.queue_fact_of_event(&event, false);
        }
    }

    /// An event was appended while the program runs. True if that wakes its driver.
    pub(crate) fn add_live_event(&mut self, event: &Event) -> bool {
        if self.is_filling {
            self.early_events.push(event.clone());
            return false;
        }
        self.has_new_answer |= matches!(event, Event::Resumed { .. });
        self.queue_fact_of_event(event, false);
        self.driver.take().inspect(Waker::wake_by_ref).is_some()
    }

    /// Whether the program has seen everything that is recorded, and waits: only a new event can make it take
    /// another path.
    pub(crate) fn is_program_idle(&self) -> bool {
        self.was_polled_idle && !self.is_filling && self.queue.is_empty() && self.withdrawn.is_empty()
    }

    /// Marks the program as idle. True if it was not idle before.
    pub(crate) fn mark_program_idle(&mut self) -> bool {
        let before = self.is_program_idle();
        self.was_polled_idle = true;
        !before && self.is_program_idle()
    }

    fn queue_fact_of_event(&mut self, event: &Event, from_log: bool) {
        self.events += 1;
        let Some((op, fact)) = self.recorded_fact_from_event(event) else {
            return;
        };
        // The answer of a run that received a message may be recorded before the sending of that message.
        let unasked = matches!(event, Event::RunAnswered { .. }) || is_question_from_step(&op);
        if from_log && !unasked && !self.was_op_claimed(&op) {
            self.unclaimed.entry(op.clone()).or_insert(self.events);
        }
        *self.fact_counts.entry(op.clone()).or_default() += 1;
        self.queue.push_back((op, fact));
    }

    /// The program has requested this op already.
    fn was_op_claimed(&self, op: &Op) -> bool {
        self.counts.get(&(op.kind, op.key.clone())).is_some_and(|count| *count > op.occurrence)
    }

    fn recorded_fact_from_event(&mut self, event: &Event) -> Option<(Op, RecordedFact)> {
        match event {
            // A status of a step belongs to the step, which does not wait for it.
            Event::Status { op, .. } if op.kind == OpKind::Step => None,
            Event::Status { op, .. } | Event::Slept { op, .. } => Some((op.clone(), RecordedFact::Recorded)),
            // An artifact before a question belongs to the question.
            Event::Artifact { op, .. } if op.kind == OpKind::Ask => None,
            // An artifact of a step belongs to the step: a step that has not ended emits it again.
            Event::Artifact { op, chunk } if op.kind == OpKind::Step => {
                self.step_artifacts.insert((op.clone(), chunk.artifact.id.clone()));
                None
            }
            Event::Answered { op, .. } => Some((op.clone(), RecordedFact::Recorded)),
            Event::Artifact { op, .. } => Some((op.clone(), RecordedFact::Recorded)),
            Event::Asked { op, question, .. } => {
                self.questions.insert(question.id, op.clone());
                Some((op.clone(), RecordedFact::Recorded))
            }
            Event::Resumed { request, input, replaces, .. } => {
                let op = self.questions.get(&request.question)?.clone();
                if *replaces {
                    self.forget_replaced_answer(&op);
                }
                let answer = Answer { input: input.clone(), message: request.message.clone() };
                Some((op, RecordedFact::Answer(Box::new(answer))))
            }
            Event::StepNoted { op, note } => {
                if note.is_null() {
                    self.step_notes.remove(op);
                } else {
                    self.step_notes.insert(op.clone(), note.clone());
                }
                None
            }
            Event::StepDone { op, outcome } => {
                self.step_notes.remove(op);
                Some((op.clone(), RecordedFact::StepDone(outcome.clone())))
            }
            Event::StepAttemptFailed(retry) => {
                let fact = RecordedFact::StepFailed { attempt: retry.attempt, since: retry.since };
                Some((retry.op.clone(), fact))
            }
            Event::Woke { op } => Some((op.clone(), RecordedFact::Woke)),
            Event::ValueRecorded { op, value } => Some((op.clone(), RecordedFact::Value(value.clone()))),
            Event::ChildStarted { op, child, .. } => {
                self.children.insert(*child, op.clone());
                Some((op.clone(), RecordedFact::Child(*child)))
            }
            Event::ChildEnded { child, outcome } => {
                let op = self.children.get(child)?;
                Some((op.clone(), RecordedFact::ChildEnded(outcome.clone())))
            }
            Event::RunAnswered { run, reply_to, answer } => {
                // The waiting op is named by the message that was sent, or is the op that dispatched the
                // child.
                let op = match reply_to {
                    Some(message) => op_for_message_reply(message),
                    None => self.children.get(run)?.clone(),
                };
                Some((op, RecordedFact::FirstAnswer(Box::new(answer.clone()))))
            }
            Event::Submitted(_)
            | Event::Started
            | Event::Refused { .. }
            | Event::LateAnswer(_)
            | Event::Noted { .. }
            | Event::Withdrawn { .. }
            | Event::Parked { .. }
            | Event::Unparked
            | Event::Imported
            | Event::Adopted
            | Event::ChildWaits { .. }
            | Event::ChildResumed { .. }
            | Event::Completed { .. }
            | Event::Failed { .. }
            | Event::Canceled
            | Event::Rejected { .. }
            | Event::Guided(_) => None,
        }
    }

    /// Whether the program has started children so far.
    pub(crate) fn has_started_children(&self) -> bool {
        !self.children.is_empty()
    }

    /// Whether the step emitted a part of that artifact.
    pub(crate) fn has_recorded_step_artifact(&self, step: &Op, artifact: &str) -> bool {
        self.step_artifacts.iter().any(|(op, shown)| op == step && shown.as_str() == artifact)
    }

    /// The newest note of a step that has no outcome.
    pub(crate) fn step_note(&self, step: &Op) -> Option<Value> {
        self.step_notes.get(step).cloned()
    }

    /// Another answer replaces one that the program could not read. A replay ignores the first, even if it
    /// could be read by now.
    fn forget_replaced_answer(&mut self, op: &Op) {
        let is_answer = |(of, fact): &(Op, RecordedFact)| of == op && matches!(fact, RecordedFact::Answer(_));
        if let Some(place) = self.queue.iter().rposition(is_answer) {
            self.queue.remove(place);
            if let Some(count) = self.fact_counts.get_mut(op) {
                *count -= 1;
            }
        }
    }

    /// Lets the program see the next fact of the log. False when there is none.
    pub(crate) fn reveal_next_fact(&mut self) -> bool {
        let Some((op, fact)) = self.queue.pop_front() else {
            return false;
        };
        self.was_polled_idle = false;
        if let Some(waker) = self.wakers.remove(&op) {
            waker.wake();
        }
        self.visible.entry(op).or_default().push_back(fact);
        self.change_wakers.drain(..).for_each(Waker::wake);
        true
    }

    pub(crate) fn has_hidden_facts(&self) -> bool {
        !self.queue.is_empty()
    }

    pub(crate) fn poll_recorded_fact(&mut self, op: &Op, waker: &Waker) -> Poll<RecordedFact> {
        let Some(fact) = self.visible.get_mut(op).and_then(VecDeque::pop_front) else {
            self.wakers.insert(op.clone(), waker.clone());
            return Poll::Pending;
        };
        if let Some(count) = self.fact_counts.get_mut(op) {
            *count -= 1;
            if *count == 0 {
                self.fact_counts.remove(op);
                self.visible.remove(op);
            }
        }
        Poll::Ready(fact)
    }

    /// What the log holds and the program never requested: the earliest of it is the evidence.
    pub(crate) fn unclaimed_op_mismatch(&self, next_op: &str) -> Option<ReplayMismatch> {
        let (op, _) = self.unclaimed.iter().min_by_key(|(_, place)| **place)?;
        let asked = self.first_new_op.as_ref().map_or_else(|| next_op.to_owned(), Op::to_string);
        Some(ReplayMismatch {
            message: format!(
                "the program does not fit its log: it asked for {asked} where the log holds {op}"
            ),
            asked: Some(asked),
            recorded: Some(op.to_string()),
        })
    }
}

/// The op that waits for the reply to a message of this run.
fn op_for_message_reply(message: &MessageId) -> Op {
    Op { kind: OpKind::Child, key: message.as_str().into(), occurrence: 0 }
}

/// Whether a step asked the question. The step may have to run again before it requests the question.
fn is_question_from_step(op: &Op) -> bool {
    op.kind == OpKind::Ask && !op.key.is_empty()
}
