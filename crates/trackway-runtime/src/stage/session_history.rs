//! Earlier runs that a program may read: the logs of its own session.
//!
//! Reading is not recorded. A program reads inside a step, or reads what a step has named: events up to a
//! given number never change.

use std::{collections::BTreeMap, sync::Arc};

use trackway_domain::{
    Access, Event, Op, Question, QuestionId, RunId, Seq, SessionId, Timestamp, WorkflowRef,
};
use trackway_engine::RunView;
use trackway_ports::{ReadError, RunFilter, RunRow, StoredEvent};

use super::Stage;
use crate::{Error, ProgramKind, live_run::LiveRunRef, runtime_core::RuntimeCore};

/// Events read at once.
const PAGE_EVENTS: usize = 256;

/// Questions of one session that are read: more than a person keeps open at once.
/// Limit (Runtime): open questions of one session that are read.
const QUESTIONS_MAX: usize = 16;

/// A question of the session that waits for an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenQuestion {
    pub run: RunId,
    pub workflow: String,
    pub question: Question,
    pub source: QuestionSource,
}

/// What asked a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuestionSource {
    /// A workflow itself.
    Workflow,
    /// An agent's turn, or anything else that is not known to be a workflow.
    Agent,
    /// A tool within a step.
    Tool,
}

/// The logs of one session that belong to the caller.
#[derive(Debug, Clone)]
pub struct SessionHistory {
    core: Arc<RuntimeCore>,
    session: SessionId,
    access: Access,
}

impl Stage {
    /// The logs of the run's session; none if a log is only checked.
    pub fn session_history(&self) -> Option<SessionHistory> {
        let (core, _) = self.0.live_run()?;
        let (session, access) = (self.session_id().clone(), Access::own_only(self.caller().clone()));
        Some(SessionHistory { core: core.clone(), session, access })
    }
}

impl SessionHistory {
    /// The session's runs, of one workflow or of any.
    fn session_run_filter(&self, workflow: Option<String>) -> RunFilter {
        RunFilter {
            access: Some(self.access.clone()),
            session: Some(self.session.clone()),
            workflow,
            states: Vec::new(),
        }
    }

    /// The runs of the session with their workflows, newest first.
    pub async fn list_runs_with_workflow(&self, limit: usize) -> Result<Vec<(RunId, String)>, ReadError> {
        let rows = self.core.options.journal.list_runs(self.session_run_filter(None), None, limit).await?;
        Ok(rows.into_iter().map(|row| (row.id, row.workflow.name)).collect())
    }

    /// The rows of the session's runs, newest first.
    pub async fn list_session_run_rows(&self, limit: usize) -> Result<Vec<RunRow>, ReadError> {
        self.core.options.journal.list_runs(self.session_run_filter(None), None, limit).await
    }

    /// A run of the session as users see it; none if it is of another session.
    pub async fn load_run_view(&self, run: RunId) -> Result<Option<RunView>, Error> {
        let live = self.core.load_run_for_read(run).await?;
        let view = live.lock_committed_state().view.clone();
        Ok(view.filter(|view| {
            let submission = &view.submission;
            submission.session == self.session && self.access.covers_owner(&submission.caller)
        }))
    }

    /// Earlier runs of that workflow in the session that no other run started, newest first.
    pub async fn list_earlier_workflow_runs(
        &self,
        workflow: &str,
        before: RunId,
        limit: usize,
    ) -> Result<Vec<RunId>, ReadError> {
        let mut earlier = Vec::new();
        let mut before = Some(before);
        while earlier.len() < limit {
            let filter = self.session_run_filter(Some(workflow.to_owned()));
            let rows = self.core.options.journal.list_runs(filter, before, limit).await?;
            let whole = rows.len() < limit;
            before = rows.last().map(|row| row.id);
            let own = rows.into_iter().filter(|row| row.parent.is_none()).map(|row| row.id);
            earlier.extend(own.take(limit - earlier.len()));
            if whole {
                break;
            }
        }
        Ok(earlier)
    }

    /// The events of a run: all of them, or up to that number.
    pub async fn load_run_events(
        &self,
        run: RunId,
        up_to: Option<Seq>,
    ) -> Result<Vec<StoredEvent>, ReadError> {
        let end = up_to.unwrap_or(Seq::MAX);
        let mut events: Vec<StoredEvent> = Vec::new();
        loop {
            let after = events.last().map_or(0, |stored| stored.seq);
            let page = self.core.options.journal.list_events(run, after, PAGE_EVENTS).await?;
            let whole = page.last().is_none_or(|last| last.seq >= end);
            events.extend(page.into_iter().filter(|stored| stored.seq <= end));
            if whole {
                return Ok(events);
            }
        }
    }

    /// The questions of the session that wait for an answer, the oldest run first.
    pub async fn list_open_questions(&self) -> Result<Vec<OpenQuestion>, Error> {
        let (caller, session) = (self.access.caller.clone(), self.session.clone());
        let mut waiting =
            self.core.options.journal.list_waiting_runs(caller, session, None, QUESTIONS_MAX).await?;
        waiting.sort_unstable();
        let mut questions = Vec::new();
        for run in waiting {
            let live = self.core.load_run_for_read(run).await?;
            let Some((question, within, workflow)) = committed_open_question(&live) else { continue };
            let asker =
                if within { QuestionSource::Tool } else { self.find_question_source(&workflow).await? };
            questions.push(OpenQuestion { run, workflow: workflow.name, question, source: asker });
        }
        Ok(questions)
    }

    /// When that step of a run asked questions, and when they were answered.
    pub async fn question_and_answer_times_in_step(
        &self,
        run: RunId,
        step: &Op,
    ) -> Result<Vec<(Timestamp, Timestamp)>, Error> {
        let live = self.core.load_run_for_read(run).await?;
        let (seq, asked) = questions_answered_in_step(&live, step);
        if asked.is_empty() {
            return Ok(Vec::new());
        }
        // A program acts on an answer before it is durable.
        live.wait_until_seq_committed(seq).await;
        let (mut put, mut times) = (BTreeMap::new(), Vec::new());
        for StoredEvent { at, event, .. } in self.load_run_events(run, None).await? {
            match event {
                Event::Asked { question, .. } if asked.contains(&question.id) => {
                    put.insert(question.id, at);
                }
                Event::Resumed { request, .. } => {
                    times.extend(put.remove(&request.question).map(|from| (from, at)));
                }
                _ => {}
            }
        }
        Ok(times)
    }

    /// What asks, if no step does.
    async fn find_question_source(&self, workflow: &WorkflowRef) -> Result<QuestionSource, Error> {
        let program = self.core.load_program_of_workflow(workflow).await?;
        let is_workflow = program.is_some_and(|program| program.info().kind == ProgramKind::Workflow);
        Ok(if is_workflow { QuestionSource::Workflow } else { QuestionSource::Agent })
    }
}

/// The open question of a run, whether a step asked it, and the workflow.
fn committed_open_question(live: &LiveRunRef) -> Option<(Question, bool, WorkflowRef)> {
    let head = live.lock_head();
    let known = head.run.as_ref()?;
    let question = known.state.open_question()?;
    // A decision that is not committed must not be visible yet.
    live.lock_committed_state().view.as_ref()?.question.as_ref().filter(|shown| shown.id == question.id)?;
    // Questions of a step have its name as their key, others have none.
    let within = known.questions.get(&question.id).is_none_or(|asked| !asked.op.key.is_empty());
    Some((question.clone(), within, known.submission.workflow.clone()))
}

/// The last decided event of the run, and the answered questions of that step.
fn questions_answered_in_step(live: &LiveRunRef, step: &Op) -> (Seq, Vec<QuestionId>) {
    let head = live.lock_head();
    let Some(known) = head.run.as_ref() else { return (0, Vec::new()) };
    let key = step.to_string();
    let within = known.questions.values().filter(|asked| *asked.op.key == *key && asked.answered);
    (known.seq, within.map(|asked| asked.question.id).collect())
}
