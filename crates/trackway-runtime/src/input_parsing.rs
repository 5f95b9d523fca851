//! Reads and checks what callers send and what programs return, before anything is decided on it.

use std::sync::Arc;

use serde_json::Value;
use trackway_definition::schema_cost::{is_large_text, is_slow_to_validate};
use trackway_domain::{
    Event, Failure, JSON_DEPTH_MAX, LateAnswer, Message, MessageId, ParsedAnswer, Part, QuestionId, RunId,
    ValidationError, is_json_too_deep, normalize_integers,
};
use trackway_engine::{SchemaChecker, parse_question_answer};

use crate::{
    Error, Program, ProgramRegistry, json_depth_limit, live_run::LiveRunRef, runtime_core::RuntimeCore,
};

/// Events read from the store at once during a search for one of them.
const PAGE_EVENTS: usize = 256;

/// Mistakes in an output that its failure names. An author needs the first ones.
/// Limit (Runtime): mistakes in an output that a failure names.
const OUTPUT_ERRORS_MAX: usize = 5;

impl ProgramRegistry {
    /// What is wrong with an input of that program: first by its schema, then by its type.
    pub(crate) fn check_program_input(&self, program: &dyn Program, input: &Value) -> Vec<ValidationError> {
        let problems = self.schemas.check_against_schema(&program.info().input_schema, input);
        if problems.is_empty() { program.check_input(input) } else { problems }
    }

    /// The output of that program, or why it must not be sent.
    fn check_program_output(&self, program: &dyn Program, output: Value) -> Result<Value, Failure> {
        if is_json_too_deep(&output) {
            let message = format!("the output is nested deeper than {JSON_DEPTH_MAX} levels");
            return Err(Failure::new(message));
        }
        let schema = &program.info().output_schema;
        // An agent declares no schema.
        if schema.is_null() {
            return Ok(output);
        }
        let problems = self.schemas.check_against_schema(schema, &output);
        if problems.is_empty() {
            return Ok(output);
        }
        let named: Vec<String> =
            problems.iter().take(OUTPUT_ERRORS_MAX).map(ValidationError::format_validation_error).collect();
        let message = format!("the output does not satisfy the workflow's own schema: {}", named.join("; "));
        Err(Failure::new(message))
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

    /// The output of a program that has returned, or why it must not be sent. A large one is checked on a
    /// thread that serves no requests.
    pub(crate) async fn check_output_before_end(
        self: &Arc<Self>,
        live: &LiveRunRef,
        program: &Arc<dyn Program>,
        output: Value,
    ) -> Result<Value, Failure> {
        if !is_slow_to_validate(&output) {
            return self.options.registry.check_program_output(&**program, output);
        }
        // Others may wait for what the program did last.
        live.flush_buffered_appends(self);
        let (core, program) = (self.clone(), program.clone());
        let check = move || core.options.registry.check_program_output(&*program, output);
        match self.tokio.spawn_blocking(check).await {
            Ok(checked) => checked,
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
