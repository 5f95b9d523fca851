//! `family`: starts children, waits for all of them, and reports the result of each.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use trackway::{Artifact, Child, Ctx, Stop, Workflow};

#[derive(Debug, Clone)]
pub struct FamilyWorkflow;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// How many children to start.
    #[schemars(range(max = 1_000))]
    pub children: u32,
    /// What they run; `echo` where absent.
    pub workflow: Option<Kind>,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Echo,
    Review,
}

impl Workflow for FamilyWorkflow {
    const NAME: &'static str = "family";
    const DESCRIPTION: &'static str = "Starts child runs, waits for all of them and lists their results.";
    const TAGS: &'static [&'static str] = &["demo", "children"];
    const EXAMPLES: &'static [&'static str] = &["Start three children"];
    type Input = Input;
    type Output = ();

    async fn run(self: Arc<Self>, ctx: Ctx, input: Input) -> Result<(), Stop> {
        let kind = input.workflow.unwrap_or(Kind::Echo);
        let mut children: Vec<Child<()>> = Vec::new();
        for number in 1..=input.children {
            let child = match kind {
                Kind::Echo => ctx.child_named("echo", json!({ "text": format!("child {number}") })),
                Kind::Review => ctx.child_named("review", json!({ "subject": format!("child {number}") })),
            };
            children.push(child.await?);
        }
        let ids: Vec<_> = children.iter().map(Child::run_id).collect();
        let outcomes = ctx.join_all(children.into_iter().map(Child::outcome)).await;
        let results: Vec<_> = ids
            .iter()
            .zip(outcomes)
            .map(|(id, outcome)| json!({ "taskId": id, "state": outcome.state, "message": outcome.message }))
            .collect();
        let results = json!({ "workflow": kind, "results": results });
        ctx.artifact(Artifact::data("family.json", results)?.named("Results")).await;
        Ok(())
    }
}
