//! A scripted run: commands as text in, events and views out. The tests of this crate share it.
//!
//! Ids are counted and time moves one second with each command, so that the same script always
//! gives the same result. Only the JSON Schema check is faked; everything else is the product code.

mod command_words;
pub(crate) mod decision_text;
mod fake_schema_checker;

use std::{cell::Cell, sync::Arc};

use trackway_domain::{Event, QuestionId, RunCommand, RunId, StateName, Timestamp};
use uuid::Uuid;

use crate::{CommandRefusal, Decision, DecisionEnv, Run, RunView, decide};

pub(crate) use fake_schema_checker::FakeSchemaChecker;

/// One run with its whole history.
#[derive(Default)]
pub(crate) struct ScriptedRun {
    pub(crate) run: Option<Run>,
    pub(crate) view: Option<RunView>,
    /// Every event with the moment at which it was recorded.
    pub(crate) log: Vec<(Event, Timestamp)>,
    /// The transitions it went through.
    pub(crate) moves: Vec<(StateName, StateName)>,
    ids: Cell<u128>,
    commands: i64,
}

impl ScriptedRun {
    /// The run after these commands, separated by `;` (see [`command_words`]). Each must be accepted.
    pub(crate) fn after_commands(commands: &str) -> Self {
        let mut story = Self::default();
        for words in commands.split(';').map(str::trim) {
            if let Err(refusal) = story.try_scripted_command(words) {
                panic!("`{words}` of `{commands}` was not accepted: {refusal}");
            }
        }
        story
    }

    /// One more command, as text.
    pub(crate) fn try_scripted_command(&mut self, words: &str) -> Result<Decision, CommandRefusal> {
        let command = command_words::parse_scripted_command(self, words);
        self.apply_command(command)
    }

    /// Decides a command and folds its events, one by one.
    pub(crate) fn apply_command(&mut self, command: RunCommand) -> Result<Decision, CommandRefusal> {
        self.commands += 1;
        let now = Timestamp::from_millis(self.commands * 1_000);
        let ids = || {
            self.ids.set(self.ids.get() + 1);
            Uuid::from_u128(self.ids.get())
        };
        let env = DecisionEnv { now, ids: &ids, schemas: &FakeSchemaChecker };
        let decision = decide(self.run.as_ref(), command, env)?;
        for event in &decision.events {
            self.fold_event(event, now);
        }
        Ok(decision)
    }

    /// The whole result of a command in one line.
    pub(crate) fn command_summary(&mut self, words: &str) -> String {
        match self.try_scripted_command(words) {
            Ok(decision) => self.with_short_ids(decision_text::render_decision_line(&decision)),
            Err(refusal) => self.with_short_ids(format!("X {refusal}")),
        }
    }

    /// The log so far, one event per line.
    pub(crate) fn render_log(&self) -> String {
        let lines: Vec<_> = self.events().map(decision_text::render_event_line).collect();
        self.with_short_ids(lines.join("\n"))
    }

    pub(crate) fn events(&self) -> impl DoubleEndedIterator<Item = &Event> {
        self.log.iter().map(|(event, _)| event)
    }

    pub(crate) fn state(&self) -> StateName {
        self.run.as_ref().expect("the run exists").state.name()
    }

    pub(crate) fn view(&self) -> &RunView {
        self.view.as_ref().expect("the run exists")
    }

    /// Questions in the order in which they were asked: `q1`, `q2`, …
    pub(crate) fn questions(&self) -> Vec<QuestionId> {
        self.events()
            .filter_map(|event| match event {
                Event::Asked { question, .. } => Some(question.id),
                _ => None,
            })
            .collect()
    }

    /// Children in the order of their start: `c1`, `c2`, …
    pub(crate) fn children(&self) -> Vec<RunId> {
        self.events()
            .filter_map(|event| match event {
                Event::ChildStarted { child, .. } => Some(*child),
                _ => None,
            })
            .collect()
    }

    fn fold_event(&mut self, event: &Event, now: Timestamp) {
        let pos = self.log.len() as u64 + 1;
        self.log.push((event.clone(), now));
        let from = self.run.as_ref().map(|run| run.state.name());
        fold_into_projections(&mut self.run, &mut self.view, event, now, pos);
        let to = self.state();
        if let Some(from) = from.filter(|from| *from != to) {
            self.moves.push((from, to));
        }
    }

    /// Replaces known ids by their short names.
    pub(crate) fn with_short_ids(&self, mut text: String) -> String {
        for (index, id) in self.questions().iter().enumerate() {
            text = text.replace(&id.to_string(), &format!("q{}", index + 1));
        }
        for (index, id) in self.children().iter().enumerate() {
            text = text.replace(&id.to_string(), &format!("c{}", index + 1));
        }
        text.replace(&command_words::SELF.to_string(), "me")
            .replace(&command_words::PARENT.to_string(), "parent")
    }
}

/// Folds one event into both projections, as a store's reader does.
pub(crate) fn fold_into_projections(
    run: &mut Option<Run>,
    view: &mut Option<RunView>,
    event: &Event,
    at: Timestamp,
    pos: u64,
) {
    match (event, run.as_mut(), view.as_mut()) {
        (Event::Submitted(submission), None, None) => {
            *run = Some(Run::from_submission(submission.clone(), at));
            *view = Some(RunView::from_submission(Arc::new((**submission).clone()), at, pos));
        }
        (event, Some(run), Some(view)) => {
            run.apply_event(event).expect("decided events are legal");
            view.apply_event(event, at, pos);
        }
        (event, ..) => panic!("{} before the run exists", event.event_name()),
    }
}
