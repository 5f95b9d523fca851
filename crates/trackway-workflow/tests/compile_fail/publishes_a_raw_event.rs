//! A workflow has four things to yield, and cannot use the stage behind its context.

async fn run(ctx: trackway_workflow::Ctx) {
    ctx.publish(()).await;
    ctx.stage.status(Vec::new()).await;
}

fn main() {
    let _ = run;
}
