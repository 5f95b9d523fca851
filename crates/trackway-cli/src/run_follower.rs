//! Follows a run: shows its updates and asks its questions, until the run ends or has to wait.

use std::collections::{HashSet, VecDeque};

use futures_util::{StreamExt, stream::SelectAll};
use trackway::api::{QuestionView, RunUpdate, RunUpdateKind};
use trackway_domain::{ErrorCode, Position, RunId};

use crate::{
    answer_source::AnswerSource,
    cli_error::CliError,
    exit_status::ExitStatus,
    output_streams,
    previous_inputs::PreviousInputs,
    run_client::{AnswerOutcome, RunClient, RunUpdates},
    run_screen::RunScreen,
    run_target::HintCommandOptions,
    schema_form,
    stop_signals::StopSignals,
    text_format,
};

/// Runs that `run` follows at once: the started run and its children. There may be no other client that
/// answers the questions of the children. On a server each followed run is a connection.
/// Limit (CLI): runs that a command follows at once.
const FOLLOWED_MAX: usize = 64;

/// A run that is followed.
pub(crate) struct RunFollower<'a> {
    engine: &'a RunClient,
    screen: RunScreen,
    hint_options: HintCommandOptions<'a>,
    root: RunId,
    updates: SelectAll<RunUpdates>,
    followed: HashSet<RunId>,
    /// Values that the runs already got, offered as defaults if they ask again.
    previous_inputs: PreviousInputs,
    /// Questions that wait for an answer, the oldest first.
    questions: VecDeque<(RunId, QuestionView)>,
}

/// The result of one step.
enum FollowDecision {
    Continue,
    /// The run waits or has ended.
    Stop(ExitStatus),
}

impl<'a> RunFollower<'a> {
    /// Follows the run from this position on.
    pub(crate) async fn new(
        engine: &'a RunClient,
        screen: RunScreen,
        hint_options: HintCommandOptions<'a>,
        root: RunId,
        after: Position,
    ) -> Result<Self, CliError> {
        let mut updates = SelectAll::new();
        updates.push(engine.watch_run(root, after).await?);
        let known = HashSet::from([root]);
        let (known_values, open) = (PreviousInputs::default(), VecDeque::new());
        Ok(Self {
            engine,
            screen,
            hint_options,
            root,
            updates,
            followed: known,
            previous_inputs: known_values,
            questions: open,
        })
    }

    /// Follows until the run ends, is parked, or waits and there is no more input.
    pub(crate) async fn follow_until_run_stops(
        mut self,
        asker: &mut AnswerSource,
        signals: &mut StopSignals,
    ) -> Result<ExitStatus, CliError> {
        loop {
            let step = match self.questions.front().cloned() {
                Some((run, question)) => self.ask_user_question(run, &question, asker, signals).await?,
                None => {
                    self.screen.start_spinner();
                    tokio::select! {
                        biased;
                        () = signals.wait_for_stop_signal() => FollowDecision::Stop(self.report_interrupted_following()),
                        heard = self.updates.next() => self.handle_run_update(heard)?,
                        () = self.screen.wait_for_spinner_frame() => {
                            self.screen.draw_spinner();
                            FollowDecision::Continue
                        }
                    }
                }
            };
            if let FollowDecision::Stop(exit) = step {
                self.screen.stop_spinner();
                self.print_clipped_output_hint();
                return Ok(exit);
            }
        }
    }

    /// Asks one question while updates continue: another client may answer it first.
    async fn ask_user_question(
        &mut self,
        run: RunId,
        question: &QuestionView,
        asker: &mut AnswerSource,
        signals: &mut StopSignals,
    ) -> Result<FollowDecision, CliError> {
        self.screen.stop_spinner();
        let known = self.previous_inputs.defaults_for_question(run, question);
        let mut asking = std::pin::pin!(asker.answer_question(question, &known));
        loop {
            let answer = tokio::select! {
                biased;
                () = signals.wait_for_stop_signal() => return Ok(FollowDecision::Stop(self.report_interrupted_following())),
                heard = self.updates.next() => match self.handle_run_update(heard)? {
                    FollowDecision::Continue if self.questions.front().is_some_and(|(_, open)| open == question) => continue,
                    step => return Ok(step),
                },
                answer = &mut asking => answer?,
            };
            let Some(answer) = answer else {
                return Ok(FollowDecision::Stop(self.report_waiting_run(run, question)));
            };
            self.previous_inputs.record_run_input(run, &answer);
            // If the answer is refused, an update asks the question again.
            self.questions.retain(|(_, open)| open.id != question.id);
            match self.engine.answer_question(run, Some(question.id), answer).await {
                Ok(AnswerOutcome::Accepted { .. } | AnswerOutcome::Refused(_)) => {}
                Ok(AnswerOutcome::Late) => {
                    output_streams::print_stderr_note("Another client has already answered.")
                }
                // The run was canceled in the meantime; its last update reports that.
                Err(failure) if failure.code.as_deref() == Some(ErrorCode::RunEnded.as_str()) => {}
                Err(failure) => return Err(failure),
            }
            return Ok(FollowDecision::Continue);
        }
    }

    fn handle_run_update(
        &mut self,
        received: Option<Result<RunUpdate, CliError>>,
    ) -> Result<FollowDecision, CliError> {
        let update = match received {
            Some(Ok(update)) => update,
            Some(Err(failure)) => return Err(self.with_runs_show_hint(failure)),
            None => return Err(self.engine.run_updates_broke_off_error()),
        };
        let is_root = update.run_id == self.root;
        if is_root {
            self.screen.print_update(&update)?;
        }
        for child in update.referenced_child_runs() {
            if self.updates.len() < FOLLOWED_MAX && self.followed.insert(child) {
                self.updates.push(self.engine.watch_child_run(child));
            }
        }
        if let RunUpdateKind::Task { input, .. } = &update.what {
            self.previous_inputs.record_run_input(update.run_id, input);
        }
        let RunUpdateKind::Status { state, question, evidence, .. } = &update.what else {
            return Ok(FollowDecision::Continue);
        };
        if update.last {
            self.previous_inputs.forget_run_inputs(update.run_id);
        }
        // A message without a question leaves the open question open.
        if state.is_interrupted() && question.is_none() && evidence.is_none() {
            return Ok(FollowDecision::Continue);
        }
        self.questions.retain(|(run, _)| *run != update.run_id);
        if let Some(question) = question {
            if !is_root {
                self.screen.print_child_question(&update)?;
            }
            self.questions.push_back((update.run_id, question.clone()));
        }
        Ok(match evidence {
            _ if is_root && update.last => FollowDecision::Stop(ExitStatus::from_run_state(*state)),
            Some(_) if is_root => FollowDecision::Stop(self.report_parked_run()),
            _ => FollowDecision::Continue,
        })
    }

    fn with_runs_show_hint(&self, failure: CliError) -> CliError {
        failure.with_hint(format!(
            "trackway runs show {} {}",
            self.root,
            self.hint_options.read_command_options()
        ))
    }

    fn print_clipped_output_hint(&self) {
        if self.screen.has_clipped() {
            let (root, again) = (self.root, self.hint_options.read_command_options());
            output_streams::print_stderr_note(&format!(
                "Some of it is shortened here.\nhint: trackway runs show {root} --json {again}"
            ));
        }
    }

    fn report_waiting_run(&self, run: RunId, question: &QuestionView) -> ExitStatus {
        output_streams::print_stderr_note(&format!("{run} waits for an answer."));
        self.print_resume_hint(run, question);
        ExitStatus::Waiting
    }

    fn print_resume_hint(&self, run: RunId, question: &QuestionView) {
        let answer = text_format::quote_for_shell(&schema_form::render_answer_template(&question.schema));
        let again = self.hint_options.drive_command_options();
        output_streams::print_stderr_note(&text_format::replace_control_chars(&format!(
            "hint: trackway runs resume {run} --input {answer} {again}"
        )));
    }

    fn report_parked_run(&self) -> ExitStatus {
        output_streams::print_stderr_note(
            "The program does not fit the run's log; the run continues when a matching program runs.",
        );
        output_streams::print_stderr_note(&format!(
            "hint: trackway runs replay-check {} {}",
            self.root,
            self.hint_options.read_command_options()
        ));
        output_streams::print_stderr_note(&format!("see: docs/errors/{}.md", ErrorCode::ReplayMismatch));
        ExitStatus::ReplayMismatch
    }

    fn report_interrupted_following(&mut self) -> ExitStatus {
        self.screen.stop_spinner();
        let root = self.root;
        if self.engine.is_local() {
            let again = self.hint_options.drive_command_options();
            output_streams::print_stderr_note(&format!(
                "\nInterrupted. {root} is kept and continues at the next start:"
            ));
            output_streams::print_stderr_note(&format!("hint: trackway serve {again}"));
        } else {
            output_streams::print_stderr_note(&format!(
                "\nNo longer watching. {root} continues on the server."
            ));
        }
        if let Some((run, question)) = self.questions.front() {
            self.print_resume_hint(*run, question);
        }
        ExitStatus::Interrupted
    }
}
