//! A parent that starts several children at the same time, and one child whose workflow it names at
//! run time.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use trackway::{Child, Ctx, Server, ServerError, StateName, Stop, Workflow};

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Text {
    text: String,
}

struct Count;

impl Workflow for Count {
    const NAME: &'static str = "count";
    const DESCRIPTION: &'static str = "Counts the words of a text.";
    type Input = Text;
    type Output = usize;

    async fn run(self: Arc<Self>, ctx: Ctx, input: Text) -> Result<usize, Stop> {
        ctx.status("Counting").await;
        Ok(input.text.split_whitespace().count())
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Texts {
    texts: Vec<String>,
}

struct CountAll;

impl Workflow for CountAll {
    const NAME: &'static str = "count-all";
    const DESCRIPTION: &'static str = "Has every text counted by a run of its own.";
    type Input = Texts;
    type Output = usize;

    async fn run(self: Arc<Self>, ctx: Ctx, input: Texts) -> Result<usize, Stop> {
        let mut children = Vec::new();
        for text in input.texts {
            // Returns as soon as the start is recorded; the children work in parallel.
            children.push(ctx.child::<Count>(&Text { text }).await?);
        }
        let mut total = 0;
        for words in ctx.join_all(children.into_iter().map(Child::output)).await {
            total += words?;
        }

        // A workflow chosen at run time. `outcome` accepts any end, `output` only a completed run.
        let input = json!({ "text": format!("{total} words") });
        let last: Child<usize> = ctx.child_named("count", input).await?;
        let outcome = last.outcome().await;
        if outcome.state != StateName::Completed {
            return Err(Stop::failed(outcome.message.unwrap_or_default()));
        }
        Ok(total)
    }
}

#[tokio::main]
async fn main() -> Result<(), ServerError> {
    Server::new()
        .workflow(Count)
        .workflow(CountAll)
        .data("trackway-data/children")
        .listen("127.0.0.1:7423")
        .serve()
        .await
}
