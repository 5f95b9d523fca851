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

use super::{GuidedStepState, advance_guided_run, begin_guided_run};
use crate::{model::Definition, test_support::expect_object};

/// A run in progress.
struct ScriptedAgent {
    definition: Definition,
    state: GuidedStepState,
}

impl ScriptedAgent {
    fn start(definition: Definition, context: Value) -> Self {
        let standing = begin_guided_run(&definition, &expect_object(context)).expect("the run opens");
        Self { definition, state: standing }
    }

    /// Answers the pending step.
    fn send(&mut self, inputs: &AttemptInputs) -> &GuidedStepState {
        let GuidedStepState { position, context, .. } = &self.state;
        self.state =
            advance_guided_run(&self.definition, position, context, inputs).expect("the answer advances");
        &self.state
    }

    fn blocked(&self, inputs: &AttemptInputs) -> Value {
        let GuidedStepState { position, context, .. } = &self.state;
        let block =
            advance_guided_run(&self.definition, position, context, inputs).expect_err("it is blocked");
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
