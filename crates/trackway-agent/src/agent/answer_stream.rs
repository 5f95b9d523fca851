//! Streams the model's text and reasoning as the artifacts `text-response` and `reasoning`, piece by
//! piece (D8). Each ends with its whole text, for clients that keep only the last piece.

use trackway_domain::{Artifact, ArtifactChunk, ArtifactId, Object, Op, Part};
use trackway_runtime::Stage;

/// The part of the model's output that an artifact contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AnswerStreamKind {
    Text,
    Reasoning,
}

impl AnswerStreamKind {
    /// Id and name of the artifact.
    fn answer_artifact_id(self) -> &'static str {
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
pub(super) struct AnswerArtifactStream<'a> {
    stage: &'a Stage,
    speech: AnswerStreamKind,
    step: Op,
    label: String,
    /// Text of the turn's earlier answers, which is already published.
    before: String,
    /// Text of this attempt so far.
    text: String,
    state: PublishedTextState,
}

/// The published content of the artifact.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PublishedTextState {
    /// There is none yet.
    Empty,
    /// Exactly `before` and `text`.
    Current,
    /// It also contains the text of an attempt that broke off: the next piece restarts the artifact.
    Stale,
}

impl<'a> AnswerArtifactStream<'a> {
    pub(super) fn new(
        stage: &'a Stage,
        stream_kind: AnswerStreamKind,
        step: Op,
        label: &str,
        texts: &[String],
    ) -> Self {
        let before = texts.join(SEPARATOR);
        let shown = if stage.has_recorded_step_artifact(&step, stream_kind.answer_artifact_id()) {
            PublishedTextState::Stale
        } else if before.is_empty() {
            PublishedTextState::Empty
        } else {
            PublishedTextState::Current
        };
        Self {
            stage,
            speech: stream_kind,
            step,
            label: label.to_owned(),
            before,
            text: String::new(),
            state: shown,
        }
    }

    /// The attempt broke off; its text does not count.
    pub(super) fn discard_attempt_text(&mut self) {
        if !self.text.is_empty() {
            self.state = PublishedTextState::Stale;
        }
        self.text.clear();
    }

    pub(super) async fn publish_text_delta(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let gap = if self.text.is_empty() && !self.before.is_empty() { SEPARATOR } else { "" };
        let piece = format!("{gap}{text}");
        self.text.push_str(&piece);
        let (append, piece) = match self.state {
            PublishedTextState::Current => (true, piece),
            PublishedTextState::Empty | PublishedTextState::Stale => {
                (false, format!("{}{}", self.before, self.text))
            }
        };
        self.publish_text_chunk(append, piece).await;
    }

    /// The answer is complete. Text of a failed attempt is withdrawn.
    pub(super) async fn finish_answer_text(&mut self) {
        if self.state == PublishedTextState::Stale {
            let right = format!("{}{}", self.before, self.text);
            self.publish_text_chunk(false, right).await;
        }
    }

    async fn publish_text_chunk(&mut self, append: bool, text: String) {
        let metadata = if append { Object::new() } else { model_artifact_metadata(&self.label) };
        if let Some(chunk) = text_artifact_chunk(self.speech, text, append, false, metadata) {
            self.stage.emit_artifact_from_step(&self.step, chunk).await;
        }
        self.state = PublishedTextState::Current;
    }
}

/// Withdraws the text that the step published; `texts` is the text before the step.
pub(super) async fn retract_step_text(
    stage: &Stage,
    stream_kind: AnswerStreamKind,
    step: Op,
    texts: &[String],
) {
    AnswerArtifactStream::new(stage, stream_kind, step, "", texts).finish_answer_text().await;
}

/// Closes the artifact, with an additional sentence if there is one. `text` is its published text.
pub(super) async fn publish_final_answer_text(
    stage: &Stage,
    stream_kind: AnswerStreamKind,
    label: &str,
    text: &str,
    closing_note: Option<&str>,
) {
    let whole = match (text, closing_note) {
        ("", None) => return,
        (text, None) => text.to_owned(),
        ("", Some(sentence)) => sentence.to_owned(),
        (text, Some(sentence)) => format!("{text}{SEPARATOR}{sentence}"),
    };
    let chunk = if whole.len() <= CLOSING_BYTES_MAX {
        text_artifact_chunk(stream_kind, whole, false, true, model_artifact_metadata(label))
    } else {
        let append = !text.is_empty();
        let rest = if append { whole[text.len()..].to_owned() } else { whole };
        text_artifact_chunk(stream_kind, rest, append, true, Object::new())
    };
    if let Some(chunk) = chunk {
        stage.emit_artifact(chunk).await;
    }
}

/// The metadata of an artifact.
fn model_artifact_metadata(label: &str) -> Object {
    let mut metadata = Object::new();
    if !label.is_empty() {
        metadata.insert("model".to_owned(), label.into());
    }
    metadata
}

fn text_artifact_chunk(
    stream_kind: AnswerStreamKind,
    text: String,
    append: bool,
    last: bool,
    metadata: Object,
) -> Option<ArtifactChunk> {
    let id = ArtifactId::new(stream_kind.answer_artifact_id()).ok()?;
    let mut artifact = Artifact::new(id, vec![Part::text(text)]).named(stream_kind.answer_artifact_id());
    artifact.metadata = metadata;
    Some(ArtifactChunk { artifact, append, last, joined: append })
}
