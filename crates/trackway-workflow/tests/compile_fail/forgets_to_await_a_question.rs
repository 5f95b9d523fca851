//! A question is put when it is awaited; one that is only written down is a mistake.
#![deny(unused_must_use)]

async fn run(ctx: trackway_workflow::Ctx) {
    ctx.ask::<String>("Who are you?");
}

fn main() {
    let _ = run;
}
