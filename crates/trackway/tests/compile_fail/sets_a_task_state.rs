//! No verb takes a task state: the runtime alone moves a run.

async fn run(ctx: trackway::Ctx) {
    ctx.set_state(trackway::StateName::Completed).await;
}

fn main() {
    let _ = run;
}
