//! A conversation with an agent: each line is a turn, or answers a question of the turn or of a run that it
//! dispatched.
//!
//! Lines, updates and signals come in any order, and one loop handles each as it comes. A line that cannot
//! be used yet is kept: a message until the previous turn has ended, an answer until its question is open.

mod answering;
mod canvas;
mod clipped;
mod command;
mod past;
mod typed;
pub(crate) mod view;

use std::{
    collections::{HashSet, VecDeque},
    time::Duration,
};

use futures_util::{StreamExt, stream::SelectAll};
use serde_json::Value;
use tokio::time::Instant;
use trackway::api::{Question, RunUpdate, StartRequest, What};
use trackway_domain::{Code, RunId, SessionId};

use self::{
    answering::{Answering, Ask, Progress},
    command::Command,
    typed::Typed,
    view::View,
};
use crate::{
    engine::{Answer, Engine, Updates},
    exit::Exit,
    failure::Failure,
    form,
    known::KnownValues,
    output,
    place::Again,
    signals::Signals,
    style::OutputMode,
    terminal::Lines,
    text,
};

/// Limit (CLI): runs that a conversation follows at once. On a server each is a connection.
const FOLLOWED_MAX: usize = 64;

/// How long a chat waits for the first update of a dispatched run before it reads the next line from a
/// pipe, or prompts at a terminal. Most runs ask or end within milliseconds, and a run that sleeps for a
/// day must not block the chat.
/// Limit (CLI): wait of a chat for the first update of a dispatched run.
const PATIENCE: Duration = Duration::from_secs(10);

/// A running conversation.
pub(crate) struct Chat<'a> {
    engine: &'a Engine,
    again: Again<'a>,
    agent: String,
    session: Option<SessionId>,
    mode: OutputMode,
    view: View,
    updates: SelectAll<Updates>,
    /// The current turn.
    turn: Option<RunId>,
    /// The user has asked the turn to stop.
    stopping: bool,
    /// Runs that are followed in addition to the turn.
    known: HashSet<RunId>,
    /// Those that have not ended and have no open question.
    busy: HashSet<RunId>,
    /// Busy runs that have sent no update for so long that the chat does not wait for them.
    quiet: HashSet<RunId>,
    /// Values that the runs already got, offered as defaults if they ask again.
    known_values: KnownValues,
    /// Questions that wait for an answer, the oldest first.
    open: VecDeque<Open>,
    /// There are no more lines.
    ended: bool,
}

/// A question, and its answer so far.
struct Open {
    run: RunId,
    question: Question,
    answering: Answering,
}

/// Whether the conversation continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flow {
    On,
    Ends(Exit),
}

impl<'a> Chat<'a> {
    pub(crate) fn new(engine: &'a Engine, again: Again<'a>, agent: String, json: bool) -> Self {
        let mode = OutputMode::new(json);
        Self {
            engine,
            again,
            agent,
            session: None,
            mode,
            view: View::new(mode),
            updates: SelectAll::new(),
            turn: None,
            stopping: false,
            known: HashSet::new(),
            busy: HashSet::new(),
            quiet: HashSet::new(),
            known_values: KnownValues::default(),
            open: VecDeque::new(),
            ended: false,
        }
    }

    /// Shows which agent answers.
    pub(crate) fn greet(&mut self, label: Option<&str>) -> Result<(), Failure> {
        self.view.begin(&self.agent, label)?;
        if self.mode.is_terminal() {
            self.view.aside("/help lists the commands; /quit ends.")?;
        }
        Ok(())
    }

    /// Runs until the input ends or the user quits.
    pub(crate) async fn run(mut self, signals: &mut Signals) -> Result<Exit, Failure> {
        let mut lines = Lines::default();
        let mut typed = Typed::default();
        let mut patience = Instant::now() + PATIENCE;
        self.prompt();
        loop {
            if let Some(line) = typed.take(|line| self.takes(line), |line| self.is_urgent(line)) {
                if let Flow::Ends(exit) = self.line(&line).await? {
                    return self.leave(exit);
                }
                self.prompt();
                patience = Instant::now() + PATIENCE;
                if self.is_working() {
                    self.view.canvas.work();
                }
                continue;
            }
            if self.turn.is_some() && self.updates.is_empty() {
                return Err(self.engine.broke_off());
            }
            if self.ended && self.rests() {
                let exit = self.leave(Exit::Done)?;
                if typed.len() > 0 {
                    output::note("Some lines do not answer the open question, and were not sent.");
                }
                return Ok(exit);
            }
            tokio::select! {
                biased;
                () = signals.next() => {
                    if let Flow::Ends(exit) = self.interrupted().await? {
                        return self.leave(exit);
                    }
                }
                Some(heard) = self.updates.next(), if !self.updates.is_empty() => {
                    self.hear(&heard?)?;
                }
                line = lines.next(), if !typed.is_full() && !self.ended => match line? {
                    Some(line) => {
                        self.view.canvas.typed();
                        typed.push(line);
                    }
                    None => self.ended = true,
                },
                () = tokio::time::sleep_until(patience), if self.turn.is_none() && self.is_awaited() => {
                    self.view.stop_waiting(self.busy.difference(&self.quiet))?;
                    self.quiet.clone_from(&self.busy);
                    self.prompt();
                }
                () = self.view.canvas.spinner_due(), if self.is_working() => {
                    self.view.canvas.draw_spinner();
                    continue;
                }
            }
            // Something has happened, so the wait begins again.
            patience = Instant::now() + PATIENCE;
            if self.is_working() {
                self.view.canvas.work();
            }
        }
    }

    /// Whether this line can be used now.
    fn takes(&self, line: &str) -> bool {
        let is_free = self.mode.is_terminal() || !self.is_awaited();
        match Command::of(line) {
            Some(Command::Stop | Command::Help | Command::Show(_)) => true,
            Some(Command::Skip) => self.mode.is_terminal() || !self.open.is_empty() || self.rests(),
            Some(Command::Quit) => self.mode.is_terminal() || self.rests(),
            None if self.answers(line) => true,
            Some(Command::Fork) | None => self.turn.is_none() && is_free,
        }
    }

    /// Whether this line need not wait for earlier lines.
    fn is_urgent(&self, line: &str) -> bool {
        Command::of(line).is_some_and(|command| command.is_urgent(self.mode.is_terminal()))
    }

    /// Whether this line, which is not a command, answers a question.
    fn answers(&self, line: &str) -> bool {
        !self.open.is_empty() && !command::is_for_agent(line)
    }

    /// Whether a started run is expected to send an update soon.
    fn is_awaited(&self) -> bool {
        !self.busy.is_subset(&self.quiet)
    }

    /// Whether a run works that a person waits for.
    fn is_working(&self) -> bool {
        let asks = |turn| self.open.iter().any(|open| open.run == turn);
        self.turn.is_some_and(|turn| !asks(turn)) || (self.open.is_empty() && self.is_awaited())
    }

    /// Whether nothing more happens without another line.
    fn rests(&self) -> bool {
        let asks = |turn| self.open.iter().any(|open| open.run == turn);
        self.turn.is_none_or(asks) && (self.mode.is_terminal() || !self.is_awaited())
    }

    async fn line(&mut self, line: &str) -> Result<Flow, Failure> {
        match Command::of(line) {
            Some(Command::Quit) => return Ok(Flow::Ends(Exit::Done)),
            Some(Command::Stop) => self.stop().await?,
            Some(Command::Skip) => self.skip()?,
            Some(Command::Fork) => self.fork().await?,
            Some(Command::Show(number)) => self.view.show(number)?,
            Some(Command::Help) => {
                command::HELP.iter().try_for_each(|line| self.view.aside(line))?
            }
            None if self.answers(line) => self.answer(line).await?,
            None if line.trim().is_empty() => {}
            None => self.say(line).await?,
        }
        Ok(Flow::On)
    }

    /// Begins a turn.
    async fn say(&mut self, line: &str) -> Result<(), Failure> {
        let request = StartRequest {
            workflow: self.agent.clone(),
            input: Value::from(line),
            session_id: self.session.clone(),
        };
        let run = self.engine.start(request).await?;
        self.session = Some(run.summary.session_id);
        self.view.turn();
        self.follow_turn(run.summary.id).await
    }

    async fn follow_turn(&mut self, run: RunId) -> Result<(), Failure> {
        self.updates.push(self.engine.updates(run, 0).await?);
        self.turn = Some(run);
        Ok(())
    }

    fn hear(&mut self, update: &RunUpdate) -> Result<(), Failure> {
        let run = update.run_id;
        let is_turn = self.turn == Some(run);
        for child in update.children() {
            if self.updates.len() < FOLLOWED_MAX && self.known.insert(child) {
                self.busy.insert(child);
                self.updates.push(self.engine.updates_of_child(child));
            }
        }
        if is_turn {
            let followed = update.children().all(|child| self.known.contains(&child));
            self.view.of_turn(update, followed)?;
        } else {
            self.view.of_other(update)?;
        }
        if let What::Task { input, .. } = &update.what {
            self.known_values.learn(run, input);
        }
        if update.last {
            self.known_values.forget(run);
        }
        self.quiet.remove(&run);
        let What::Status { state, question, evidence, .. } = &update.what else { return Ok(()) };
        // A message without a question leaves the open question open.
        if state.is_interrupted() && question.is_none() && evidence.is_none() {
            self.prompt();
            return Ok(());
        }
        self.open.retain(|open| open.run != run);
        self.busy.remove(&run);
        if let Some(question) = question {
            self.put(run, question.clone());
        } else if is_turn && (update.last || evidence.is_some()) {
            if let Some(evidence) = evidence {
                self.view.aside(&format!("{run} is parked: {}", evidence.message))?;
            }
            (self.turn, self.stopping) = (None, false);
        } else if !is_turn && !update.last && evidence.is_none() {
            self.busy.insert(run);
        }
        self.prompt();
        Ok(())
    }

    fn put(&mut self, run: RunId, question: Question) {
        let ask = if self.mode.is_terminal() { Ask::Every } else { Ask::Required };
        let known = self.known_values.for_question(run, &question);
        let answering = Answering::new(&question.schema, ask, &known);
        self.open.push_back(Open { run, question, answering });
    }

    /// A line for the oldest question.
    async fn answer(&mut self, line: &str) -> Result<(), Failure> {
        let Some(open) = self.open.front_mut() else { return Ok(()) };
        let answer = match open.answering.take(line) {
            Progress::More => return Ok(()),
            Progress::Again(why) => {
                return Ok(self.view.aside(&format!("  {}", text::printable(&why)))?);
            }
            Progress::Whole(answer) => answer,
        };
        let (run, question) = (open.run, open.question.id);
        self.known_values.learn(run, &answer);
        // If the answer is refused, an update asks the question again.
        self.open.pop_front();
        if self.turn != Some(run) {
            self.busy.insert(run);
        }
        match self.engine.answer(run, Some(question), answer).await {
            Ok(Answer::Taken { .. } | Answer::Refused(_)) => {}
            Ok(Answer::Late) => self.view.aside("Another client has already answered.")?,
            // The run was canceled in the meantime; its last update reports that.
            Err(failure) if failure.code.as_deref() == Some(Code::RunEnded.as_str()) => {}
            Err(failure) => return Err(failure),
        }
        Ok(())
    }

    /// Stops the turn. Without a turn, it stops the run with the oldest question, else all runs that still
    /// work.
    async fn stop(&mut self) -> Result<(), Failure> {
        let one = self.turn.or_else(|| self.open.front().map(|open| open.run));
        let runs = one.map_or_else(|| self.busy.iter().copied().collect(), |run| vec![run]);
        if runs.is_empty() {
            return Ok(self.view.aside("Nothing is running.")?);
        }
        self.stopping = self.turn.is_some();
        for run in runs {
            match self.engine.cancel(run).await {
                Ok(_) => {}
                // The run ended first; its last update will arrive.
                Err(failure) if failure.code.as_deref() == Some(Code::RunEnded.as_str()) => {}
                Err(failure) => return Err(failure),
            }
        }
        Ok(())
    }

    fn skip(&mut self) -> Result<(), Failure> {
        let Some(open) = self.open.pop_front() else {
            return Ok(self.view.aside("No question is open.")?);
        };
        self.hint_answer(&open);
        // A turn may wait for its answer for ever, so the conversation continues without it.
        if self.turn == Some(open.run) {
            self.view.name(open.run, &self.agent);
            (self.turn, self.stopping) = (None, false);
        }
        Ok(())
    }

    async fn fork(&mut self) -> Result<(), Failure> {
        let Some(session) = &self.session else {
            return Ok(self.view.aside("There is no message yet.")?);
        };
        let forked = past::fork(self.engine, &self.agent, session).await?;
        self.view.aside(&format!("This is {forked} now; {session} stays as it is."))?;
        self.session = Some(forked);
        Ok(())
    }

    /// Ctrl-C stops the turn. Without a turn, or the second time, it ends the conversation.
    async fn interrupted(&mut self) -> Result<Flow, Failure> {
        if self.turn.is_none() || self.stopping {
            return Ok(Flow::Ends(Exit::Interrupted));
        }
        self.stop().await?;
        Ok(Flow::On)
    }

    /// Continues a session: shows its last lines, and follows its unfinished runs.
    pub(crate) async fn take_up(&mut self, session: SessionId) -> Result<(), Failure> {
        for line in past::last_lines(self.engine, &self.agent, &session).await? {
            self.view.aside(&line)?;
        }
        for run in past::unfinished(self.engine, &session).await? {
            let id = run.summary.id;
            if run.summary.workflow == self.agent && run.summary.parent_id.is_none() {
                self.view.turn();
                self.follow_turn(id).await?;
                continue;
            }
            self.view.name(id, &run.summary.workflow);
            self.known.insert(id);
            self.known_values.learn(id, &run.input);
            self.updates.push(self.engine.updates(id, run.pos).await?);
            if let Some(question) = run.question {
                self.view.question(Some(&run.summary.workflow), &question)?;
                self.put(id, question);
            }
        }
        self.session = Some(session);
        Ok(())
    }

    /// The newest session of this agent.
    pub(crate) async fn newest(&self) -> Result<Option<SessionId>, Failure> {
        past::newest(self.engine, &self.agent).await
    }

    /// Shows the prompt once nothing else writes.
    fn prompt(&mut self) {
        if self.ended {
            return;
        }
        let is_quiet = |run| self.turn.is_none_or(|turn| turn == run);
        match self.open.front() {
            Some(open) if is_quiet(open.run) => self.view.canvas.prompt(&open.answering.prompt()),
            None if self.turn.is_none() && !self.is_awaited() => self.view.canvas.prompt("> "),
            Some(_) | None => {}
        }
    }

    /// Prints how to come back.
    fn leave(&mut self, exit: Exit) -> Result<Exit, Failure> {
        // The line may contain a prompt, or half a sentence.
        self.view.canvas.end_line()?;
        for open in &self.open {
            self.hint_answer(open);
        }
        if let (Some(session), true) = (&self.session, self.mode.is_terminal()) {
            let again = self.again.driving();
            output::note(&format!(
                "hint: trackway chat {} --session {session} {again}",
                text::quoted(&self.agent)
            ));
        }
        Ok(exit)
    }

    fn hint_answer(&self, open: &Open) {
        let Open { run, question, .. } = open;
        let answer = text::quoted(&form::skeleton(&question.schema));
        let again = self.again.driving();
        output::note(&text::printable(&format!(
            "{run} waits for an answer.\nhint: trackway runs resume {run} --input {answer} {again}"
        )));
    }
}
