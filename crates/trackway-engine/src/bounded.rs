//! Views with a bound in bytes: what an answer shows of a run, and what it leaves out.

use std::sync::Arc;

use serde_json::Value;
use trackway_domain::{Artifact, ArtifactId, Content, FileSource, Message, Object, Part};

use crate::RunView;

/// What an answer leaves out of a view. The log has it, event by event.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Omitted {
    /// How many of the messages that were asked for, the oldest ones.
    pub messages: usize,
    pub artifacts: Vec<ArtifactId>,
}

impl Omitted {
    pub fn is_empty(&self) -> bool {
        self.messages == 0 && self.artifacts.is_empty()
    }
}

/// A view with no more in it than was asked for and fits.
#[derive(Debug, Clone, PartialEq)]
pub struct Bounded {
    pub view: RunView,
    pub omitted: Omitted,
    /// About how many bytes it is as JSON.
    pub bytes: usize,
}

/// How much of a run is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanted {
    /// The newest messages of the history.
    pub messages: usize,
    pub artifacts: bool,
    /// The status is always shown; then artifacts in their order, then messages, the newest first, for as
    /// long as they fit.
    pub bytes: usize,
}

impl RunView {
    /// The view with what is wanted of it. Nothing is copied.
    pub fn bounded(mut self, wanted: Wanted) -> Bounded {
        let mut omitted = Omitted::default();
        let mut bytes = self.status_message().map_or(0, |message| message_bytes(message));
        bytes += value_bytes(&self.output);
        let artifacts = std::mem::take(&mut self.artifacts);
        for artifact in artifacts.into_iter().filter(|_| wanted.artifacts) {
            let more = artifact_bytes(&artifact);
            if bytes + more > wanted.bytes {
                omitted.artifacts.push(artifact.id.clone());
            } else {
                bytes += more;
                self.artifacts.push(artifact);
            }
        }
        let asked = self.history().count().min(wanted.messages);
        let mut kept: Vec<Arc<Message>> = Vec::new();
        for message in self.history().rev().take(asked) {
            let more = message_bytes(message);
            if bytes + more > wanted.bytes {
                break;
            }
            bytes += more;
            kept.push(message.clone());
        }
        omitted.messages = asked - kept.len();
        kept.reverse();
        self.keep_messages(kept);
        Bounded { view: self, omitted, bytes }
    }
}

/// What stands around a value on the wire: names, quotes, ids.
const AROUND_BYTES: usize = 64;

fn message_bytes(message: &Message) -> usize {
    AROUND_BYTES + parts_bytes(&message.parts) + object_bytes(&message.metadata)
}

fn artifact_bytes(artifact: &Artifact) -> usize {
    AROUND_BYTES + parts_bytes(&artifact.parts) + object_bytes(&artifact.metadata)
}

fn parts_bytes(parts: &[Part]) -> usize {
    parts.iter().map(|part| part_bytes(part) + object_bytes(&part.metadata)).sum()
}

fn part_bytes(part: &Part) -> usize {
    let content = match &part.content {
        Content::Text(text) => text.len(),
        Content::Data(value) => value_bytes(value),
        Content::File(file) => match &file.source {
            FileSource::Base64(text) | FileSource::Uri(text) => text.len(),
        },
    };
    AROUND_BYTES + content
}

fn object_bytes(object: &Object) -> usize {
    object.iter().map(|(name, value)| name.len() + 4 + value_bytes(value)).sum()
}

fn value_bytes(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) => 5,
        Value::Number(_) => 16,
        Value::String(text) => text.len() + 2,
        Value::Array(values) => {
            values.iter().map(|value| value_bytes(value) + 1).sum::<usize>() + 2
        }
        Value::Object(object) => object_bytes(object) + 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Story;

    fn wanted(bytes: usize) -> Wanted {
        Wanted { messages: 1_000, artifacts: true, bytes }
    }

    /// Proves X5: what fits is shown, and what does not is named.
    #[test]
    fn an_answer_has_a_bound_and_says_what_it_leaves_out() {
        let large = "x".repeat(1_000);
        let story = Story::of(&format!(
            "submit; status {large}; artifact a {large}; artifact b small; artifact c {large}; \
             status done; say hello"
        ));
        let whole = story.view().clone().bounded(wanted(usize::MAX));
        assert!(whole.omitted.is_empty());
        assert_eq!(whole.view.history().count(), 3);
        let some = story.view().clone().bounded(wanted(1_900));
        let names: Vec<_> = some.view.artifacts.iter().map(|it| it.id.as_str()).collect();
        assert_eq!(names, ["a", "b"]);
        assert_eq!(some.omitted.artifacts.len(), 1);
        assert_eq!(some.omitted.messages, 2, "the long status, and what is older");
        let shown: Vec<_> = some.view.history().map(|it| it.parts[0].as_text()).collect();
        assert_eq!(shown, [Some("hello")]);
        let status = some.view.status_message().unwrap();
        assert_eq!(status.parts[0].as_text(), Some("done"));
        assert!(some.bytes <= 1_900);
    }

    /// What nobody asked for is not left out, and does not count.
    #[test]
    fn what_is_not_wanted_takes_no_room() {
        let story = Story::of("submit; status one; artifact a text; status two; say more");
        let bare = Wanted { messages: 1, artifacts: false, bytes: 400 };
        let bounded = story.view().clone().bounded(bare);
        assert!(bounded.omitted.is_empty());
        assert_eq!((bounded.view.history().count(), bounded.view.artifacts.len()), (1, 0));
    }
}
