//! No method takes a task state: only the runtime moves a run.

async fn run(ctx: trackway_workflow::Ctx) {
    ctx.set_state(trackway_workflow::StateName::Completed).await;
}

fn main() {
    let _ = run;
}
