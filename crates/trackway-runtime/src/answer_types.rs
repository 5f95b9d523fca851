//! The Rust types of answers. A program that asks a question names the type of the answer, so that the
//! runtime can check an answer before it records it. This registry keeps types of the code, never runs: a
//! restarted process learns them from the programs when an answer arrives.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use trackway_domain::{Event, QuestionId, WorkflowRef};

use crate::{
    Error, ValueType,
    live_run::LiveRunRef,
    program_drive,
    runtime_core::RuntimeCore,
    stage::{Stage, StageInner, StageMode},
};

/// A replay only computes. A replay that takes longer waits for something outside of its context.
///
/// Limit (Runtime): time for a program to reach its question again before an answer is judged.
const DISCOVERY_TIMEOUT: Duration = Duration::from_secs(10);

/// Types of answers by workflow and name.
#[derive(Debug, Default)]
pub(crate) struct AnswerTypeRegistry {
    /// Held only to look up or insert.
    types: Mutex<HashMap<WorkflowRef, HashMap<&'static str, ValueType>>>,
}

impl AnswerTypeRegistry {
    pub(crate) fn get_answer_type(&self, workflow: &WorkflowRef, name: &str) -> Option<ValueType> {
        self.lock_answer_types().get(workflow)?.get(name).copied()
    }

    pub(crate) fn insert_answer_type(&self, workflow: &WorkflowRef, answer: ValueType) {
        let mut known = self.lock_answer_types();
        match known.get_mut(workflow) {
            Some(types) => drop(types.insert(answer.rust_type_name(), answer)),
            None => drop(known.insert(workflow.clone(), HashMap::from([(answer.rust_type_name(), answer)]))),
        }
    }

    fn lock_answer_types(&self) -> MutexGuard<'_, HashMap<WorkflowRef, HashMap<&'static str, ValueType>>> {
        self.types.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RuntimeCore {
    /// Registers the type that answers to the open question are read into. If no program of this process has
    /// asked for it yet, the run's program is replayed: it comes to its question again and names the type.
    /// The replay records nothing and does nothing. If the program does not reach its question, the type
    /// stays unknown, and the answer is judged by the schema alone.
    pub(crate) async fn discover_answer_type_by_replay(
        self: &Arc<Self>,
        live: &LiveRunRef,
        question: Option<QuestionId>,
    ) -> Result<(), Error> {
        let Some((workflow, name)) = open_question_answer_type(live, question) else { return Ok(()) };
        if self.options.registry.schemas.answer_types.get_answer_type(&workflow, &name).is_some() {
            return Ok(());
        }
        let Some(program) = self.load_program_of_workflow(&workflow).await? else { return Ok(()) };
        let mut log = self.load_run_log(live.id).await?.into_iter().map(|stored| stored.event);
        let Some(Event::Submitted(submission)) = log.next() else { return Ok(()) };
        let log: Vec<Event> = log.collect();
        let inner = StageInner::new(&submission, StageMode::DiscoverTypes(self.clone()));
        inner.lock_replay_state().fill_from_log_events(log.iter());
        drop(log);
        let mut future = program.run(Stage(inner.clone()), submission.input);
        let replayed = std::future::poll_fn(|cx| program_drive::poll_program(&inner, &mut future, cx));
        let _ = tokio::time::timeout(DISCOVERY_TIMEOUT, replayed).await;
        inner.lock_replay_state().is_dropping = true;
        Ok(())
    }
}

/// The workflow and the type's name, if the open question has one.
fn open_question_answer_type(
    live: &LiveRunRef,
    question: Option<QuestionId>,
) -> Option<(WorkflowRef, String)> {
    let head = live.lock_head();
    let run = head.run.as_ref()?;
    let open = run.state.open_question().filter(|open| Some(open.id) == question)?;
    Some((run.submission.workflow.clone(), open.answer_type.clone()?))
}
