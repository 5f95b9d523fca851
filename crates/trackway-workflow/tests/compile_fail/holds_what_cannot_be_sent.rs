//! A workflow may continue on another thread, so it must not hold a value that is not `Send`.

use std::{rc::Rc, sync::Arc};

use trackway_workflow::{Ctx, Stop, Workflow};

struct Holds;

impl Workflow for Holds {
    const NAME: &'static str = "holds";
    const DESCRIPTION: &'static str = "Holds an Rc over an await.";
    type Input = String;
    type Output = String;

    async fn run(self: Arc<Self>, ctx: Ctx, input: String) -> Result<String, Stop> {
        let input = Rc::new(input);
        ctx.status("working").await;
        Ok((*input).clone())
    }
}

fn main() {
    let _ = trackway_workflow::program(Holds);
}
