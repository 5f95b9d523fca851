//! Reads and checks what callers send, before anything is decided on it.

use std::sync::Arc;

use serde_json::Value;
use trackway_definition::schema_cost::{is_large_text, is_slow_to_validate};
use trackway_domain::{
    Event, LateAnswer, Message, MessageId, ParsedAnswer, Part, QuestionId, RunId, ValidationError,
    is_json_too_deep, normalize_integers,
};
use trackway_engine::{SchemaChecker, parse_question_answer};

use crate::{
    Error, Program, ProgramRegistry, json_depth_limit, live_run::LiveRunRef, runtime_core::RuntimeCore,
};

/// Events read from the store at once during a search for one of them.
const PAGE_EVENTS: usize = 256;

impl ProgramRegistry {
    /// What is wrong with an input of that program: first by its schema, then by its type.
    pub(crate) fn check_program_input(&self, program: &dyn Program, input: &Value) -> Vec<ValidationError> {
        let problems = self.schemas.check_against_schema(&program.info().input_schema, input);
        if problems.is_empty() { program.check_input(input) } else { problems }
    }
}

impl RuntimeCore {
    /// The input of a new run as the program takes it, or what is wrong with it.
    pub(crate) async fn parse_program_input(
        self: &Arc<Self>,
        program: &Arc<dyn Program>,
        mut input: Value,
    ) -> Result<Value, Vec<ValidationError>> {
        if is_json_too_deep(&input) {
            return Err(vec![json_depth_limit::json_too_deep_error()]);
        }
        let (core, program, large) = (self.clone(), program.clone(), is_slow_to_validate(&input));
        let read = move || {
            normalize_integers(&mut input);
            match core.options.registry.check_program_input(&*program, &input) {
                problems if problems.is_empty() => Ok(input),
                problems => Err(problems),
            }
        };
        if !large {
            return read();
        }
        match self.tokio.spawn_blocking(read).await {
            Ok(read) => read,
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            // Only a runtime that is shut down cancels it.
            Err(_) => std::future::pending().await,
        }
    }

    /// Reads a large answer on a thread that serves no requests. None if it is small: the decision reads it
    /// itself.
    pub(crate) async fn parse_large_answer_off_thread(
        self: &Arc<Self>,
        live: &LiveRunRef,
        question: Option<QuestionId>,
        message: &Message,
    ) -> Option<Box<ParsedAnswer>> {
        let is_large = |part: &Part| {
            part.as_data().is_some_and(is_slow_to_validate) || part.as_text().is_some_and(is_large_text)
        };
        if !message.parts.iter().any(is_large) {
            return None;
        }
        let (workflow, question) = {
            let head = live.lock_head();
            let run = head.run.as_ref()?;
            let asked = run.questions.get(&question.or(run.last_question)?)?;
            (run.submission.workflow.clone(), asked.question.clone())
        };
        let (core, parts) = (self.clone(), message.parts.clone());
        let read =
            move || parse_question_answer(&workflow, &question, &parts, &core.options.registry.schemas);
        // If it fails, the decision reads it again and reports the failure itself.
        self.tokio.spawn_blocking(read).await.ok().map(Box::new)
    }

    /// What was wrong with the answer in this message, as the run's log records it.
    pub(crate) async fn load_recorded_answer_errors(
        &self,
        run: RunId,
        message: &MessageId,
    ) -> Result<Vec<ValidationError>, Error> {
        let mut after = 0;
        loop {
            let page = self.options.journal.list_events(run, after, PAGE_EVENTS).await?;
            let Some(last) = page.last() else { return Ok(Vec::new()) };
            after = last.seq;
            for stored in page {
                match stored.event {
                    Event::Refused { request, problems, .. }
                    | Event::LateAnswer(LateAnswer { request, problems })
                        if request.message.id == *message =>
                    {
                        return Ok(problems);
                    }
                    _ => {}
                }
            }
        }
    }
}
