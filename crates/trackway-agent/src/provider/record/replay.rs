//! Answers out of a recording.

use std::{
    collections::{BTreeMap, VecDeque},
    ffi::OsStr,
    fs, io,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use futures_util::{StreamExt as _, stream};

use super::{Recorded, digest};
use crate::{
    conversation::Request,
    provider::{Delta, Deltas, ModelError, Provider},
};

/// A model that answers from a recording. A request that was recorded several times has its answers in
/// their order, the last one from then on.
#[derive(Debug)]
pub struct Replay {
    label: String,
    /// By the digest of the request. Held only to take one.
    answers: Mutex<BTreeMap<String, VecDeque<Vec<Delta>>>>,
}

/// A recording that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum BadRecording {
    #[error("the recording {} cannot be read: {reason}", path.display())]
    File { path: PathBuf, reason: io::Error },
    #[error("line {number} of the recording {} cannot be read: {reason}", path.display())]
    Line { path: PathBuf, number: usize, reason: String },
}

impl Replay {
    pub fn open(path: &Path) -> Result<Self, BadRecording> {
        let text = fs::read_to_string(path)
            .map_err(|reason| BadRecording::File { path: path.to_owned(), reason })?;
        let mut answers: BTreeMap<String, VecDeque<Vec<Delta>>> = BTreeMap::new();
        for (index, line) in text.split_inclusive('\n').enumerate() {
            match serde_json::from_str::<Recorded>(line) {
                Ok(recorded) => {
                    answers.entry(recorded.digest).or_default().push_back(recorded.deltas)
                }
                // A program that ended while it wrote leaves a line without its end.
                Err(_) if !line.ends_with('\n') => {}
                Err(error) => {
                    let (path, reason) = (path.to_owned(), error.to_string());
                    return Err(BadRecording::Line { path, number: index + 1, reason });
                }
            }
        }
        let name = path.file_stem().and_then(OsStr::to_str).unwrap_or("recording");
        Ok(Self { label: format!("replay/{name}"), answers: Mutex::new(answers) })
    }

    fn take(&self, digest: &str) -> Option<Vec<Delta>> {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let queue = answers.get_mut(digest)?;
        if queue.len() > 1 { queue.pop_front() } else { queue.front().cloned() }
    }
}

impl Provider for Replay {
    fn label(&self) -> &str {
        &self.label
    }

    fn takes_images(&self) -> bool {
        true
    }

    fn ask(&self, request: &Request) -> Deltas {
        let digest = digest(request);
        let items = match self.take(&digest) {
            Some(deltas) => deltas.into_iter().map(Ok).collect(),
            None => {
                let reason = format!("{} has no answer for the request {digest}", self.label);
                vec![Err(ModelError::Unscripted { reason })]
            }
        };
        stream::iter(items).boxed()
    }
}
