//! Children: runs that a program starts and waits for.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use trackway_domain::{ChildOutcome, Command, Op, OpKind, Problem, RunId};
use trackway_engine::Schemas;

use super::{Fact, Stage};

/// Why a child was not started. Recorded, so that replays fail the same way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
pub enum ChildError {
    #[error("there is no workflow named {0:?}")]
    UnknownWorkflow(String),
    #[error("the input does not satisfy the schema of workflow {name:?}: {}", told(.problems))]
    InvalidInput { name: String, problems: Vec<Problem> },
}

fn told(problems: &[Problem]) -> String {
    let each = problems.iter().map(|problem| format!("{}: {}", problem.path, problem.message));
    each.collect::<Vec<_>>().join("; ")
}

impl Stage {
    /// Starts a child of the workflow with that name. Returns when it is ordered.
    pub async fn start_child(&self, name: &str, input: Value) -> Result<(Op, RunId), ChildError> {
        let op = self.0.book().claim(OpKind::Child, name);
        if !self.0.book().knows(&op) {
            self.go_live(&op).await;
            let command = match self.check_child(name, &input) {
                Ok(workflow) => Command::StartChild { op: op.clone(), workflow, input },
                Err(error) => Command::Draw { op: op.clone(), value: json!(error) },
            };
            self.order(command).await;
        }
        loop {
            match self.fact(&op).await {
                Fact::Child(child) => return Ok((op, child)),
                Fact::Drawn(error) => match ChildError::deserialize(&error) {
                    Ok(error) => return Err(error),
                    Err(unknown) => self.misfit(&op.to_string(), unknown.to_string()).await,
                },
                _ => {}
            }
        }
    }

    /// Waits for a child's end.
    pub async fn child_outcome(&self, op: &Op) -> ChildOutcome {
        loop {
            if let Fact::ChildEnded(outcome) = self.wait(op).await {
                return outcome;
            }
        }
    }

    fn check_child(
        &self,
        name: &str,
        input: &Value,
    ) -> Result<trackway_domain::WorkflowRef, ChildError> {
        let unknown = || ChildError::UnknownWorkflow(name.to_owned());
        let (core, _) = self.0.live().ok_or_else(unknown)?;
        let registry = &core.options.registry;
        let program = registry.get(name).ok_or_else(unknown)?;
        let info = program.info();
        let problems = registry.schemas.check(&info.input_schema, input);
        if !problems.is_empty() {
            return Err(ChildError::InvalidInput { name: name.to_owned(), problems });
        }
        Ok(info.workflow())
    }
}
