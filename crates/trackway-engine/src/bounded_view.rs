//! Views and updates with a bound in bytes: what an answer or an event includes of a run, and what it omits.

use std::sync::Arc;

use serde_json::Value;
use trackway_domain::{Artifact, ArtifactId, FileSource, Message, MessagePartContent, Object, Part};

use crate::{RunView, VisibleUpdate};

/// What an answer omits from a view, or an event from an update. The log has it, event by event.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OmittedContent {
    /// How many of the requested messages, oldest first.
    pub messages: usize,
    pub artifacts: Vec<ArtifactId>,
    /// How many parts of the status message, or of the artifact piece.
    pub parts: usize,
    /// Names of whole fields: `output` of the run, `metadata` of the message or artifact.
    pub fields: Vec<&'static str>,
}

impl OmittedContent {
    pub fn is_nothing_omitted(&self) -> bool {
        *self == Self::default()
    }
}

/// A view that includes only what was requested and what fits.
#[derive(Debug, Clone, PartialEq)]
pub struct BoundedRunView {
    pub view: RunView,
    pub omitted: OmittedContent,
    /// Approximate size as JSON.
    pub bytes: usize,
}

/// How much of a run the caller wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunViewLimits {
    /// How many of the newest messages of the history.
    pub messages: usize,
    pub artifacts: bool,
    /// Bound of the whole view. The status comes first, without the parts that do not fit. Then come
    /// artifacts in their order, then messages, newest first, as long as they fit.
    pub bytes: usize,
}

/// An update that includes only what fits.
#[derive(Debug, Clone, PartialEq)]
pub struct BoundedRunUpdate {
    pub update: VisibleUpdate,
    pub omitted: OmittedContent,
    /// Approximate size as JSON.
    pub bytes: usize,
}

impl VisibleUpdate {
    /// The update without the content that does not fit into `max` bytes. The content of a submission is not
    /// counted, because it is not part of the update.
    pub fn omit_content_over_bytes(mut self, max_bytes: usize) -> BoundedRunUpdate {
        let mut omitted = OmittedContent::default();
        let bytes = match &mut self {
            Self::Submitted => 0,
            Self::Status(status) => {
                let message = status.message.as_mut();
                let bytes = message.map_or(0, |it| omit_oversized_message_parts(it, max_bytes, &mut omitted));
                bytes + omit_oversized_output(&mut status.output, max_bytes - bytes, &mut omitted)
            }
            Self::Artifact(chunk) => {
                let Artifact { parts, metadata, .. } = &mut chunk.artifact;
                omit_oversized_parts(parts, metadata, max_bytes, &mut omitted)
            }
        };
        BoundedRunUpdate { update: self, omitted, bytes }
    }
}

impl RunView {
    /// The view with the requested content. Only a status that does not fit is copied.
    pub fn omit_content_over_limits(mut self, limits: RunViewLimits) -> BoundedRunView {
        let mut omitted = OmittedContent::default();
        let mut bytes = self.status_message().map_or(0, |message| message_bytes(message));
        if bytes > limits.bytes
            && let Some(message) = self.status_message_mut()
        {
            bytes = omit_oversized_message_parts(Arc::make_mut(message), limits.bytes, &mut omitted);
        }
        bytes += omit_oversized_output(&mut self.output, limits.bytes - bytes, &mut omitted);
        let artifacts = std::mem::take(&mut self.artifacts);
        for artifact in artifacts.into_iter().filter(|_| limits.artifacts) {
            let more = artifact_bytes(&artifact);
            if bytes + more > limits.bytes {
                omitted.artifacts.push(artifact.id.clone());
            } else {
                bytes += more;
                self.artifacts.push(artifact);
            }
        }
        let asked = self.message_history().count().min(limits.messages);
        let mut kept: Vec<Arc<Message>> = Vec::new();
        for message in self.message_history().rev().take(asked) {
            let more = message_bytes(message);
            if bytes + more > limits.bytes {
                break;
            }
            bytes += more;
            kept.push(message.clone());
        }
        omitted.messages = asked - kept.len();
        kept.reverse();
        self.replace_message_history(kept);
        BoundedRunView { view: self, omitted, bytes }
    }
}

fn omit_oversized_message_parts(
    message: &mut Message,
    max_bytes: usize,
    omitted: &mut OmittedContent,
) -> usize {
    omit_oversized_parts(&mut message.parts, &mut message.metadata, max_bytes, omitted)
}

/// Removes the parts that do not fit, and the metadata if it does not fit by itself. Returns about how many
/// bytes remain. A message and an artifact need at least one part, so an empty text replaces them if all are
/// removed.
fn omit_oversized_parts(
    parts: &mut Vec<Part>,
    metadata: &mut Object,
    max_bytes: usize,
    omitted: &mut OmittedContent,
) -> usize {
    let mut bytes = ENVELOPE_BYTES;
    let mut fits = |more: usize| {
        let fits = bytes + more <= max_bytes;
        bytes += if fits { more } else { 0 };
        fits
    };
    if !fits(object_bytes(metadata)) {
        metadata.clear();
        omitted.fields.push("metadata");
    }
    let before = parts.len();
    parts.retain(|part| fits(part_bytes(part) + object_bytes(&part.metadata)));
    omitted.parts += before - parts.len();
    if parts.is_empty() && before > 0 {
        parts.push(Part::text(""));
    }
    bytes.min(max_bytes)
}

fn omit_oversized_output(output: &mut Value, max_bytes: usize, omitted: &mut OmittedContent) -> usize {
    let bytes = approximate_json_bytes(output);
    if bytes <= max_bytes || output.is_null() {
        return bytes.min(max_bytes);
    }
    *output = Value::Null;
    omitted.fields.push("output");
    0
}

/// Bytes around a value on the wire: names, quotes, ids.
const ENVELOPE_BYTES: usize = 64;

fn message_bytes(message: &Message) -> usize {
    ENVELOPE_BYTES + parts_bytes(&message.parts) + object_bytes(&message.metadata)
}

fn artifact_bytes(artifact: &Artifact) -> usize {
    ENVELOPE_BYTES + parts_bytes(&artifact.parts) + object_bytes(&artifact.metadata)
}

fn parts_bytes(parts: &[Part]) -> usize {
    parts.iter().map(|part| part_bytes(part) + object_bytes(&part.metadata)).sum()
}

fn part_bytes(part: &Part) -> usize {
    let content = match &part.content {
        MessagePartContent::Text(text) => text.len(),
        MessagePartContent::Data(value) => approximate_json_bytes(value),
        MessagePartContent::File(file) => match &file.source {
            FileSource::Base64(text) | FileSource::Uri(text) => text.len(),
        },
    };
    ENVELOPE_BYTES + content
}

fn object_bytes(object: &Object) -> usize {
    object.iter().map(|(name, value)| name.len() + 4 + approximate_json_bytes(value)).sum()
}

/// Approximate size of a value as JSON.
pub fn approximate_json_bytes(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) => 5,
        Value::Number(_) => 16,
        Value::String(text) => text.len() + 2,
        Value::Array(values) => {
            values.iter().map(|value| approximate_json_bytes(value) + 1).sum::<usize>() + 2
        }
        Value::Object(object) => object_bytes(object) + 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::ScriptedRun;

    fn view_limits(bytes: usize) -> RunViewLimits {
        RunViewLimits { messages: 1_000, artifacts: true, bytes }
    }

    /// Proves X5: content that fits is included, and the rest is named.
    #[test]
    fn an_answer_has_a_bound_and_says_what_it_leaves_out() {
        let large = "x".repeat(1_000);
        let story = ScriptedRun::after_commands(&format!(
            "submit; status {large}; artifact a {large}; artifact b small; artifact c {large}; \
             status done; say hello"
        ));
        let whole = story.view().clone().omit_content_over_limits(view_limits(usize::MAX));
        assert!(whole.omitted.is_nothing_omitted());
        assert_eq!(whole.view.message_history().count(), 3);
        let some = story.view().clone().omit_content_over_limits(view_limits(1_900));
        let names: Vec<_> = some.view.artifacts.iter().map(|it| it.id.as_str()).collect();
        assert_eq!(names, ["a", "b"]);
        assert_eq!(some.omitted.artifacts.len(), 1);
        assert_eq!(some.omitted.messages, 2, "the long status, and what is older");
        let shown: Vec<_> = some.view.message_history().map(|it| it.parts[0].as_text()).collect();
        assert_eq!(shown, [Some("hello")]);
        let status = some.view.status_message().unwrap();
        assert_eq!(status.parts[0].as_text(), Some("done"));
        assert!(some.bytes <= 1_900);
    }

    /// Issue 11, S-M3: a status that is too large by itself is cut too, and so is the output.
    #[test]
    fn a_status_and_an_output_have_a_bound() {
        let large = "x".repeat(1_000);
        let story = ScriptedRun::after_commands(&format!("submit; status {large}"));
        let mut view = story.view().clone();
        view.output = Value::from(large);
        let some = view.omit_content_over_limits(view_limits(900));
        let message = some.view.status_message().unwrap();
        assert_eq!(message.parts, [Part::text("")], "a message has one part at least");
        assert_eq!((some.omitted.parts, &*some.omitted.fields), (1, &["output"][..]));
        assert!(some.bytes <= 900);
        let history = story.view().status_message().unwrap();
        assert_eq!(history.parts[0].as_text().map(str::len), Some(1_000), "the run itself is whole");
    }

    /// Issue 11, S-M3: an update includes what fits, in order, and says how much it omits.
    #[test]
    fn an_update_has_a_bound_and_says_what_it_leaves_out() {
        let text = |bytes: usize| Part::text("x".repeat(bytes));
        let mut artifact = Artifact::new(ArtifactId::new("a").unwrap(), vec![]);
        artifact.parts = vec![text(300), text(900), text(200)];
        artifact.metadata.insert("note".to_owned(), "y".repeat(2_000).into());
        let whole = VisibleUpdate::Artifact(artifact.clone().into());
        let bounded = whole.clone().omit_content_over_bytes(usize::MAX / 2);
        assert!(bounded.omitted.is_nothing_omitted());
        assert_eq!(bounded.update, whole);
        let BoundedRunUpdate { update, omitted, bytes } = whole.omit_content_over_bytes(1_000);
        let VisibleUpdate::Artifact(chunk) = update else { panic!("it is another update") };
        assert_eq!(chunk.artifact.parts, [text(300), text(200)]);
        assert_eq!((omitted.parts, &*omitted.fields), (1, &["metadata"][..]));
        assert!(bytes <= 1_000 && bytes > 500, "{bytes}");
    }

    /// Content that was not requested does not count as omitted, and takes no bytes.
    #[test]
    fn unrequested_content_takes_no_room() {
        let story = ScriptedRun::after_commands("submit; status one; artifact a text; status two; say more");
        let bare = RunViewLimits { messages: 1, artifacts: false, bytes: 400 };
        let bounded = story.view().clone().omit_content_over_limits(bare);
        assert!(bounded.omitted.is_nothing_omitted());
        assert_eq!((bounded.view.message_history().count(), bounded.view.artifacts.len()), (1, 0));
    }
}
