//! Streams the model's text and reasoning as the artifacts `text-response` and `reasoning`, piece by
//! piece (D8). Each ends with its whole text, for clients that keep only the last piece.

use trackway_domain::{Artifact, ArtifactChunk, ArtifactId, Object, Op, Part};
use trackway_runtime::Stage;

/// The part of the model's output that an artifact contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StreamKind {
    Text,
    Reasoning,
}

impl StreamKind {
    /// Id and name of the artifact.
    fn artifact_id(self) -> &'static str {
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
pub(super) struct AnswerStream<'a> {
    stage: &'a Stage,
    speech: StreamKind,
    step: Op,
    label: String,
    /// Text of the turn's earlier answers, which is already published.
    before: String,
    /// Text of this attempt so far.
    text: String,
    state: StreamState,
}

/// The published content of the artifact.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StreamState {
    /// There is none yet.
    Empty,
    /// Exactly `before` and `text`.
    Current,
    /// It also contains the text of an attempt that broke off: the next piece restarts the artifact.
    Stale,
}

impl<'a> AnswerStream<'a> {
    pub(super) fn new(stage: &'a Stage, speech: StreamKind, step: Op, label: &str, texts: &[String]) -> Self {
        let before = texts.join(SEPARATOR);
        let shown = if stage.has_step_artifact(&step, speech.artifact_id()) {
            StreamState::Stale
        } else if before.is_empty() {
            StreamState::Empty
        } else {
            StreamState::Current
        };
        Self { stage, speech, step, label: label.to_owned(), before, text: String::new(), state: shown }
    }

    /// The attempt broke off; its text does not count.
    pub(super) fn discard_attempt(&mut self) {
        if !self.text.is_empty() {
            self.state = StreamState::Stale;
        }
        self.text.clear();
    }

    pub(super) async fn push_text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let gap = if self.text.is_empty() && !self.before.is_empty() { SEPARATOR } else { "" };
        let piece = format!("{gap}{text}");
        self.text.push_str(&piece);
        let (append, piece) = match self.state {
            StreamState::Current => (true, piece),
            StreamState::Empty | StreamState::Stale => (false, format!("{}{}", self.before, self.text)),
        };
        self.publish_chunk(append, piece).await;
    }

    /// The answer is complete. Text of a failed attempt is withdrawn.
    pub(super) async fn finish_answer(&mut self) {
        if self.state == StreamState::Stale {
            let right = format!("{}{}", self.before, self.text);
            self.publish_chunk(false, right).await;
        }
    }

    async fn publish_chunk(&mut self, append: bool, text: String) {
        let metadata = if append { Object::new() } else { model_metadata(&self.label) };
        if let Some(chunk) = text_chunk(self.speech, text, append, false, metadata) {
            self.stage.emit_artifact_from_step(&self.step, chunk).await;
        }
        self.state = StreamState::Current;
    }
}

/// Withdraws the text that the step published; `texts` is the text before the step.
pub(super) async fn retract_text(stage: &Stage, speech: StreamKind, step: Op, texts: &[String]) {
    AnswerStream::new(stage, speech, step, "", texts).finish_answer().await;
}

/// Closes the artifact, with an additional sentence if there is one. `text` is its published text.
pub(super) async fn publish_final_text(
    stage: &Stage,
    speech: StreamKind,
    label: &str,
    text: &str,
    sentence: Option<&str>,
) {
    let whole = match (text, sentence) {
        ("", None) => return,
        (text, None) => text.to_owned(),
        ("", Some(sentence)) => sentence.to_owned(),
        (text, Some(sentence)) => format!("{text}{SEPARATOR}{sentence}"),
    };
    let chunk = if whole.len() <= CLOSING_BYTES_MAX {
        text_chunk(speech, whole, false, true, model_metadata(label))
    } else {
        let append = !text.is_empty();
        let rest = if append { whole[text.len()..].to_owned() } else { whole };
        text_chunk(speech, rest, append, true, Object::new())
    };
    if let Some(chunk) = chunk {
        stage.emit_artifact(chunk).await;
    }
}

/// The metadata of an artifact.
fn model_metadata(label: &str) -> Object {
    let mut metadata = Object::new();
    if !label.is_empty() {
        metadata.insert("model".to_owned(), label.into());
    }
    metadata
}

fn text_chunk(
    speech: StreamKind,
    text: String,
    append: bool,
    last: bool,
    metadata: Object,
) -> Option<ArtifactChunk> {
    let id = ArtifactId::new(speech.artifact_id()).ok()?;
    let mut artifact = Artifact::new(id, vec![Part::text(text)]).named(speech.artifact_id());
    artifact.metadata = metadata;
    Some(ArtifactChunk { artifact, append, last, joined: append })
}
