//! `onboarding`: takes one name, or the rows of a table, and says who was onboarded. The subject of calls
//! from other agents, with parameters and with a CSV file.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use trackway::{Artifact, Ctx, Stop, Workflow};

/// Rows of one call. They are in memory together, and so are the names in the answer.
/// Limit (CLI): rows of the example `onboarding`.
const ROWS_MAX: usize = 100_000;

/// Where nobody chose another one.
const PLAN_DEFAULT: &str = "basic";

#[derive(Debug, Clone)]
pub struct OnboardingWorkflow;

// A `null` counts as not given, so it does not satisfy either of the two.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("anyOf" = [
    { "required": ["name"], "properties": { "name": { "type": "string" } } },
    { "required": ["rows"], "properties": { "rows": { "type": "array" } } },
]))]
pub struct Input {
    /// Who is onboarded.
    #[schemars(length(min = 1, max = 1_000))]
    pub name: Option<String>,
    /// What they signed up for; `basic` where absent.
    #[schemars(length(min = 1, max = 100))]
    pub plan: Option<String>,
    /// Several at once, as from a table with a column `name`.
    #[schemars(length(max = ROWS_MAX))]
    pub rows: Option<Vec<Row>>,
}

/// One row. Other columns of the table are not used.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Row {
    /// Who is onboarded.
    #[schemars(length(min = 1, max = 1_000))]
    pub name: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Output {
    /// How many were onboarded.
    pub count: usize,
    /// Who they are, in the order in which they were given.
    pub names: Vec<String>,
}

impl Workflow for OnboardingWorkflow {
    const NAME: &'static str = "onboarding";
    const DESCRIPTION: &'static str = "Onboards one person by name, or everyone in the rows of a table.";
    const TAGS: &'static [&'static str] = &["demo", "mesh"];
    const EXAMPLES: &'static [&'static str] = &["Onboard user John Doe", "Onboard everyone in data.csv"];
    type Input = Input;
    type Output = Output;

    async fn run(self: Arc<Self>, ctx: Ctx, input: Input) -> Result<Output, Stop> {
        let plan = input.plan.as_deref().unwrap_or(PLAN_DEFAULT);
        let output = Output::from_input_names(input.name, input.rows.unwrap_or_default());
        ctx.status(format!("Onboarding {} on the plan {plan}", output.people())).await;
        let content = json!({ "count": output.count, "names": output.names });
        ctx.artifact(Artifact::data("onboarded.json", content)?).await;
        ctx.status(format!("Onboarded {}", output.people())).await;
        Ok(output)
    }
}

impl Output {
    /// The single name comes before those of the rows.
    fn from_input_names(name: Option<String>, rows: Vec<Row>) -> Self {
        let names: Vec<String> = name.into_iter().chain(rows.into_iter().map(|row| row.name)).collect();
        Self { count: names.len(), names }
    }

    fn people(&self) -> String {
        match self.names.as_slice() {
            [name] => name.clone(),
            names => format!("{} people", names.len()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_and_rows_are_onboarded_together() {
        let row = |name: &str| Row { name: name.to_owned() };
        let both = Output::from_input_names(Some("Ann".to_owned()), vec![row("Bob"), row("Bob")]);
        assert_eq!(both, Output { count: 3, names: vec!["Ann".into(), "Bob".into(), "Bob".into()] });
        assert_eq!(both.people(), "3 people");
        assert_eq!(Output::from_input_names(None, vec![row("Ann")]).people(), "Ann");
        assert_eq!(Output::from_input_names(None, Vec::new()).count, 0);
    }
}
