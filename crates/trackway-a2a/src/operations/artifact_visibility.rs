//! The work of an agent, in addition to its answer: its tool calls, their results, and its model's
//! reasoning. Clients that accept only text would take it for a part of the answer, so they do not
//! receive it.

use trackway_domain::Artifact;
use trackway_engine::RunView;
use trackway_runtime::{ProgramInfo, ProgramKind};

use crate::media_type;

/// Which artifacts a client receives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ArtifactVisibility {
    Everything,
    /// All except the work of an agent.
    AnswersOnly,
}

impl ArtifactVisibility {
    /// The artifacts for the sender of a message, by the output modes that it accepts.
    pub(super) fn for_accepted_modes(accepted: &[String], info: &ProgramInfo) -> Self {
        let is_plain = !accepted.is_empty() && !media_type::accepts_json_mode(accepted);
        if info.kind == ProgramKind::Agent && is_plain { Self::AnswersOnly } else { Self::Everything }
    }

    pub(super) fn is_artifact_visible(self, artifact: &Artifact) -> bool {
        self == Self::Everything || !is_tool_or_reasoning_artifact(artifact)
    }

    pub(super) fn hide_artifacts(self, view: &mut RunView) {
        view.artifacts.retain(|artifact| self.is_artifact_visible(artifact));
    }
}

fn is_tool_or_reasoning_artifact(artifact: &Artifact) -> bool {
    let id = artifact.id.as_str();
    let is_call = id.starts_with("tool-call-") || id.starts_with("tool-result-");
    (is_call && artifact.metadata.contains_key("toolName")) || id == "reasoning"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool_or_plain_artifact(id: &str, of_tool: bool) -> Artifact {
        let mut artifact = Artifact::text(id, "x").unwrap();
        if of_tool {
            artifact.metadata.insert("toolName".to_owned(), "echo".into());
        }
        artifact
    }

    /// Issue 11, E5: clients that accept only text do not receive the work of an agent.
    #[test]
    fn tool_calls_and_reasoning_are_hidden() {
        let table = [
            (tool_or_plain_artifact("text-response", false), true),
            (tool_or_plain_artifact("report.txt", false), true),
            (tool_or_plain_artifact("tool-call-echo", true), false),
            (tool_or_plain_artifact("tool-result-echo.2", true), false),
            (tool_or_plain_artifact("reasoning", false), false),
            (tool_or_plain_artifact("tool-call-sheet", false), true),
        ];
        for (artifact, shown) in table {
            assert_eq!(
                ArtifactVisibility::AnswersOnly.is_artifact_visible(&artifact),
                shown,
                "{}",
                artifact.id
            );
            assert!(ArtifactVisibility::Everything.is_artifact_visible(&artifact));
        }
    }
}
