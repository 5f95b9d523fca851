//! Follows a run: shows its updates and asks its questions, until the run ends or has to wait.

use std::collections::{HashSet, VecDeque};

use futures_util::{StreamExt, stream::SelectAll};
use trackway::api::{Question, RunUpdate, What};
use trackway_domain::{Code, Pos, RunId};

use crate::{
    ask::Asker,
    engine::{Answer, Engine, Updates},
    exit::Exit,
    failure::Failure,
    form,
    known::KnownValues,
    output,
    place::Again,
    screen::Screen,
    signals::Signals,
    text,
};

/// Runs that `run` follows at once: the started run and its children. There may be no other client that
/// answers the questions of the children. On a server each followed run is a connection.
/// Limit (CLI): runs that a command follows at once.
const FOLLOWED_MAX: usize = 64;

/// A run that is followed.
pub(crate) struct Follow<'a> {
    engine: &'a Engine,
    screen: Screen,
    again: Again<'a>,
    root: RunId,
    updates: SelectAll<Updates>,
    known: HashSet<RunId>,
    /// Values that the runs already got, offered as defaults if they ask again.
    known_values: KnownValues,
    /// Questions that wait for an answer, the oldest first.
    open: VecDeque<(RunId, Question)>,
}

/// The result of one step.
enum Step {
    On,
    /// The run waits or has ended.
    Rests(Exit),
}

impl<'a> Follow<'a> {
    /// Follows the run from this position on.
    pub(crate) async fn new(
        engine: &'a Engine,
        screen: Screen,
        again: Again<'a>,
        root: RunId,
        after: Pos,
    ) -> Result<Self, Failure> {
        let mut updates = SelectAll::new();
        updates.push(engine.updates(root, after).await?);
        let known = HashSet::from([root]);
        let (known_values, open) = (KnownValues::default(), VecDeque::new());
        Ok(Self { engine, screen, again, root, updates, known, known_values, open })
    }

    /// Follows until the run ends, is parked, or waits and there is no more input.
    pub(crate) async fn run(
        mut self,
        asker: &mut Asker,
        signals: &mut Signals,
    ) -> Result<Exit, Failure> {
        loop {
            let step = match self.open.front().cloned() {
                Some((run, question)) => self.put(run, &question, asker, signals).await?,
                None => {
                    self.screen.work();
                    tokio::select! {
                        biased;
                        () = signals.next() => Step::Rests(self.interrupted()),
                        heard = self.updates.next() => self.hear(heard)?,
                        () = self.screen.spinner_due() => {
                            self.screen.draw_spinner();
                            Step::On
                        }
                    }
                }
            };
            if let Step::Rests(exit) = step {
                self.screen.rest();
                self.hint_clipped();
                return Ok(exit);
            }
        }
    }

    /// Asks one question while updates continue: another client may answer it first.
    async fn put(
        &mut self,
        run: RunId,
        question: &Question,
        asker: &mut Asker,
        signals: &mut Signals,
    ) -> Result<Step, Failure> {
        self.screen.rest();
        let known = self.known_values.for_question(run, question);
        let mut asking = std::pin::pin!(asker.ask(question, &known));
        loop {
            let answer = tokio::select! {
                biased;
                () = signals.next() => return Ok(Step::Rests(self.interrupted())),
                heard = self.updates.next() => match self.hear(heard)? {
                    Step::On if self.open.front().is_some_and(|(_, open)| open == question) => continue,
                    step => return Ok(step),
                },
                answer = &mut asking => answer?,
            };
            let Some(answer) = answer else {
                return Ok(Step::Rests(self.waits(run, question)));
            };
            self.known_values.learn(run, &answer);
            // If the answer is refused, an update asks the question again.
            self.open.retain(|(_, open)| open.id != question.id);
            match self.engine.answer(run, Some(question.id), answer).await {
                Ok(Answer::Taken { .. } | Answer::Refused(_)) => {}
                Ok(Answer::Late) => output::note("Another client has already answered."),
                // The run was canceled in the meantime; its last update reports that.
                Err(failure) if failure.code.as_deref() == Some(Code::RunEnded.as_str()) => {}
                Err(failure) => return Err(failure),
            }
            return Ok(Step::On);
        }
    }

    fn hear(&mut self, heard: Option<Result<RunUpdate, Failure>>) -> Result<Step, Failure> {
        let update = match heard {
            Some(Ok(update)) => update,
            Some(Err(failure)) => return Err(self.interrupting(failure)),
            None => return Err(self.engine.broke_off()),
        };
        let is_root = update.run_id == self.root;
        if is_root {
            self.screen.update(&update)?;
        }
        for child in update.children() {
            if self.updates.len() < FOLLOWED_MAX && self.known.insert(child) {
                self.updates.push(self.engine.updates_of_child(child));
            }
        }
        if let What::Task { input, .. } = &update.what {
            self.known_values.learn(update.run_id, input);
        }
        let What::Status { state, question, evidence, .. } = &update.what else {
            return Ok(Step::On);
        };
        if update.last {
            self.known_values.forget(update.run_id);
        }
        // A message without a question leaves the open question open.
        if state.is_interrupted() && question.is_none() && evidence.is_none() {
            return Ok(Step::On);
        }
        self.open.retain(|(run, _)| *run != update.run_id);
        if let Some(question) = question {
            if !is_root {
                self.screen.child(&update)?;
            }
            self.open.push_back((update.run_id, question.clone()));
        }
        Ok(match evidence {
            _ if is_root && update.last => Step::Rests(Exit::of(*state)),
            Some(_) if is_root => Step::Rests(self.parked()),
            _ => Step::On,
        })
    }

    fn interrupting(&self, failure: Failure) -> Failure {
        failure.hint(format!("trackway runs show {} {}", self.root, self.again.looking()))
    }

    fn hint_clipped(&self) {
        if self.screen.has_clipped() {
            let (root, again) = (self.root, self.again.looking());
            output::note(&format!(
                "Some of it is shortened here.\nhint: trackway runs show {root} --json {again}"
            ));
        }
    }

    fn waits(&self, run: RunId, question: &Question) -> Exit {
        output::note(&format!("{run} waits for an answer."));
        self.hint_resume(run, question);
        Exit::Waiting
    }

    fn hint_resume(&self, run: RunId, question: &Question) {
        let answer = text::quoted(&form::skeleton(&question.schema));
        let again = self.again.driving();
        output::note(&text::printable(&format!(
            "hint: trackway runs resume {run} --input {answer} {again}"
        )));
    }

    fn parked(&self) -> Exit {
        output::note(
            "The program does not fit the run's log; the run continues when a matching program runs.",
        );
        output::note(&format!(
            "hint: trackway runs replay-check {} {}",
            self.root,
            self.again.looking()
        ));
        output::note(&format!("see: docs/errors/{}.md", Code::ReplayMismatch));
        Exit::Misfit
    }

    fn interrupted(&mut self) -> Exit {
        self.screen.rest();
        let root = self.root;
        if self.engine.is_here() {
            let again = self.again.driving();
            output::note(&format!(
                "\nInterrupted. {root} is kept and continues at the next start:"
            ));
            output::note(&format!("hint: trackway serve {again}"));
        } else {
            output::note(&format!("\nNo longer watching. {root} continues on the server."));
        }
        if let Some((run, question)) = self.open.front() {
            self.hint_resume(*run, question);
        }
        Exit::Interrupted
    }
}
