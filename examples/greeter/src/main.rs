//! A program of one's own around Trackway: a workflow that asks for a name, and a server for it.

#![expect(clippy::print_stdout, reason = "it says where it greets")]

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use trackway::{Ctx, Server, ServerError, Stop, Workflow, reject};

#[derive(Deserialize, JsonSchema)]
struct Greeting {
    /// How to greet.
    greeting: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Name {
    /// Whom to greet.
    name: String,
}

struct Greeter;

impl Workflow for Greeter {
    const NAME: &'static str = "greeter";
    const DESCRIPTION: &'static str = "Asks for a name and greets it.";
    type Input = Greeting;
    type Output = String;

    async fn run(self: Arc<Self>, ctx: Ctx, input: Greeting) -> Result<String, Stop> {
        let Name { name } = ctx.ask("Who is there?").await;
        if name.is_empty() {
            reject("nobody to greet")?;
        }
        ctx.status(format!("{}, {name}!", input.greeting)).await;
        Ok(name)
    }
}

#[tokio::main]
async fn main() -> Result<(), ServerError> {
    let server =
        Server::new().workflow(Greeter).data("trackway-data/greeter").listen("127.0.0.1:7421").bind().await?;
    println!("greeting at {}/a2a/agents/greeter", server.local_url());
    server.serve_until_interrupted().await
}
