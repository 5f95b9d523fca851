//! The limit on nesting, checked before values enter the log: everything that is recorded must read back.

use trackway_domain::{
    Artifact, JSON_DEPTH_MAX, Message, Part, RunCommand, StepOutcome, ValidationError, Yield,
    is_json_too_deep,
};

/// Whether a program's command carries a value that is nested too deeply to be recorded.
pub(crate) fn is_command_json_too_deep(command: &RunCommand) -> bool {
    let parts_too_deep = |parts: &[Part]| parts.iter().any(Part::is_nested_too_deep);
    match command {
        RunCommand::Yield { what: Yield::Status { parts } | Yield::Answer { parts }, .. } => {
            parts_too_deep(parts)
        }
        RunCommand::Yield { what: Yield::Reference { parts, metadata, .. }, .. } => {
            parts_too_deep(parts) || metadata.values().any(is_json_too_deep)
        }
        RunCommand::Yield { what: Yield::Artifact(chunk), .. } => is_artifact_json_too_deep(&chunk.artifact),
        RunCommand::Yield { what: Yield::Interrupted { prompt, schema, artifact, .. }, .. } => {
            parts_too_deep(prompt)
                || is_json_too_deep(schema)
                || artifact.as_ref().is_some_and(is_artifact_json_too_deep)
        }
        RunCommand::StartChild { child, .. } => is_json_too_deep(&child.input),
        RunCommand::FinishStep { outcome: StepOutcome::Ok(value), .. }
        | RunCommand::NoteStep { note: value, .. }
        | RunCommand::ReleaseStepNote { note: value, .. }
        | RunCommand::RecordValue { value, .. }
        | RunCommand::End(Ok(value)) => is_json_too_deep(value),
        RunCommand::Yield { what: Yield::Reject { .. }, .. }
        | RunCommand::FinishStep { outcome: StepOutcome::Err(_), .. }
        | RunCommand::End(Err(_))
        | RunCommand::Submit(_)
        | RunCommand::Guided(_)
        | RunCommand::RetryStep(_)
        | RunCommand::Sleep { .. }
        | RunCommand::WithdrawQuestion { .. }
        | RunCommand::Deliver(_)
        | RunCommand::Cancel
        | RunCommand::FireTimer(_)
        | RunCommand::ReceiveChildOutcome { .. }
        | RunCommand::ReceiveFirstAnswer { .. }
        | RunCommand::UpdateWaitingRun { .. }
        | RunCommand::Adopt
        | RunCommand::Park(_)
        | RunCommand::Unpark => false,
    }
}

fn is_artifact_json_too_deep(artifact: &Artifact) -> bool {
    artifact.parts.iter().any(Part::is_nested_too_deep) || artifact.metadata.values().any(is_json_too_deep)
}

/// Whether a caller's message is nested too deeply.
pub(crate) fn is_message_json_too_deep(message: &Message) -> bool {
    message.parts.iter().any(Part::is_nested_too_deep) || message.metadata.values().any(is_json_too_deep)
}

/// The error that its sender receives.
pub(crate) fn json_too_deep_error() -> ValidationError {
    ValidationError {
        path: String::new(),
        code: "depth".into(),
        message: format!("the message is nested deeper than {JSON_DEPTH_MAX} levels"),
        expected: JSON_DEPTH_MAX.into(),
        got: None,
        hint: Some("flatten it, or send it as text".into()),
    }
}
