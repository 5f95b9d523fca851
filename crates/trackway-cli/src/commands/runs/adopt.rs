//! `trackway runs adopt`: lets an imported run go on here.

use std::path::Path;

use crate::{
    args::{Adopt, Testing},
    engine::Engine,
    exit::Exit,
    failure::Failure,
    output,
    place::Place,
    programs,
};

pub(in crate::commands) async fn adopt(args: Adopt) -> Result<Exit, Failure> {
    let place = Place::find(&args.place)?;
    // Other runs of the folder are none of this command's business.
    let server = |data: &Path| Ok(programs::bundled(data).without_recovery());
    let engine = Engine::open_existing(place, server, &Testing { fault: None }).await?;
    let adopted = engine.adopt(args.id).await;
    engine.close().await;
    let run = adopted?;
    if args.json {
        output::json(&run)?;
    } else {
        output::line(&format!("{} {}", run.summary.id, run.summary.state))?;
    }
    Ok(Exit::Done)
}
