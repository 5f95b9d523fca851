//! `trackway runs …`: commands on existing runs.

pub(super) mod fork;
mod guided;
pub(super) mod list;
pub(super) mod replay_check;
pub(super) mod resume;
pub(super) mod show;

use std::path::Path;

use serde_json::json;
use trackway::api::RunDetail;
use trackway_domain::Access;

use self::guided::{Desk, refused};
use crate::{
    args::{self, Migrate, OneRun, Testing},
    engine::Engine,
    exit::Exit,
    failure::Failure,
    output,
    place::Place,
    programs,
};

/// `trackway runs adopt`: lets an imported run go on here.
pub(super) async fn adopt(args: OneRun) -> Result<Exit, Failure> {
    let engine = for_one_run(&args.place).await?;
    let adopted = engine.adopt(args.id).await;
    engine.close().await;
    tell(&adopted?, args.json)
}

/// `trackway runs cancel`: ends a run.
pub(super) async fn cancel(args: OneRun) -> Result<Exit, Failure> {
    let engine = for_one_run(&args.place).await?;
    let canceled = engine.cancel(args.id).await;
    if let Ok(run) = &canceled
        && engine.is_here()
    {
        engine.let_end(run.children.iter().filter_map(|id| id.parse().ok()).collect()).await;
    }
    engine.close().await;
    tell(&canceled?, args.json)
}

/// `trackway runs migrate`: moves a run that an agent drives to the current version of its workflow
/// file.
pub(super) async fn migrate(args: Migrate) -> Result<Exit, Failure> {
    let desk = Desk::open(&args.data.folder, &args.folders, None)?;
    let migrated = desk.guide.migrate(&Access::local(), args.id).await;
    desk.close().await;
    let migrated = migrated.map_err(|error| refused(&error))?;
    if args.json {
        output::json(&json!({
            "runId": args.id,
            "from": migrated.from,
            "to": migrated.to,
            "nodes": migrated.nodes,
        }))?;
    } else if migrated.nodes.is_empty() {
        output::line(&format!("{} already uses {}", args.id, migrated.to))?;
    } else {
        let (count, to) = (migrated.nodes.len(), migrated.to);
        let nodes = if count == 1 { "node" } else { "nodes" };
        output::line(&format!("{}: {count} {nodes} from {} to {to}", args.id, migrated.from))?;
    }
    Ok(Exit::Done)
}

/// An engine that does not continue the other runs of the folder.
async fn for_one_run(place: &args::Place) -> Result<Engine, Failure> {
    let server = |data: &Path| Ok(programs::bundled(data).without_recovery());
    Engine::open_existing(Place::find(place)?, server, &Testing { fault: None }).await
}

fn tell(run: &RunDetail, as_json: bool) -> Result<Exit, Failure> {
    if as_json {
        output::json(run)?;
    } else {
        output::line(&format!("{} {}", run.summary.id, run.summary.state))?;
    }
    Ok(Exit::Done)
}
