//! What an outside agent sees, for each construct.

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
use trackway_domain::{AttemptInputs, Object};

use super::{StepState, advance, open_run};
use crate::{model::Definition, test_support::expect_object};

/// A run in progress.
struct ScriptedAgent {
    definition: Definition,
    state: StepState,
}

impl ScriptedAgent {
    fn start(definition: Definition, context: Value) -> Self {
        let standing = open_run(&definition, &expect_object(context)).expect("the run opens");
        Self { definition, state: standing }
    }

    /// Answers the pending step.
    fn send(&mut self, inputs: &AttemptInputs) -> &StepState {
        let StepState { position, context, .. } = &self.state;
        self.state = advance(&self.definition, position, context, inputs).expect("the answer advances");
        &self.state
    }

    fn blocked(&self, inputs: &AttemptInputs) -> Value {
        let StepState { position, context, .. } = &self.state;
        let block = advance(&self.definition, position, context, inputs).expect_err("it is blocked");
        json!(block)
    }

    /// Answers with empty inputs to the end, and returns the prompts on the way.
    fn prompts(&mut self) -> Vec<String> {
        let mut prompts = Vec::new();
        while let Some(pending) = self.state.pending.clone() {
            prompts.push(format!("{}: {}", pending.step, pending.prompt));
            self.send(&AttemptInputs::default());
        }
        prompts
    }

    fn prompt(&self) -> &str {
        self.state.pending.as_ref().map_or("(complete)", |pending| pending.prompt.as_str())
    }

    fn context(&self) -> &Object {
        &self.state.context
    }

    fn warnings(&self) -> Vec<&str> {
        self.state.warnings.iter().map(|warning| warning.code.as_str()).collect()
    }
}
