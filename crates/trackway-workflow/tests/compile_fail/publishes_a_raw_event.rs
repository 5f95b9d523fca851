//! A workflow has four things to say, and the stage behind its context is not its own.

async fn run(ctx: trackway_workflow::Ctx) {
    ctx.publish(()).await;
    ctx.stage.status(Vec::new()).await;
}

fn main() {
    let _ = run;
}
