//! A question is asked when it is awaited; one that is never awaited is a mistake.
#![deny(unused_must_use)]

async fn run(ctx: trackway_workflow::Ctx) {
    ctx.ask::<String>("Who are you?");
}

fn main() {
    let _ = run;
}
