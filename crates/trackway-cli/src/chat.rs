//! A conversation with an agent: each line is a turn, or answers a question of the turn or of a run that it
//! dispatched.
//!
//! Lines, updates and signals come in any order, and one loop handles each as it comes. A line that cannot
//! be used yet is kept: a message until the previous turn has ended, an answer until its question is open.

mod answer_form;
mod attachments;
pub(crate) mod chat_view;
mod clipped_parts;
mod line_queue;
mod session_history;
mod slash_command;
mod terminal_canvas;

use std::{
    collections::{HashSet, VecDeque},
    time::Duration,
};

use futures_util::{StreamExt, stream::SelectAll};
use serde_json::Value;
use tokio::time::Instant;
use trackway::api::{QuestionView, RunUpdate, RunUpdateKind, StartRequest};
use trackway_domain::{ErrorCode, RunId, SessionId};

use self::{
    answer_form::{AnswerForm, AnswerProgress, FieldSelection},
    attachments::PendingAttachments,
    chat_view::ChatView,
    line_queue::InputLineQueue,
    slash_command::SlashCommand,
};
use crate::{
    cli_error::CliError,
    exit_status::ExitStatus,
    output_streams,
    previous_inputs::PreviousInputs,
    run_client::{AnswerOutcome, RunClient, RunUpdates},
    run_target::HintCommandOptions,
    schema_form,
    stdin_lines::StdinLines,
    stop_signals::StopSignals,
    terminal_style::OutputMode,
    text_format,
};

/// Limit (CLI): runs that a conversation follows at once. On a server each is a connection.
const FOLLOWED_MAX: usize = 64;

/// How long a chat waits for the first update of a dispatched run before it reads the next line from a
/// pipe, or prompts at a terminal. Most runs ask or end within milliseconds, and a run that sleeps for a
/// day must not block the chat.
/// Limit (CLI): wait of a chat for the first update of a dispatched run.
const FIRST_UPDATE_WAIT: Duration = Duration::from_secs(10);

/// A running conversation.
pub(crate) struct ChatSession<'a> {
    engine: &'a RunClient,
    hint_options: HintCommandOptions<'a>,
    agent: String,
    session: Option<SessionId>,
    mode: OutputMode,
    view: ChatView,
    updates: SelectAll<RunUpdates>,
    /// The current turn.
    turn: Option<RunId>,
    /// The user has asked the turn to stop.
    is_stopping: bool,
    /// Runs that are followed in addition to the turn.
    followed: HashSet<RunId>,
    /// Those that have not ended and have no open question.
    busy_children: HashSet<RunId>,
    /// Busy runs that have sent no update for so long that the chat does not wait for them.
    silent_children: HashSet<RunId>,
    /// Values that the runs already got, offered as defaults if they ask again.
    previous_inputs: PreviousInputs,
    /// Files that go along with the next message.
    attachments: PendingAttachments,
    /// Questions that wait for an answer, the oldest first.
    questions: VecDeque<PendingQuestion>,
    /// There are no more lines.
    is_input_ended: bool,
}

/// A question, and its answer so far.
struct PendingQuestion {
    run: RunId,
    question: QuestionView,
    answer_form: AnswerForm,
}

/// Whether the conversation continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChatControlFlow {
    Continue,
    Exit(ExitStatus),
}

impl<'a> ChatSession<'a> {
    pub(crate) fn new(
        engine: &'a RunClient,
        again: HintCommandOptions<'a>,
        agent: String,
        json: bool,
    ) -> Self {
        let mode = OutputMode::new(json);
        Self {
            engine,
            hint_options: again,
            agent,
            session: None,
            mode,
            view: ChatView::new(mode),
            updates: SelectAll::new(),
            turn: None,
            is_stopping: false,
            followed: HashSet::new(),
            busy_children: HashSet::new(),
            silent_children: HashSet::new(),
            previous_inputs: PreviousInputs::default(),
            attachments: PendingAttachments::default(),
            questions: VecDeque::new(),
            is_input_ended: false,
        }
    }

    /// Shows which agent answers.
    pub(crate) fn print_greeting(&mut self, label: Option<&str>) -> Result<(), CliError> {
        self.view.render_greeting(&self.agent, label)?;
        if self.mode.is_terminal() {
            self.view.render_chat_note("/help lists the commands; /quit ends.")?;
        }
        Ok(())
    }

    /// Runs until the input ends or the user quits.
    pub(crate) async fn run_until_exit(mut self, signals: &mut StopSignals) -> Result<ExitStatus, CliError> {
        let mut lines = StdinLines::default();
        let mut typed = InputLineQueue::default();
        let mut patience = Instant::now() + FIRST_UPDATE_WAIT;
        self.draw_prompt_if_quiet();
        loop {
            if let Some(line) =
                typed.take_usable_line(|line| self.can_use_line_now(line), |line| self.is_urgent_line(line))
            {
                if let ChatControlFlow::Exit(exit) = self.handle_input_line(&line).await? {
                    return self.print_farewell(exit);
                }
                self.draw_prompt_if_quiet();
                patience = Instant::now() + FIRST_UPDATE_WAIT;
                if self.is_awaited_run_working() {
                    self.view.canvas.start_spinner();
                }
                continue;
            }
            if self.turn.is_some() && self.updates.is_empty() {
                return Err(self.engine.run_updates_broke_off_error());
            }
            if self.is_input_ended && self.is_chat_idle() {
                let exit = self.print_farewell(ExitStatus::Done)?;
                if typed.queued_line_count() > 0 {
                    output_streams::print_stderr_note(
                        "Some lines do not answer the open question, and were not sent.",
                    );
                }
                return Ok(exit);
            }
            tokio::select! {
                biased;
                () = signals.wait_for_stop_signal() => {
                    if let ChatControlFlow::Exit(exit) = self.handle_interrupt().await? {
                        return self.print_farewell(exit);
                    }
                }
                Some(heard) = self.updates.next(), if !self.updates.is_empty() => {
                    self.handle_run_update(&heard?)?;
                }
                line = lines.next_stdin_line(), if !typed.is_line_queue_full() && !self.is_input_ended => match line? {
                    Some(line) => {
                        self.view.canvas.on_line_typed();
                        typed.push_line(line);
                    }
                    None => self.is_input_ended = true,
                },
                () = tokio::time::sleep_until(patience), if self.turn.is_none() && self.has_awaited_children() => {
                    self.view.note_silent_runs(self.busy_children.difference(&self.silent_children))?;
                    self.silent_children.clone_from(&self.busy_children);
                    self.draw_prompt_if_quiet();
                }
                () = self.view.canvas.wait_for_spinner_frame(), if self.is_awaited_run_working() => {
                    self.view.canvas.draw_spinner();
                    continue;
                }
            }
            // Something has happened, so the wait begins again.
            patience = Instant::now() + FIRST_UPDATE_WAIT;
            if self.is_awaited_run_working() {
                self.view.canvas.start_spinner();
            }
        }
    }

    /// Whether this line can be used now.
    fn can_use_line_now(&self, line: &str) -> bool {
        let is_free = self.mode.is_terminal() || !self.has_awaited_children();
        match SlashCommand::parse_slash_command(line) {
            // Earlier lines are sent before this one is looked at, so a file goes with a later one.
            Some(
                SlashCommand::Stop | SlashCommand::Help | SlashCommand::Show(_) | SlashCommand::Attach(_),
            ) => true,
            Some(SlashCommand::Skip) => {
                self.mode.is_terminal() || !self.questions.is_empty() || self.is_chat_idle()
            }
            Some(SlashCommand::Quit) => self.mode.is_terminal() || self.is_chat_idle(),
            None if self.is_answer_line(line) => true,
            Some(SlashCommand::Fork) | None => self.turn.is_none() && is_free,
        }
    }

    /// Whether this line need not wait for earlier lines.
    fn is_urgent_line(&self, line: &str) -> bool {
        SlashCommand::parse_slash_command(line)
            .is_some_and(|command| command.is_urgent(self.mode.is_terminal()))
    }

    /// Whether this line, which is not a command, answers a question.
    fn is_answer_line(&self, line: &str) -> bool {
        !self.questions.is_empty() && !slash_command::is_offline_agent_command(line)
    }

    /// Whether a started run is expected to send an update soon.
    fn has_awaited_children(&self) -> bool {
        !self.busy_children.is_subset(&self.silent_children)
    }

    /// Whether a run works that a person waits for.
    fn is_awaited_run_working(&self) -> bool {
        let asks = |turn| self.questions.iter().any(|open| open.run == turn);
        self.turn.is_some_and(|turn| !asks(turn))
            || (self.questions.is_empty() && self.has_awaited_children())
    }

    /// Whether nothing more happens without another line.
    fn is_chat_idle(&self) -> bool {
        let asks = |turn| self.questions.iter().any(|open| open.run == turn);
        self.turn.is_none_or(asks) && (self.mode.is_terminal() || !self.has_awaited_children())
    }

    async fn handle_input_line(&mut self, line: &str) -> Result<ChatControlFlow, CliError> {
        match SlashCommand::parse_slash_command(line) {
            Some(SlashCommand::Quit) => return Ok(ChatControlFlow::Exit(ExitStatus::Done)),
            Some(SlashCommand::Stop) => self.cancel_current_work().await?,
            Some(SlashCommand::Skip) => self.skip_question()?,
            Some(SlashCommand::Fork) => self.fork_session().await?,
            Some(SlashCommand::Show(number)) => self.view.render_clipped_parts(number)?,
            Some(SlashCommand::Attach(path)) => {
                let note = self.attachments.attach_file(&path).unwrap_or_else(|refusal| refusal);
                self.view.render_chat_note(&text_format::replace_control_chars(&note))?;
            }
            Some(SlashCommand::Help) => {
                slash_command::HELP.iter().try_for_each(|line| self.view.render_chat_note(line))?
            }
            None if self.is_answer_line(line) => self.answer_oldest_question(line).await?,
            None if line.trim().is_empty() => {}
            None => self.start_turn(line).await?,
        }
        Ok(ChatControlFlow::Continue)
    }

    /// Begins a turn.
    async fn start_turn(&mut self, line: &str) -> Result<(), CliError> {
        let request = StartRequest {
            workflow: self.agent.clone(),
            input: Value::from(line),
            session_id: self.session.clone(),
            files: self.attachments.take_files(),
        };
        let run = self.engine.start_run(request).await?;
        self.session = Some(run.summary.session_id);
        self.view.begin_turn();
        self.watch_turn(run.summary.id).await
    }

    async fn watch_turn(&mut self, run: RunId) -> Result<(), CliError> {
        self.updates.push(self.engine.watch_run(run, 0).await?);
        self.turn = Some(run);
        Ok(())
    }

    fn handle_run_update(&mut self, update: &RunUpdate) -> Result<(), CliError> {
        let run = update.run_id;
        let is_turn = self.turn == Some(run);
        for child in update.referenced_child_runs() {
            if self.updates.len() < FOLLOWED_MAX && self.followed.insert(child) {
                self.busy_children.insert(child);
                self.updates.push(self.engine.watch_child_run(child));
            }
        }
        if is_turn {
            let followed = update.referenced_child_runs().all(|child| self.followed.contains(&child));
            self.view.render_turn_update(update, followed)?;
        } else {
            self.view.render_child_update(update)?;
        }
        if let RunUpdateKind::Task { input, .. } = &update.what {
            self.previous_inputs.record_run_input(run, input);
        }
        if update.last {
            self.previous_inputs.forget_run_inputs(run);
        }
        self.silent_children.remove(&run);
        let RunUpdateKind::Status { state, question, evidence, .. } = &update.what else {
            return Ok(());
        };
        // A message without a question leaves the open question open.
        if state.is_interrupted() && question.is_none() && evidence.is_none() {
            self.draw_prompt_if_quiet();
            return Ok(());
        }
        self.questions.retain(|open| open.run != run);
        self.busy_children.remove(&run);
        if let Some(question) = question {
            self.queue_question(run, question.clone());
        } else if is_turn && (update.last || evidence.is_some()) {
            if let Some(evidence) = evidence {
                self.view.render_chat_note(&format!("{run} is parked: {}", evidence.message))?;
            }
            (self.turn, self.is_stopping) = (None, false);
        } else if !is_turn && !update.last && evidence.is_none() {
            self.busy_children.insert(run);
        }
        self.draw_prompt_if_quiet();
        Ok(())
    }

    fn queue_question(&mut self, run: RunId, question: QuestionView) {
        let ask = if self.mode.is_terminal() { FieldSelection::All } else { FieldSelection::Required };
        let known = self.previous_inputs.defaults_for_question(run, &question);
        let answering = AnswerForm::new(&question.schema, ask, &known);
        self.questions.push_back(PendingQuestion { run, question, answer_form: answering });
    }

    /// A line for the oldest question.
    async fn answer_oldest_question(&mut self, line: &str) -> Result<(), CliError> {
        let Some(open) = self.questions.front_mut() else { return Ok(()) };
        let answer = match open.answer_form.accept_answer_line(line) {
            AnswerProgress::NeedsLine => return Ok(()),
            AnswerProgress::Invalid(why) => {
                return Ok(self
                    .view
                    .render_chat_note(&format!("  {}", text_format::replace_control_chars(&why)))?);
            }
            AnswerProgress::Complete(answer) => answer,
        };
        let (run, question) = (open.run, open.question.id);
        self.previous_inputs.record_run_input(run, &answer);
        // If the answer is refused, an update asks the question again.
        self.questions.pop_front();
        if self.turn != Some(run) {
            self.busy_children.insert(run);
        }
        match self.engine.answer_question(run, Some(question), answer).await {
            Ok(AnswerOutcome::Accepted { .. } | AnswerOutcome::Refused(_)) => {}
            Ok(AnswerOutcome::Late) => self.view.render_chat_note("Another client has already answered.")?,
            // The run was canceled in the meantime; its last update reports that.
            Err(failure) if failure.code.as_deref() == Some(ErrorCode::RunEnded.as_str()) => {}
            Err(failure) => return Err(failure),
        }
        Ok(())
    }

    /// Stops the turn. Without a turn, it stops the run with the oldest question, else all runs that still
    /// work.
    async fn cancel_current_work(&mut self) -> Result<(), CliError> {
        let one = self.turn.or_else(|| self.questions.front().map(|open| open.run));
        let runs = one.map_or_else(|| self.busy_children.iter().copied().collect(), |run| vec![run]);
        if runs.is_empty() {
            return Ok(self.view.render_chat_note("Nothing is running.")?);
        }
        self.is_stopping = self.turn.is_some();
        for run in runs {
            match self.engine.cancel_run(run).await {
                Ok(_) => {}
                // The run ended first; its last update will arrive.
                Err(failure) if failure.code.as_deref() == Some(ErrorCode::RunEnded.as_str()) => {}
                Err(failure) => return Err(failure),
            }
        }
        Ok(())
    }

    fn skip_question(&mut self) -> Result<(), CliError> {
        let Some(open) = self.questions.pop_front() else {
            return Ok(self.view.render_chat_note("No question is open.")?);
        };
        self.print_answer_hint(&open);
        // A turn may wait for its answer for ever, so the conversation continues without it.
        if self.turn == Some(open.run) {
            self.view.set_run_name(open.run, &self.agent);
            (self.turn, self.is_stopping) = (None, false);
        }
        Ok(())
    }

    async fn fork_session(&mut self) -> Result<(), CliError> {
        let Some(session) = &self.session else {
            return Ok(self.view.render_chat_note("There is no message yet.")?);
        };
        let forked = session_history::fork_session(self.engine, &self.agent, session).await?;
        self.view.render_chat_note(&format!("This is {forked} now; {session} stays as it is."))?;
        self.session = Some(forked);
        Ok(())
    }

    /// Ctrl-C stops the turn. Without a turn, or the second time, it ends the conversation.
    async fn handle_interrupt(&mut self) -> Result<ChatControlFlow, CliError> {
        if self.turn.is_none() || self.is_stopping {
            return Ok(ChatControlFlow::Exit(ExitStatus::Interrupted));
        }
        self.cancel_current_work().await?;
        Ok(ChatControlFlow::Continue)
    }

    /// Continues a session: shows its last lines, and follows its unfinished runs.
    pub(crate) async fn resume_session(&mut self, session: SessionId) -> Result<(), CliError> {
        for line in session_history::render_last_turns(self.engine, &self.agent, &session).await? {
            self.view.render_chat_note(&line)?;
        }
        for run in session_history::load_unfinished_runs(self.engine, &session).await? {
            let id = run.summary.id;
            if run.summary.workflow == self.agent && run.summary.parent_id.is_none() {
                self.view.begin_turn();
                self.watch_turn(id).await?;
                continue;
            }
            self.view.set_run_name(id, &run.summary.workflow);
            self.followed.insert(id);
            self.previous_inputs.record_run_input(id, &run.input);
            self.updates.push(self.engine.watch_run(id, run.pos).await?);
            if let Some(question) = run.question {
                self.view.render_question(Some(&run.summary.workflow), &question)?;
                self.queue_question(id, question);
            }
        }
        self.session = Some(session);
        Ok(())
    }

    /// The newest session of this agent.
    pub(crate) async fn find_newest_session(&self) -> Result<Option<SessionId>, CliError> {
        session_history::find_newest_session(self.engine, &self.agent).await
    }

    /// Shows the prompt once nothing else writes.
    fn draw_prompt_if_quiet(&mut self) {
        if self.is_input_ended {
            return;
        }
        let is_quiet = |run| self.turn.is_none_or(|turn| turn == run);
        match self.questions.front() {
            Some(open) if is_quiet(open.run) => {
                self.view.canvas.draw_prompt(&open.answer_form.render_answer_prompt())
            }
            None if self.turn.is_none() && !self.has_awaited_children() => self.view.canvas.draw_prompt("> "),
            Some(_) | None => {}
        }
    }

    /// Prints how to come back.
    fn print_farewell(&mut self, exit: ExitStatus) -> Result<ExitStatus, CliError> {
        // The line may contain a prompt, or half a sentence.
        self.view.canvas.end_line()?;
        for open in &self.questions {
            self.print_answer_hint(open);
        }
        if let Some(note) = self.attachments.unsent_note() {
            output_streams::print_stderr_note(&text_format::replace_control_chars(&note));
        }
        if let (Some(session), true) = (&self.session, self.mode.is_terminal()) {
            let again = self.hint_options.drive_command_options();
            output_streams::print_stderr_note(&format!(
                "hint: trackway chat {} --session {session} {again}",
                text_format::quote_for_shell(&self.agent)
            ));
        }
        Ok(exit)
    }

    fn print_answer_hint(&self, open: &PendingQuestion) {
        let PendingQuestion { run, question, .. } = open;
        let answer = text_format::quote_for_shell(&schema_form::render_answer_template(&question.schema));
        let again = self.hint_options.drive_command_options();
        output_streams::print_stderr_note(&text_format::replace_control_chars(&format!(
            "{run} waits for an answer.\nhint: trackway runs resume {run} --input {answer} {again}"
        )));
    }
}
