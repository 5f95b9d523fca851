//! Streams the model's text and reasoning as the artifacts `text-response` and `reasoning`, piece by
//! piece (D8). Each ends with its whole text, for clients that keep only the last piece.

use trackway_domain::{Artifact, ArtifactChunk, ArtifactId, Object, Op, Part};
use trackway_runtime::Stage;

/// The part of the model's output that an artifact contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Speech {
    Text,
    Reasoning,
}

impl Speech {
    /// Id and name of the artifact.
    fn artifact(self) -> &'static str {
        match self {
            Self::Text => "text-response",
            Self::Reasoning => "reasoning",
        }
    }
}

/// The longest text that is repeated as a whole at its end. Clients that need the whole text are for
/// people to read. A longer text ends with an empty piece.
///
/// Limit (Agents): text that closes a streamed answer as a whole, in bytes.
const CLOSING_BYTES_MAX: usize = 256 * 1024;

/// The separator between the texts of two answers in one turn.
pub(super) const SEPARATOR: &str = "\n\n";

/// Streams the text of one model call, from within its step.
pub(super) struct Speaker<'a> {
    stage: &'a Stage,
    speech: Speech,
    step: Op,
    label: String,
    /// Text of the turn's earlier answers, which is already published.
    before: String,
    /// Text of this attempt so far.
    text: String,
    shown: Shown,
}

/// The published content of the artifact.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    /// There is none yet.
    Nothing,
    /// Exactly `before` and `text`.
    Right,
    /// It also contains the text of an attempt that broke off: the next piece restarts the artifact.
    Broken,
}

impl<'a> Speaker<'a> {
    pub(super) fn new(
        stage: &'a Stage,
        speech: Speech,
        step: Op,
        label: &str,
        said: &[String],
    ) -> Self {
        let before = said.join(SEPARATOR);
        let shown = if stage.has_shown(&step, speech.artifact()) {
            Shown::Broken
        } else if before.is_empty() {
            Shown::Nothing
        } else {
            Shown::Right
        };
        Self { stage, speech, step, label: label.to_owned(), before, text: String::new(), shown }
    }

    /// The attempt broke off; its text does not count.
    pub(super) fn broke(&mut self) {
        if !self.text.is_empty() {
            self.shown = Shown::Broken;
        }
        self.text.clear();
    }

    pub(super) async fn say(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let gap = if self.text.is_empty() && !self.before.is_empty() { SEPARATOR } else { "" };
        let piece = format!("{gap}{text}");
        self.text.push_str(&piece);
        let (append, piece) = match self.shown {
            Shown::Right => (true, piece),
            Shown::Nothing | Shown::Broken => (false, format!("{}{}", self.before, self.text)),
        };
        self.show(append, piece).await;
    }

    /// The answer is complete. Text of a failed attempt is withdrawn.
    pub(super) async fn close(&mut self) {
        if self.shown == Shown::Broken {
            let right = format!("{}{}", self.before, self.text);
            self.show(false, right).await;
        }
    }

    async fn show(&mut self, append: bool, text: String) {
        let metadata = if append { Object::new() } else { about(&self.label) };
        if let Some(chunk) = chunk(self.speech, text, append, false, metadata) {
            self.stage.artifact_within(&self.step, chunk).await;
        }
        self.shown = Shown::Right;
    }
}

/// Withdraws the text that the step published; `said` is the text before the step.
pub(super) async fn take_back(stage: &Stage, speech: Speech, step: Op, said: &[String]) {
    Speaker::new(stage, speech, step, "", said).close().await;
}

/// Closes the artifact, with an additional sentence if there is one. `said` is its published text.
pub(super) async fn finish(
    stage: &Stage,
    speech: Speech,
    label: &str,
    said: &str,
    sentence: Option<&str>,
) {
    let whole = match (said, sentence) {
        ("", None) => return,
        (said, None) => said.to_owned(),
        ("", Some(sentence)) => sentence.to_owned(),
        (said, Some(sentence)) => format!("{said}{SEPARATOR}{sentence}"),
    };
    let chunk = if whole.len() <= CLOSING_BYTES_MAX {
        chunk(speech, whole, false, true, about(label))
    } else {
        let append = !said.is_empty();
        let rest = if append { whole[said.len()..].to_owned() } else { whole };
        chunk(speech, rest, append, true, Object::new())
    };
    if let Some(chunk) = chunk {
        stage.artifact(chunk).await;
    }
}

/// The metadata of an artifact.
fn about(label: &str) -> Object {
    let mut metadata = Object::new();
    if !label.is_empty() {
        metadata.insert("model".to_owned(), label.into());
    }
    metadata
}

fn chunk(
    speech: Speech,
    text: String,
    append: bool,
    last: bool,
    metadata: Object,
) -> Option<ArtifactChunk> {
    let id = ArtifactId::new(speech.artifact()).ok()?;
    let mut artifact = Artifact::new(id, vec![Part::text(text)]).named(speech.artifact());
    artifact.metadata = metadata;
    Some(ArtifactChunk { artifact, append, last, joined: append })
}
