//! A run as decisions use it: a fold of its events that holds only what decisions need.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use trackway_domain::{
    Event, Failure, MessageId, Op, Question, QuestionId, ReplayMismatch, RunId, RunSubmission, Seq, State,
    StateName, TimerKey, Timestamp,
};

use crate::{IllegalTransition, first_answer::counts_as_first_answer, transition};

/// The decision state of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    pub submission: Box<RunSubmission>,
    pub created_at: Timestamp,
    /// Number of the last event folded in.
    pub seq: Seq,
    pub state: State,
    /// Every question of this run, with its requests.
    pub questions: BTreeMap<QuestionId, QuestionRecord>,
    /// The question that was asked last, open or not.
    pub last_question: Option<QuestionId>,
    pub timers: BTreeMap<TimerKey, Timestamp>,
    /// Children that have not ended.
    pub children: Vec<OpenChild>,
    /// The run that waits for the next answer of this run.
    pub first_answer_waiter: Option<FirstAnswerWaiter>,
    /// The first answers that this run received.
    pub received_answers: BTreeSet<ReceivedFirstAnswer>,
    /// The newest notes of the steps that have no outcome.
    pub step_notes: BTreeMap<Op, Value>,
    pub parked: Option<ReplayMismatch>,
    /// What is known about runs below this one that wait for a person: the number of the latest
    /// notification, and whether the run waits.
    pub waiting: BTreeMap<RunId, (Seq, bool)>,
    /// The run has published an artifact.
    pub has_artifacts: bool,
    /// The run was imported and is not adopted yet.
    pub imported: bool,
}

/// A child that has not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenChild {
    pub run: RunId,
    /// The child continues if this run fails.
    pub dispatched: bool,
}

/// A run that waits for another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FirstAnswerWaiter {
    pub by: RunId,
    /// The message that it sent; `None` if it started the other run.
    pub reply_to: Option<MessageId>,
}

/// An answer that this run received: its sender, and the message that it answers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReceivedFirstAnswer {
    pub from: RunId,
    pub reply_to: Option<MessageId>,
}

/// A question and the requests to it.
#[derive(Debug, Clone, PartialEq)]
pub struct QuestionRecord {
    pub question: Question,
    pub requests: u32,
    /// A request resumed the run. A withdrawn question has no answer.
    pub answered: bool,
    /// The op that asked it.
    pub op: Op,
}

impl Run {
    pub fn from_submission(submission: Box<RunSubmission>, recorded_at: Timestamp) -> Self {
        let timers = submission.deadline.map(|due| (TimerKey::Deadline, due)).into_iter().collect();
        let by = submission.parent.filter(|_| submission.awaited);
        Self {
            submission,
            created_at: recorded_at,
            seq: 1,
            state: State::Submitted,
            questions: BTreeMap::new(),
            last_question: None,
            timers,
            children: Vec::new(),
            first_answer_waiter: by.map(|by| FirstAnswerWaiter { by, reply_to: None }),
            received_answers: BTreeSet::new(),
            step_notes: BTreeMap::new(),
            parked: None,
            waiting: BTreeMap::new(),
            has_artifacts: false,
            imported: false,
        }
    }

    /// A guided run from the row of the store's index. Its decisions need nothing else, so an answer
    /// costs the same in a log of ten events and in one of ten thousand.
    pub fn from_index_row(
        submission: Box<RunSubmission>,
        created_at: Timestamp,
        state: StateName,
        seq: Seq,
        imported: bool,
    ) -> Self {
        let state = match state {
            StateName::Submitted => State::Submitted,
            StateName::Working => State::Working,
            StateName::Completed => State::Completed { output: Value::Null },
            StateName::Failed => State::Failed { failure: Failure::new(String::new()) },
            StateName::Canceled => State::Canceled,
            StateName::Rejected => State::Rejected { reason: String::new() },
            // A guided run asks no questions.
            StateName::InputRequired | StateName::AuthRequired | StateName::Unknown => State::Unknown,
        };
        Self { state, seq, imported, ..Self::from_submission(submission, created_at) }
    }

    pub fn id(&self) -> RunId {
        self.submission.run
    }

    /// Folds one event. Only [`transition`] changes the state.
    pub fn apply_event(&mut self, event: &Event) -> Result<(), IllegalTransition> {
        if let Some(next) = transition(&self.state, event)? {
            self.state = next;
        }
        self.seq += 1;
        if counts_as_first_answer(event) {
            self.first_answer_waiter = None;
        }
        match event {
            Event::Asked { op, question, .. } => {
                let asked = QuestionRecord {
                    question: question.clone(),
                    requests: 0,
                    answered: false,
                    op: op.clone(),
                };
                self.questions.insert(question.id, asked);
                self.last_question = Some(question.id);
            }
            Event::Refused { request, .. } => {
                self.set_question_request_count(request.question, request.order)
            }
            Event::LateAnswer(late) => {
                self.set_question_request_count(late.request.question, late.request.order)
            }
            Event::Resumed { request, awaited_by, .. } => {
                if let Some(by) = *awaited_by {
                    self.first_answer_waiter =
                        Some(FirstAnswerWaiter { by, reply_to: Some(request.message.id.clone()) });
                }
                self.set_question_request_count(request.question, request.order);
                if let Some(asked) = self.questions.get_mut(&request.question) {
                    asked.answered = true;
                }
            }
            Event::Slept { op, due } => {
                self.timers.insert(TimerKey::Op(op.clone()), *due);
            }
            Event::StepAttemptFailed(retry) => {
                self.timers.insert(TimerKey::Op(retry.op.clone()), retry.due);
            }
            Event::Woke { op } => {
                self.timers.remove(&TimerKey::Op(op.clone()));
            }
            Event::StepNoted { op, note } if !note.is_null() => {
                self.step_notes.insert(op.clone(), note.clone());
            }
            Event::StepNoted { op, .. } | Event::StepDone { op, .. } => {
                self.step_notes.remove(op);
            }
            Event::RunAnswered { run, reply_to, .. } => {
                self.received_answers.insert(ReceivedFirstAnswer { from: *run, reply_to: reply_to.clone() });
            }
            Event::ChildStarted { child, awaited, .. } => {
                self.children.push(OpenChild { run: *child, dispatched: *awaited });
            }
            Event::ChildEnded { child, .. } => {
                self.children.retain(|open| open.run != *child);
                self.waiting.insert(*child, (Seq::MAX, false));
            }
            Event::ChildWaits { waiting, report_seq, .. } => {
                self.waiting.insert(waiting.run, (*report_seq, true));
            }
            Event::ChildResumed { run, report_seq } => {
                self.waiting.insert(*run, (*report_seq, false));
            }
            Event::Artifact { .. } => self.has_artifacts = true,
            Event::Imported => self.imported = true,
            Event::Adopted => self.imported = false,
            Event::Parked { evidence, .. } => self.parked = Some(evidence.clone()),
            Event::Unparked => self.parked = None,
            Event::Completed { .. } | Event::Failed { .. } | Event::Canceled | Event::Rejected { .. } => {
                self.timers.clear();
                self.step_notes.clear();
                self.parked = None;
            }
            Event::Submitted(_)
            | Event::Started
            | Event::Status { .. }
            | Event::Noted { .. }
            | Event::Withdrawn { .. }
            | Event::ValueRecorded { .. }
            | Event::Answered { .. }
            | Event::Guided(_) => {}
        }
        Ok(())
    }

    fn set_question_request_count(&mut self, question: QuestionId, order: u32) {
        if let Some(asked) = self.questions.get_mut(&question) {
            asked.requests = order;
        }
    }
}
