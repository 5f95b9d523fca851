//! Runs below a run that wait for a person: the runs above them report it.

use trackway_domain::{CrossRunErrand, Event, Part, Question, RunId, Seq, State, WaitingRun};

use super::{new_message_id, state_after_start};
use crate::{Decision, DecisionEffect, DecisionEnv, Run};

/// Limit (Engine): characters of a child's question in its parent's status.
///
/// Enough to recognise it; the whole question is at the child.
const WAITING_TEXT_CHARS_MAX: usize = 200;

/// A run below this one waits, or no longer waits. A notification that is older than the last one, or
/// that arrives after the end, changes nothing.
pub(super) fn update_waiting_descendant(
    run: &Run,
    child: RunId,
    report_seq: Seq,
    waiting: Option<WaitingRun>,
    env: DecisionEnv<'_>,
) -> Decision {
    let (known, open) = run.waiting.get(&child).copied().unwrap_or_default();
    if run.state.name().is_terminal() || report_seq <= known || (waiting.is_none() && !open) {
        return Decision::default();
    }
    let event = match waiting {
        Some(waiting) => {
            let (state, message_id) = (state_after_start(run), new_message_id(env));
            Event::ChildWaits { waiting, report_seq, state, message_id }
        }
        None => Event::ChildResumed { run: child, report_seq },
    };
    Decision { events: vec![event], ..Decision::default() }
}

/// The notification for the run's parent. A parent that waits for a first answer gets the question with
/// that answer, and reports it itself.
pub(super) fn waiting_notifications_for_parent(run: &Run, events: &[Event]) -> Vec<DecisionEffect> {
    let Some(to) = run.submission.parent.filter(|_| !run.submission.awaited) else {
        return Vec::new();
    };
    let mut waits = run.state.open_question().is_some();
    let mut owed = Vec::new();
    for (event, report_seq) in events.iter().zip(run.seq + 1..) {
        let told = match event {
            Event::Asked { question, .. } => {
                waits = true;
                Some((run.id(), Some(waiting_run_for_question(run, question))))
            }
            Event::Resumed { .. } | Event::Withdrawn { .. } | Event::Canceled | Event::Rejected { .. } => {
                std::mem::take(&mut waits).then(|| (run.id(), None))
            }
            Event::ChildWaits { waiting, .. } => Some((waiting.run, Some(waiting.clone()))),
            Event::ChildResumed { run, .. } => Some((*run, None)),
            _ => None,
        };
        owed.extend(told.map(|(run, waiting)| {
            DecisionEffect::AddErrand(CrossRunErrand::NotifyWaiting { to, run, report_seq, waiting })
        }));
    }
    owed
}

fn waiting_run_for_question(run: &Run, question: &Question) -> WaitingRun {
    let text = question.prompt.iter().find_map(Part::as_text).unwrap_or_default();
    let mut short: String = text.chars().take(WAITING_TEXT_CHARS_MAX).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    WaitingRun {
        run: run.id(),
        workflow: run.submission.workflow.name.clone(),
        state: State::interrupted_by_question(question.clone()).name(),
        text: short,
    }
}
