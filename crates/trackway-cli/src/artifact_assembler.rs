//! Artifacts that arrive in pieces, shown once they are complete.

use std::collections::HashMap;

use trackway::api::{Artifact, Part, PartContent};
use trackway_domain::RunId;

/// The artifacts of the followed runs.
#[derive(Debug, Default)]
pub(crate) struct ArtifactAssembler {
    /// The incomplete artifact of each run.
    open: HashMap<RunId, Artifact>,
    /// The shown artifacts, so that the same content is not shown twice.
    emitted: HashMap<RunId, HashMap<String, Vec<Part>>>,
}

impl ArtifactAssembler {
    /// Adds a piece. Returns the artifacts that are complete now: the previous one if another begins, and
    /// this one if the piece is its last.
    pub(crate) fn push_chunk(
        &mut self,
        run: RunId,
        artifact: &Artifact,
        append: bool,
        last: bool,
    ) -> Vec<Artifact> {
        let mut whole = Vec::new();
        match self.open.get_mut(&run) {
            Some(open) if open.artifact_id == artifact.artifact_id => match append {
                true => append_parts(&mut open.parts, &artifact.parts),
                false => open.parts.clone_from(&artifact.parts),
            },
            _ => {
                whole.extend(self.finish_open_artifact(run));
                let mut open = artifact.clone();
                // Pieces of an artifact that was already shown extend it.
                if let Some(before) = self.emitted_artifact_parts(run, &open.artifact_id).filter(|_| append) {
                    let mut parts = before.to_vec();
                    append_parts(&mut parts, &artifact.parts);
                    open.parts = parts;
                }
                self.open.insert(run, open);
            }
        }
        if last {
            whole.extend(self.finish_open_artifact(run));
        }
        whole
    }

    /// Completes the open artifact of a run. None if the same content was already shown.
    pub(crate) fn finish_open_artifact(&mut self, run: RunId) -> Option<Artifact> {
        let artifact = self.open.remove(&run)?;
        if self.emitted_artifact_parts(run, &artifact.artifact_id) == Some(&artifact.parts) {
            return None;
        }
        let shown = self.emitted.entry(run).or_default();
        shown.insert(artifact.artifact_id.clone(), artifact.parts.clone());
        Some(artifact)
    }

    /// The run has ended.
    pub(crate) fn forget_run(&mut self, run: RunId) {
        self.open.remove(&run);
        self.emitted.remove(&run);
    }

    fn emitted_artifact_parts(&self, run: RunId, artifact: &str) -> Option<&Vec<Part>> {
        self.emitted.get(&run)?.get(artifact)
    }
}

/// Text extends a last text part; any other part is appended.
fn append_parts(parts: &mut Vec<Part>, more: &[Part]) {
    for part in more {
        match (parts.last_mut().map(|last| &mut last.content), &part.content) {
            (Some(PartContent::Text { text }), PartContent::Text { text: more }) => {
                text.push_str(more);
            }
            _ => parts.push(part.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const RUN: &str = "run_00000000000000000000000000000001";

    /// Pieces `(artifact, text, append, last)`, and the texts that each piece completes.
    #[test]
    fn an_artifact_is_shown_once_it_is_whole_and_only_once() {
        for pieces in [
            // Closed by an empty piece, by its whole text, by the piece of another, and not at all.
            &[
                ("a", "The ", false, false, ""),
                ("a", "end", true, false, ""),
                ("a", "", true, true, "The end"),
            ][..],
            &[
                ("a", "The ", false, false, ""),
                ("a", "end", true, false, ""),
                ("a", "The end", false, true, "The end"),
            ],
            &[("a", "x", false, false, ""), ("b", "y", false, true, "xy"), ("a", "x", false, true, "")],
            &[("a", "x", false, true, "x"), ("a", "y", true, true, "xy"), ("a", "xy", false, true, "")],
        ] {
            let run: RunId = RUN.parse().unwrap();
            let mut growing = ArtifactAssembler::default();
            for (id, text, append, last, expected) in pieces {
                let artifact: Artifact = serde_json::from_value(
                    json!({ "artifactId": id, "parts": [{ "kind": "text", "text": text }] }),
                )
                .unwrap();
                let whole = growing.push_chunk(run, &artifact, *append, *last);
                let texts = whole.iter().flat_map(|artifact| &artifact.parts).map(|part| {
                    let PartContent::Text { text } = &part.content else { panic!("{part:?}") };
                    text.as_str()
                });
                assert_eq!(texts.collect::<String>(), *expected, "{pieces:?}");
            }
        }
    }
}
