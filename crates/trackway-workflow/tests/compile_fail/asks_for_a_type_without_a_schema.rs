//! An answer is checked against its type's schema, so the type must have one.

#[derive(serde::Deserialize)]
struct Answer {
    _yes: bool,
}

async fn run(ctx: trackway_workflow::Ctx) {
    let _answer: Answer = ctx.ask("Well?").await;
}

fn main() {
    let _ = run;
}
