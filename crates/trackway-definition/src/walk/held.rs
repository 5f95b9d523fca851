//! Why a walk cannot go on, in the words of a block.

use serde_json::Value;
use trackway_domain::{Block, Need};

use crate::lack::Lack;

/// Something that was read from the context is not there, or is of no use.
pub(super) fn held(lack: Lack) -> Block {
    let code = match &lack {
        Lack::Missing { .. } => "context-missing",
        Lack::Wrong { .. } => "context-invalid",
    };
    let need = Need::from(lack);
    Block { code: code.to_owned(), message: need.message.clone(), needs: vec![need] }
}

/// A name is not set, and what it should hold is known.
pub(super) fn missing(name: &str, message: String, schema: Value, example: Value) -> Block {
    let need = Need {
        pointer: pointer(name),
        message: message.clone(),
        schema: Some(schema),
        example: Some(example),
        got: None,
    };
    Block { code: "context-missing".to_owned(), message, needs: vec![need] }
}

/// A value is there, and is not what it should be.
pub(super) fn invalid(
    name: Option<&str>,
    message: String,
    schema: Value,
    example: Value,
    got: Value,
) -> Block {
    let need = Need {
        pointer: name.map_or_else(|| "/context".to_owned(), pointer),
        message: message.clone(),
        // The schema is of the value; without a name there is no place for it to stand.
        schema: name.map(|_| schema),
        example: name.map(|_| example),
        got: Some(got),
    };
    Block { code: "context-invalid".to_owned(), message, needs: vec![need] }
}

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

/// A path of names as a pointer into a call's arguments.
pub(super) fn pointer(path: &str) -> String {
    let mut pointer = "/context".to_owned();
    for name in path.split('.') {
        pointer.push('/');
        pointer.push_str(&name.replace('~', "~0").replace('/', "~1"));
    }
    pointer
}
