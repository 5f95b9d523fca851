//! A reject takes effect when it is returned; one that is not returned is a mistake.
#![deny(unused_must_use)]

use trackway_workflow::{Ctx, Stop, reject};

async fn run(ctx: Ctx) -> Result<(), Stop> {
    reject("the market is closed");
    ctx.status("never mind").await;
    Ok(())
}

fn main() {
    let _ = run;
}
