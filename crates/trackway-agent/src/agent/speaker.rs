//! What the model says, shown while it says it: the artifact `text-response`, piece by piece (D8).

use trackway_domain::{Artifact, ArtifactChunk, ArtifactId, Object, Op, Part};
use trackway_runtime::Stage;

/// Id and name of the artifact that is the model's text.
const TEXT_RESPONSE: &str = "text-response";

/// What stands between the texts of two answers in one turn.
pub(super) const SEPARATOR: &str = "\n\n";

/// Shows the text of one model call, from within its step.
pub(super) struct Speaker<'a> {
    stage: &'a Stage,
    step: Op,
    label: String,
    /// Text of the turn's earlier answers, which is shown already.
    before: String,
    /// Text of this attempt so far.
    text: String,
    shown: Shown,
}

/// What the artifact shows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    /// There is none yet.
    Nothing,
    /// Exactly `before` and `text`.
    Right,
    /// The text of an attempt that broke off as well: the next piece begins the artifact anew.
    Broken,
}

impl<'a> Speaker<'a> {
    pub(super) fn new(stage: &'a Stage, step: Op, label: &str, said: &[String]) -> Self {
        let before = said.join(SEPARATOR);
        let shown = if stage.has_spoken(&step) {
            Shown::Broken
        } else if before.is_empty() {
            Shown::Nothing
        } else {
            Shown::Right
        };
        Self { stage, step, label: label.to_owned(), before, text: String::new(), shown }
    }

    /// The attempt broke off; what it said does not count.
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

    /// The answer is whole. Text that an attempt left behind is taken back.
    pub(super) async fn close(&mut self) {
        if self.shown == Shown::Broken {
            let right = format!("{}{}", self.before, self.text);
            self.show(false, right).await;
        }
    }

    async fn show(&mut self, append: bool, text: String) {
        let mut metadata = Object::new();
        if !append && !self.label.is_empty() {
            metadata.insert("model".to_owned(), self.label.as_str().into());
        }
        if let Some(chunk) = chunk(text, append, false, metadata) {
            self.stage.artifact_within(&self.step, chunk).await;
        }
        self.shown = Shown::Right;
    }
}

/// Takes back what the step has shown; `said` is what it was before.
pub(super) async fn take_back(stage: &Stage, step: Op, said: &[String]) {
    Speaker::new(stage, step, "", said).close().await;
}

/// Ends the artifact, with a sentence of our own where there is one. `said` is what it shows.
pub(super) async fn finish(stage: &Stage, said: &str, sentence: Option<&str>) {
    let append = !said.is_empty();
    let text = match (append, sentence) {
        (false, None) => return,
        (true, None) => String::new(),
        (true, Some(sentence)) => format!("{SEPARATOR}{sentence}"),
        (false, Some(sentence)) => sentence.to_owned(),
    };
    if let Some(chunk) = chunk(text, append, true, Object::new()) {
        stage.artifact(chunk).await;
    }
}

fn chunk(text: String, append: bool, last: bool, metadata: Object) -> Option<ArtifactChunk> {
    let id = ArtifactId::new(TEXT_RESPONSE).ok()?;
    let mut artifact = Artifact::new(id, vec![Part::text(text)]).named(TEXT_RESPONSE);
    artifact.metadata = metadata;
    Some(ArtifactChunk { artifact, append, last, joined: append })
}
