//! `trackway runs cancel`: ends a run.

use std::path::Path;

use crate::{
    args::{Cancel, Testing},
    engine::Engine,
    exit::Exit,
    failure::Failure,
    output,
    place::Place,
    programs,
};

pub(in crate::commands) async fn cancel(args: Cancel) -> Result<Exit, Failure> {
    let place = Place::find(&args.place)?;
    // Other runs of the folder are none of this command's business.
    let server = |data: &Path| Ok(programs::bundled(data).without_recovery());
    let engine = Engine::open_existing(place, server, &Testing { fault: None }).await?;
    let canceled = engine.cancel(args.id).await;
    if let Ok(run) = &canceled
        && engine.is_here()
    {
        engine.let_end(run.children.iter().filter_map(|id| id.parse().ok()).collect()).await;
    }
    engine.close().await;
    let run = canceled?;
    if args.json {
        output::json(&run)?;
    } else {
        output::line(&format!("{} {}", run.summary.id, run.summary.state))?;
    }
    Ok(Exit::Done)
}
