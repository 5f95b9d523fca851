//! Why a walk cannot continue, as block reasons.

use trackway_domain::{BlockReason, InputRequirement};

/// A value that the workflow created is larger or deeper than allowed.
pub(super) fn value_too_large_block(what: &str) -> BlockReason {
    let message = format!("{what} is larger or more deeply nested than a run's context may be");
    let need = InputRequirement {
        pointer: "/context".to_owned(),
        message: message.clone(),
        ..InputRequirement::default()
    };
    BlockReason { code: "context-invalid".to_owned(), message, needs: vec![need] }
}

pub(super) fn too_many_silent_steps_block(steps: u32) -> BlockReason {
    let message = format!(
        "the workflow went through {steps} steps without one to be done: the conditions inside of \
         its loops leave everything out"
    );
    BlockReason { code: "no-progress".to_owned(), message, needs: Vec::new() }
}

/// The position and the definition do not belong together.
pub(crate) fn lost_position_block(message: impl Into<String>) -> BlockReason {
    BlockReason { code: "place-lost".to_owned(), message: message.into(), needs: Vec::new() }
}
