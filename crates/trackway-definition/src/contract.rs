//! Contracts.
use trackway_domain::{Block, DocumentChange, Expected, Inputs, Need, Object};

use crate::model::{Form, Prompt};

pub fn expected(prompt: &Prompt) -> Option<Expected> {
    let contract = prompt.output.as_ref()?;
    let (Form::Whole { schema, example } | Form::Artifact { schema, example, .. }) = &contract.form;
    Some(Expected { schema: schema.clone(), example: example.clone(), required: contract.required })
}

pub fn check(prompt: &Prompt, inputs: &Inputs, _context: &Object) -> Result<(), Block> {
    match &prompt.output {
        Some(contract) if contract.required && inputs.output.is_none() => Err(Block {
            code: "output-missing".to_owned(),
            message: "the output is missing".to_owned(),
            needs: vec![Need { pointer: "/output".to_owned(), ..Need::default() }],
        }),
        _ => Ok(()),
    }
}

pub fn changes(_prompt: &Prompt, _step: &str, _inputs: &Inputs) -> Vec<DocumentChange> {
    Vec::new()
}
