//! A run as people and doors see it: a fold of its updates and messages.

use std::sync::Arc;

use serde_json::Value;
use trackway_domain::{
    Artifact, ArtifactChunk, Event, Message, MessagePartContent, Part, Position, Question, ReplayMismatch,
    RunId, RunSubmission, Seq, StateName, Timestamp,
};

use crate::{AnswerRequestRank, StatusTime, StatusUpdate, VisibleUpdate, visible_update};

/// The snapshot that a door renders. Cheap to clone: messages and artifacts are shared.
#[derive(Debug, Clone, PartialEq)]
pub struct RunView {
    pub submission: Arc<RunSubmission>,
    pub state: StateName,
    /// When the current status was published.
    pub status_at: Timestamp,
    pub created_at: Timestamp,
    /// All messages, the caller's and ours, oldest first.
    messages: Vec<Arc<Message>>,
    /// The index of the current status' own message.
    status_message: Option<usize>,
    /// Message and time of the status that parking replaced; unparking restores them.
    covered: Option<(Option<usize>, Timestamp)>,
    pub artifacts: Vec<Arc<Artifact>>,
    /// The open question.
    pub question: Option<Arc<Question>>,
    /// The request that resumed the run last.
    pub resume: Option<AnswerRequestRank>,
    /// The workflow's output after it completed, or null.
    pub output: Value,
    pub parked: Option<ReplayMismatch>,
    /// Runs below this one that wait for a person, each with the message that reports it.
    waiting: Vec<(RunId, usize)>,
    /// The log was imported, and the run is not adopted yet.
    pub imported: bool,
    /// Why the rest of the run cannot be read. The view ends before the damage.
    pub damaged: Option<String>,
    /// Counts state and artifact changes without a gap.
    pub generation: u64,
    /// Number and position of the newest event in the view.
    pub seq: Seq,
    pub pos: Position,
}

impl RunView {
    /// The view of a run that was just submitted.
    pub fn from_submission(submission: Arc<RunSubmission>, recorded_at: Timestamp, pos: Position) -> Self {
        let messages = submission.message.clone().map(Arc::new).into_iter().collect();
        Self {
            submission,
            state: StateName::Submitted,
            status_at: recorded_at,
            created_at: recorded_at,
            messages,
            status_message: None,
            covered: None,
            artifacts: Vec::new(),
            question: None,
            resume: None,
            output: Value::Null,
            parked: None,
            waiting: Vec::new(),
            imported: false,
            damaged: None,
            generation: 1,
            seq: 1,
            pos,
        }
    }

    /// The view of a log: each event with its time and its position. `None` if the log does not start
    /// with a submission.
    pub fn from_log<'a>(log: impl IntoIterator<Item = (&'a Event, Timestamp, Position)>) -> Option<Self> {
        let mut log = log.into_iter();
        let (Event::Submitted(submission), at, pos) = log.next()? else { return None };
        let mut view = Self::from_submission(Arc::new((**submission).clone()), at, pos);
        for (event, at, pos) in log {
            view.apply_event(event, at, pos);
        }
        Some(view)
    }

    /// Folds the next event, recorded at `at` and stored at `pos`.
    pub fn apply_event(&mut self, event: &Event, recorded_at: Timestamp, pos: Position) {
        self.seq += 1;
        self.pos = pos;
        self.push_caller_message(event);
        match visible_update(event) {
            None | Some(VisibleUpdate::Submitted) => {}
            Some(VisibleUpdate::Artifact(chunk)) => {
                self.generation += 1;
                self.apply_artifact_chunk(chunk);
            }
            Some(VisibleUpdate::Status(status)) => self.apply_status_update(status, recorded_at),
        }
        match event {
            Event::Asked { question, .. } => self.question = Some(Arc::new(question.clone())),
            Event::Unparked => self.restore_status_before_parking(),
            Event::ChildWaits { waiting, .. } => {
                self.waiting.retain(|(run, _)| *run != waiting.run);
                self.waiting.push((waiting.run, self.messages.len() - 1));
            }
            Event::ChildResumed { run, .. } | Event::ChildEnded { child: run, .. } => {
                self.remove_waiting_descendant(*run);
            }
            Event::Guided(_) => self.status_at = recorded_at,
            Event::Imported => self.imported = true,
            Event::Adopted => self.imported = false,
            _ => {}
        }
        if !self.state.is_interrupted() {
            self.question = None;
        }
    }

    /// Runs below this one that wait for a person.
    pub fn waiting_descendant_runs(&self) -> impl Iterator<Item = RunId> {
        let waiting = if self.state.is_terminal() { &[][..] } else { &self.waiting };
        waiting.iter().map(|(run, _)| *run)
    }

    /// A run below this one no longer waits. If it was the visible status, another waiting run replaces
    /// it.
    fn remove_waiting_descendant(&mut self, run: RunId) {
        let Some(place) = self.waiting.iter().position(|(waits, _)| *waits == run) else { return };
        let (_, message) = self.waiting.remove(place);
        if self.status_message == Some(message) {
            self.status_message = self.waiting.last().map(|(_, message)| *message);
        }
    }

    /// The log cannot be read any further, so the state of the run is unknown.
    pub fn mark_log_damaged(&mut self, reason: String) {
        self.state = StateName::Unknown;
        self.question = None;
        self.damaged = Some(reason);
    }

    /// When the current status was published, for folding without the view.
    pub fn status_time(&self) -> StatusTime {
        StatusTime { at: self.status_at, covered: self.covered.map(|(_, at)| at) }
    }

    /// The current status' message.
    pub fn status_message(&self) -> Option<&Arc<Message>> {
        self.status_message.map(|index| &self.messages[index])
    }

    /// Every message except the current status' own, oldest first.
    pub fn message_history(&self) -> impl DoubleEndedIterator<Item = &Arc<Message>> {
        let current = self.status_message;
        self.messages
            .iter()
            .enumerate()
            .filter(move |(index, _)| Some(*index) != current)
            .map(|(_, message)| message)
    }

    pub(crate) fn status_message_mut(&mut self) -> Option<&mut Arc<Message>> {
        self.messages.get_mut(self.status_message?)
    }

    /// Keeps only these messages as the history. The status keeps its own.
    pub(crate) fn replace_message_history(&mut self, mut history: Vec<Arc<Message>>) {
        let status = self.status_message().cloned();
        self.waiting.clear();
        self.covered = None;
        self.status_message = status.map(|message| {
            history.push(message);
            history.len() - 1
        });
        self.messages = history;
    }

    /// Adds the caller's messages to the history in the order in which they were accepted.
    fn push_caller_message(&mut self, event: &Event) {
        let message = match event {
            Event::Refused { request, .. } | Event::Resumed { request, .. } => &request.message,
            Event::LateAnswer(late) if !self.state.is_terminal() => &late.request.message,
            Event::Noted { message } => message,
            _ => return,
        };
        self.messages.push(Arc::new(message.clone()));
    }

    fn apply_status_update(&mut self, status: StatusUpdate, recorded_at: Timestamp) {
        if status.is_published_during_open_question() {
            // The question stays the status: clients find its schema there.
            self.messages.extend(status.message.map(Arc::new));
            self.parked = status.parked.or_else(|| self.parked.take());
            return;
        }
        if self.state != status.state {
            self.generation += 1;
        }
        self.covered = match &status.parked {
            Some(_) => self.covered.or(Some((self.status_message, self.status_at))),
            None => None,
        };
        self.state = status.state;
        self.status_at = recorded_at;
        self.status_message = status.message.map(|message| {
            self.messages.push(Arc::new(message));
            self.messages.len() - 1
        });
        if status.resume.is_some() {
            self.resume = status.resume;
        }
        if status.last {
            self.output = status.output;
            self.parked = None;
        } else if status.parked.is_some() {
            self.parked = status.parked;
        }
    }

    /// Restores the status from before the run was parked.
    fn restore_status_before_parking(&mut self) {
        self.parked = None;
        if let Some((message, at)) = self.covered.take() {
            self.status_message = message;
            self.status_at = at;
        }
    }

    fn apply_artifact_chunk(&mut self, chunk: ArtifactChunk) {
        let known = self.artifacts.iter_mut().find(|known| known.id == chunk.artifact.id);
        match known {
            Some(known) if chunk.append => extend_artifact(Arc::make_mut(known), chunk),
            Some(known) => *known = Arc::new(chunk.artifact),
            None => self.artifacts.push(Arc::new(chunk.artifact)),
        }
    }
}

/// Adds a piece to an artifact that grows.
pub fn extend_artifact(artifact: &mut Artifact, chunk: ArtifactChunk) {
    let mut parts = chunk.artifact.parts;
    if chunk.joined {
        merge_adjoining_text_parts(&mut artifact.parts, &mut parts);
    }
    artifact.parts.extend(parts);
    artifact.metadata.extend(chunk.artifact.metadata);
}

/// Appends the first of the new parts to the last existing one, if both are plain text.
fn merge_adjoining_text_parts(existing: &mut [Part], added: &mut Vec<Part>) {
    let plain = |part: &Part| part.metadata.is_empty() && part.as_text().is_some();
    let (Some(last), Some(first)) = (existing.last_mut(), added.first()) else { return };
    if plain(last)
        && plain(first)
        && let (MessagePartContent::Text(text), MessagePartContent::Text(more)) =
            (&mut last.content, &first.content)
    {
        text.push_str(more);
        added.remove(0);
    }
}

#[cfg(test)]
mod tests;
