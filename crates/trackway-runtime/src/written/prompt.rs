//! Prompt steps that the engine drives: a named agent works on each as a child run, and its answer is held
//! against what the step wants.

use serde_json::{Value, json};
use trackway_definition::drive::{Move, Place};
use trackway_domain::{Expected, Inputs, StateName};

use super::act::{Driver, told};

/// How often an agent may mend an answer that the step does not take.
/// Limit (Runtime): times that an agent may correct the answer to a written step.
const REPAIRS_MAX: u32 = 2;

/// What an agent has to do.
pub(super) struct Work {
    pub(super) agent: Option<String>,
    pub(super) text: String,
    pub(super) expected: Option<Expected>,
}

impl Driver {
    /// Has an agent work on a step, and goes on with what it came to. An answer that the step does not
    /// take is sent back with the reasons.
    pub(super) async fn prompt(
        &self,
        name: &str,
        place: &Place,
        work: Work,
    ) -> Result<Move, String> {
        let Work { agent, text, expected } = work;
        let agent = agent.ok_or_else(|| "it names no agent".to_owned())?;
        let mut wrong: Option<String> = None;
        for _ in 0..=REPAIRS_MAX {
            let prompt = match &wrong {
                None => text.clone(),
                Some(wrong) => format!("{text}\n\nAn earlier answer was not accepted: {wrong}"),
            };
            let mut input = json!({ "prompt": prompt });
            if let Some(expected) = &expected {
                input["output"] = expected.schema.clone();
            }
            let output = self.work(name, &agent, input).await?;
            match self.answer(place, &inputs(output, expected.is_some())) {
                Ok(moved) => return Ok(moved),
                Err(stuck) => wrong = Some(told(&stuck)),
            }
        }
        let wrong = wrong.unwrap_or_default();
        Err(format!("agent {agent:?} gave no answer that it takes: {wrong}"))
    }

    /// One run of the agent, to its end.
    async fn work(&self, name: &str, agent: &str, input: Value) -> Result<Value, String> {
        let started = self.stage.start_child_as(name, agent, input).await;
        let (op, run) = started.map_err(|error| error.to_string())?;
        let outcome = self.stage.child_outcome(&op).await;
        if outcome.state == StateName::Completed {
            return Ok(outcome.output);
        }
        let why = outcome.message.map(|message| format!(": {message}")).unwrap_or_default();
        Err(format!("agent {agent:?} {} as {run}{why}", outcome.state))
    }
}

/// What the agent gave, as an outside agent would have sent it. What is said without a form is the
/// step's notes.
fn inputs(output: Value, formed: bool) -> Inputs {
    if formed {
        return Inputs { output: Some(output), ..Inputs::default() };
    }
    let said = output.get("text").and_then(Value::as_str).unwrap_or_default().to_owned();
    Inputs { output: Some(Value::String(said.clone())), notes: Some(said), ..Inputs::default() }
}
