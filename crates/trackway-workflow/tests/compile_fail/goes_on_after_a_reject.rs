//! A reject has no value to continue with.

use trackway_workflow::{Ctx, Stop, reject};

async fn run(ctx: Ctx) -> Result<(), Stop> {
    let reason: String = reject("the market is closed")?;
    ctx.status(reason).await;
    Ok(())
}

fn main() {
    let _ = run;
}
