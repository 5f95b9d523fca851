//! A model that follows a script from a file: for demonstrations, and for tests of behaviour that is
//! rare with a real model.
//!
//! ```yaml
//! name: demo                    # the label is scripted/demo; the file's name if absent
//! answers:
//!   - user: weather             # only when the newest words of the user have this in them
//!     calls:
//!       - tool: dispatch_workflow_echo
//!         arguments: { text: sunny }
//!   - after: dispatch_workflow_echo   # only behind a result of this tool
//!     text: It is sunny.
//!     delay_ms: 100             # before the first word
//!     word_delay_ms: 20         # before every further one
//!   - fault: busy               # or cut, failed, refused
//!     retry_after_ms: 50
//!   - text: I have no more to say.
//!     repeat: true              # given as often as it fits; the others once
//! ```
//!
//! Each request gets the first answer of the list that matches and was not used yet. The list of used
//! answers is lost when the program ends; answers with `repeat` can always be used again.

mod model_script;

use std::{
    ffi::OsStr,
    fs, io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures_util::{StreamExt as _, stream};

pub use self::model_script::{ModelScript, ScriptedAnswer, ScriptedFailure};
use super::{Delta, DeltaStream, ModelError, ModelProvider, simulated_stream};
use crate::conversation::{ConversationEntry, ModelRequest};

/// A model with a script.
#[derive(Debug)]
pub struct ScriptedModel {
    label: String,
    lines: Vec<Arc<ScriptedAnswer>>,
    /// Which lines were used. Locked only to choose one.
    given: Mutex<Vec<bool>>,
}

/// An invalid script.
#[derive(Debug, thiserror::Error)]
pub enum ModelScriptError {
    #[error("the script {} cannot be read: {reason}", path.display())]
    File { path: PathBuf, reason: io::Error },
    #[error("the script does not fit: {reason}")]
    Form { reason: String },
    #[error("answer {number} of the script does not fit: {reason}")]
    Line { number: usize, reason: String },
}

impl ScriptedModel {
    /// The script of a file, in YAML or JSON.
    pub fn open_script_file(path: &Path) -> Result<Self, ModelScriptError> {
        let text = fs::read_to_string(path)
            .map_err(|reason| ModelScriptError::File { path: path.to_owned(), reason })?;
        let name = path.file_stem().and_then(OsStr::to_str).unwrap_or("script");
        Self::parse_script(name, &text)
    }

    /// Parses a script. The name is for scripts that have none.
    pub fn parse_script(name: &str, text: &str) -> Result<Self, ModelScriptError> {
        Self::new(name, ModelScript::parse_model_script(text)?)
    }

    pub fn new(name: &str, script: ModelScript) -> Result<Self, ModelScriptError> {
        script.validate_answers()?;
        let name = script.name.as_deref().unwrap_or(name);
        Ok(Self {
            label: format!("scripted/{name}"),
            given: Mutex::new(vec![false; script.answers.len()]),
            lines: script.answers.into_iter().map(Arc::new).collect(),
        })
    }

    fn take_matching_answer(&self, request: &ModelRequest) -> Option<Arc<ScriptedAnswer>> {
        let mut given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        let fitting = self.lines.iter().zip(given.iter_mut());
        let mut fitting = fitting.filter(|(line, given)| !**given && answer_matches_request(line, request));
        let (line, given) = fitting.next()?;
        *given = !line.repeat;
        Some(Arc::clone(line))
    }
}

impl ModelProvider for ScriptedModel {
    fn model_label(&self) -> &str {
        &self.label
    }

    fn accepts_images(&self) -> bool {
        true
    }

    fn stream_answer(&self, request: &ModelRequest) -> DeltaStream {
        let Some(line) = self.take_matching_answer(request) else {
            let reason = format!("{} has no answer for this request", self.label);
            return stream::iter([Err(ModelError::Unscripted { reason })]).boxed();
        };
        let items = scripted_stream_items(&line, &self.label).into_iter().enumerate();
        let first = Duration::from_millis(line.delay_ms);
        let further = Duration::from_millis(line.word_delay_ms);
        let paced = stream::iter(items).then(move |(index, item)| async move {
            let pause = match (index, &item) {
                (0, _) => first,
                (_, Ok(Delta::Text(_) | Delta::Reasoning(_))) => further,
                _ => Duration::ZERO,
            };
            if !pause.is_zero() {
                tokio::time::sleep(pause).await;
            }
            item
        });
        paced.boxed()
    }
}

/// Whether a line matches this request.
fn answer_matches_request(scripted_answer: &ScriptedAnswer, request: &ModelRequest) -> bool {
    let ends_so = scripted_answer.after.as_ref().is_none_or(|wanted| {
        matches!(request.entries.last(), Some(ConversationEntry::Result { tool, .. }) if tool == wanted)
    });
    let said_so = scripted_answer.user.as_ref().is_none_or(|wanted| {
        let newest = request.latest_user_text().unwrap_or_default();
        newest.to_lowercase().contains(&wanted.to_lowercase())
    });
    ends_so && said_so
}

/// The line as a stream; a fault replaces its end, or the whole answer.
fn scripted_stream_items(scripted_answer: &ScriptedAnswer, label: &str) -> Vec<Result<Delta, ModelError>> {
    let reason = scripted_answer.reason.clone().unwrap_or_else(|| "the script says so".to_owned());
    let status = scripted_answer.status;
    let said = || simulated_stream::answer_deltas(&scripted_answer.to_model_answer(label)).into_iter();
    let broken = |error: ModelError| {
        let before = said().take_while(|delta| !matches!(delta, Delta::End(_)));
        before.map(Ok).chain([Err(error)]).collect()
    };
    match scripted_answer.fault {
        None => said().map(Ok).collect(),
        Some(ScriptedFailure::Busy) => {
            let retry_after = scripted_answer.retry_after_ms.map(Duration::from_millis);
            vec![Err(ModelError::Busy { status: status.unwrap_or(429), reason, retry_after })]
        }
        Some(ScriptedFailure::Refused) => {
            vec![Err(ModelError::Refused { status: status.unwrap_or(400), reason })]
        }
        Some(ScriptedFailure::Cut) => broken(ModelError::Truncated),
        Some(ScriptedFailure::Failed) => broken(ModelError::Failed { reason, retryable: true }),
    }
}

#[cfg(test)]
mod tests;
