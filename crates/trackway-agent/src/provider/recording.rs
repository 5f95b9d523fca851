//! Recordings: a model's answers, kept in a file and replayed without the model.
//!
//! A recording has one line of JSON for each complete answer: the digest of the request and the pieces
//! of the answer. Requests are not written, and this module never sees keys or headers.

use std::{
    collections::{BTreeMap, VecDeque},
    ffi::OsStr,
    fs::{self, OpenOptions},
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use data_encoding::HEXLOWER;
use futures_util::{StreamExt as _, stream};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::{Delta, DeltaStream, ModelError, ModelProvider};
use crate::conversation::ModelRequest;

/// One line of a recording.
#[derive(Debug, Default, Serialize, Deserialize)]
struct RecordedAnswerLine {
    /// The digest of the request.
    digest: String,
    /// The model that answered, for people who read the file.
    label: String,
    deltas: Vec<Delta>,
}

/// The same request has the same digest, on every machine.
fn request_digest(request: &ModelRequest) -> String {
    // JSON objects are sorted by their keys, so equal requests are equal text.
    let text = serde_json::to_vec(request).unwrap_or_default();
    HEXLOWER.encode(&Sha256::digest(text))
}

/// A model whose answers are recorded as they arrive.
#[derive(Debug, Clone)]
pub struct RecordingModelProvider {
    model: Arc<dyn ModelProvider>,
    file: PathBuf,
}

impl RecordingModelProvider {
    /// Appends answers to the file. Creates the file if it does not exist.
    pub fn new(model: Arc<dyn ModelProvider>, file: &Path) -> Self {
        Self { model, file: file.to_owned() }
    }
}

impl ModelProvider for RecordingModelProvider {
    fn model_label(&self) -> &str {
        self.model.model_label()
    }

    fn accepts_images(&self) -> bool {
        self.model.accepts_images()
    }

    /// An incomplete answer is not written. If an answer cannot be written, the call fails.
    fn stream_answer(&self, request: &ModelRequest) -> DeltaStream {
        let digest = request_digest(request);
        let label = self.model_label().to_owned();
        let file = self.file.clone();
        let recorded = RecordedAnswerLine { digest, label, deltas: Vec::new() };
        let answer = self.model.stream_answer(request);
        let passing = stream::unfold((answer, recorded), move |(mut answer, mut recorded)| {
            let file = file.clone();
            async move {
                let mut item = answer.next().await?;
                if let Ok(delta) = &item {
                    recorded.deltas.push(delta.clone());
                    if *delta == Delta::Done
                        && let Err(error) = save_recorded_answer(&file, std::mem::take(&mut recorded)).await
                    {
                        let reason = format!("the recording {} cannot be written: {error}", file.display());
                        item = Err(ModelError::Failed { reason, retryable: false });
                    }
                }
                Some((item, (answer, recorded)))
            }
        });
        passing.boxed()
    }
}

/// Writes the line on a thread that may block on the disk.
async fn save_recorded_answer(file: &Path, recorded: RecordedAnswerLine) -> io::Result<()> {
    let file = file.to_owned();
    let written = tokio::task::spawn_blocking(move || append_answer_line(&file, &recorded)).await;
    written.map_err(io::Error::other)?
}

/// One write for the whole line, so that lines of several conversations do not mix.
fn append_answer_line(file: &Path, recorded: &RecordedAnswerLine) -> io::Result<()> {
    let mut line = serde_json::to_string(recorded)?;
    line.push('\n');
    OpenOptions::new().append(true).create(true).open(file)?.write_all(line.as_bytes())
}

/// A model that answers from a recording. A request that was recorded several times gets its answers in
/// their order, and the last one from then on.
#[derive(Debug)]
pub struct ReplayModelProvider {
    label: String,
    /// By the digest of the request. Locked only to take one.
    answers: Mutex<BTreeMap<String, VecDeque<Vec<Delta>>>>,
}

/// A recording that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    #[error("the recording {} cannot be read: {reason}", path.display())]
    File { path: PathBuf, reason: io::Error },
    #[error("line {number} of the recording {} cannot be read: {reason}", path.display())]
    Line { path: PathBuf, number: usize, reason: String },
}

impl ReplayModelProvider {
    pub fn open_recording(path: &Path) -> Result<Self, RecordingError> {
        let text = fs::read_to_string(path)
            .map_err(|reason| RecordingError::File { path: path.to_owned(), reason })?;
        let mut answers: BTreeMap<String, VecDeque<Vec<Delta>>> = BTreeMap::new();
        for (index, line) in text.split_inclusive('\n').enumerate() {
            match serde_json::from_str::<RecordedAnswerLine>(line) {
                Ok(recorded) => answers.entry(recorded.digest).or_default().push_back(recorded.deltas),
                // A program that ended while it wrote leaves an incomplete last line.
                Err(_) if !line.ends_with('\n') => {}
                Err(error) => {
                    let (path, reason) = (path.to_owned(), error.to_string());
                    return Err(RecordingError::Line { path, number: index + 1, reason });
                }
            }
        }
        let name = path.file_stem().and_then(OsStr::to_str).unwrap_or("recording");
        Ok(Self { label: format!("replay/{name}"), answers: Mutex::new(answers) })
    }

    fn next_recorded_answer(&self, digest: &str) -> Option<Vec<Delta>> {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let queue = answers.get_mut(digest)?;
        if queue.len() > 1 { queue.pop_front() } else { queue.front().cloned() }
    }
}

impl ModelProvider for ReplayModelProvider {
    fn model_label(&self) -> &str {
        &self.label
    }

    fn accepts_images(&self) -> bool {
        true
    }

    fn stream_answer(&self, request: &ModelRequest) -> DeltaStream {
        let digest = request_digest(request);
        let items = match self.next_recorded_answer(&digest) {
            Some(deltas) => deltas.into_iter().map(Ok).collect(),
            None => {
                let reason = format!("{} has no answer for the request {digest}", self.label);
                vec![Err(ModelError::Unscripted { reason })]
            }
        };
        stream::iter(items).boxed()
    }
}

#[cfg(test)]
mod tests;
