//! The work of an agent, in addition to its answer: its tool calls, their results, and its model's
//! reasoning. Clients that accept only text would take it for a part of the answer, so they do not
//! receive it.

use trackway_domain::Artifact;
use trackway_engine::RunView;
use trackway_runtime::{Kind, ProgramInfo};

use crate::media;

/// Which artifacts a client receives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shows {
    Everything,
    /// All except the work of an agent.
    AnswersOnly,
}

impl Shows {
    /// The artifacts for the sender of a message, by the output modes that it accepts.
    pub(super) fn of(accepted: &[String], info: &ProgramInfo) -> Self {
        let is_plain = !accepted.is_empty() && !media::accept_json(accepted);
        if info.kind == Kind::Agent && is_plain { Self::AnswersOnly } else { Self::Everything }
    }

    pub(super) fn shows(self, artifact: &Artifact) -> bool {
        self == Self::Everything || !is_work(artifact)
    }

    pub(super) fn reduce(self, view: &mut RunView) {
        view.artifacts.retain(|artifact| self.shows(artifact));
    }
}

fn is_work(artifact: &Artifact) -> bool {
    let id = artifact.id.as_str();
    let is_call = id.starts_with("tool-call-") || id.starts_with("tool-result-");
    (is_call && artifact.metadata.contains_key("toolName")) || id == "reasoning"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn artifact(id: &str, of_tool: bool) -> Artifact {
        let mut artifact = Artifact::text(id, "x").unwrap();
        if of_tool {
            artifact.metadata.insert("toolName".to_owned(), "echo".into());
        }
        artifact
    }

    /// Issue 11, E5: clients that accept only text do not receive the work of an agent.
    #[test]
    fn the_work_of_an_agent_is_left_out() {
        let table = [
            (artifact("text-response", false), true),
            (artifact("report.txt", false), true),
            (artifact("tool-call-echo", true), false),
            (artifact("tool-result-echo.2", true), false),
            (artifact("reasoning", false), false),
            (artifact("tool-call-sheet", false), true),
        ];
        for (artifact, shown) in table {
            assert_eq!(Shows::AnswersOnly.shows(&artifact), shown, "{}", artifact.id);
            assert!(Shows::Everything.shows(&artifact));
        }
    }
}
