//! The limit on nesting, checked before values enter the log: everything that is recorded must read back.

use trackway_domain::{
    Artifact, Command, JSON_DEPTH_MAX, Message, Part, StepOutcome, ValidationError, Yield, is_too_deep,
};

/// Whether a program's command carries a value that is nested too deeply to be recorded.
pub(crate) fn is_command_too_deep(command: &Command) -> bool {
    let parts_too_deep = |parts: &[Part]| parts.iter().any(Part::is_too_deep);
    match command {
        Command::Yield { what: Yield::Status { parts } | Yield::Answer { parts }, .. } => {
            parts_too_deep(parts)
        }
        Command::Yield { what: Yield::Reference { parts, metadata, .. }, .. } => {
            parts_too_deep(parts) || metadata.values().any(is_too_deep)
        }
        Command::Yield { what: Yield::Artifact(chunk), .. } => is_artifact_too_deep(&chunk.artifact),
        Command::Yield { what: Yield::Interrupted { prompt, schema, artifact, .. }, .. } => {
            parts_too_deep(prompt)
                || is_too_deep(schema)
                || artifact.as_ref().is_some_and(is_artifact_too_deep)
        }
        Command::StartChild { child, .. } => is_too_deep(&child.input),
        Command::FinishStep { outcome: StepOutcome::Ok(value), .. }
        | Command::RecordValue { value, .. }
        | Command::End(Ok(value)) => is_too_deep(value),
        Command::Yield { what: Yield::Reject { .. }, .. }
        | Command::FinishStep { outcome: StepOutcome::Err(_), .. }
        | Command::End(Err(_))
        | Command::Submit(_)
        | Command::Guided(_)
        | Command::RetryStep(_)
        | Command::Sleep { .. }
        | Command::WithdrawQuestion { .. }
        | Command::Deliver(_)
        | Command::Cancel
        | Command::FireTimer(_)
        | Command::ReceiveChildOutcome { .. }
        | Command::ReceiveFirstAnswer { .. }
        | Command::UpdateWaitingRun { .. }
        | Command::Adopt
        | Command::Park(_)
        | Command::Unpark => false,
    }
}

fn is_artifact_too_deep(artifact: &Artifact) -> bool {
    artifact.parts.iter().any(Part::is_too_deep) || artifact.metadata.values().any(is_too_deep)
}

/// Whether a caller's message is nested too deeply.
pub(crate) fn is_message_too_deep(message: &Message) -> bool {
    message.parts.iter().any(Part::is_too_deep) || message.metadata.values().any(is_too_deep)
}

/// The error that its sender receives.
pub(crate) fn too_deep_error() -> ValidationError {
    ValidationError {
        path: String::new(),
        code: "depth".into(),
        message: format!("the message is nested deeper than {JSON_DEPTH_MAX} levels"),
        expected: JSON_DEPTH_MAX.into(),
        got: None,
        hint: Some("flatten it, or send it as text".into()),
    }
}
