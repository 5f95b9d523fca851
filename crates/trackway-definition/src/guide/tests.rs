//! What an outside agent is asked, for each construct.

mod answers;
mod cel;
mod decisions;
mod facts;
mod inner;
mod items;
mod loops;
mod missing;
mod moved;
mod obedient;
mod random;
mod scopes;

use serde_json::{Value, json};
use trackway_domain::{Inputs, Object};

use super::{StepState, advance, open};
use crate::{model::Definition, testing::object};

/// A run under way.
struct Agent {
    definition: Definition,
    standing: StepState,
}

impl Agent {
    fn start(definition: Definition, context: Value) -> Self {
        let standing = open(&definition, &object(context)).expect("the run opens");
        Self { definition, standing }
    }

    /// Answers the pending step.
    fn send(&mut self, inputs: &Inputs) -> &StepState {
        let StepState { walk, context, .. } = &self.standing;
        self.standing =
            advance(&self.definition, walk, context, inputs).expect("the answer advances");
        &self.standing
    }

    fn blocked(&self, inputs: &Inputs) -> Value {
        let StepState { walk, context, .. } = &self.standing;
        let block = advance(&self.definition, walk, context, inputs).expect_err("it is blocked");
        json!(block)
    }

    /// Answers with nothing to the end, and tells what was asked on the way.
    fn prompts(&mut self) -> Vec<String> {
        let mut prompts = Vec::new();
        while let Some(pending) = self.standing.pending.clone() {
            prompts.push(format!("{}: {}", pending.step, pending.prompt));
            self.send(&Inputs::default());
        }
        prompts
    }

    fn prompt(&self) -> &str {
        self.standing.pending.as_ref().map_or("(complete)", |pending| pending.prompt.as_str())
    }

    fn context(&self) -> &Object {
        &self.standing.context
    }

    fn warnings(&self) -> Vec<&str> {
        self.standing.warnings.iter().map(|warning| warning.code.as_str()).collect()
    }
}
