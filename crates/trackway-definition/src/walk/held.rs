//! Why a walk cannot go on, in the words of a block.

use trackway_domain::{Block, Need};

/// A value that the workflow made is larger or deeper than can be kept.
pub(super) fn too_large(what: &str) -> Block {
    let message = format!("{what} is larger or more deeply nested than a run's context may be");
    let need = Need { pointer: "/context".to_owned(), message: message.clone(), ..Need::default() };
    Block { code: "context-invalid".to_owned(), message, needs: vec![need] }
}

pub(super) fn no_progress(steps: u32) -> Block {
    let message = format!(
        "the workflow went through {steps} steps without one to be done: the conditions inside of \
         its loops leave everything out"
    );
    Block { code: "no-progress".to_owned(), message, needs: Vec::new() }
}

/// The place and the definition do not belong together.
pub(crate) fn lost(message: impl Into<String>) -> Block {
    Block { code: "place-lost".to_owned(), message: message.into(), needs: Vec::new() }
}
