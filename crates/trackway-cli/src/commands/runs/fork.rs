//! `trackway runs fork`: starts a run that shares the beginning of another one, and follows it until it
//! waits or ends.

use std::path::Path;

use trackway::api::ForkRequest;
use trackway_domain::Access;
use trackway_runtime::GuideError;

use super::guided::{self, Desk};
use crate::{
    args::{Folders, Fork},
    ask::Asker,
    commands::here,
    engine::Engine,
    exit::Exit,
    failure::Failure,
    follow::Follow,
    output,
    place::{Again, Place},
    screen::Screen,
    signals::Signals,
};

/// Code of the warning that no folder has the definition any more.
const DEFINITION_MISSING: &str = "definition-missing";

pub(in crate::commands) async fn fork(args: Fork) -> Result<Exit, Failure> {
    let is_here = args.place.server.as_deref().is_none_or(str::is_empty);
    if is_here && guided::is_guided(&args.place.data.folder, args.id).await? {
        return hand_over(&args).await;
    }
    if args.node.is_some() || !args.workflows.is_empty() {
        return Err(Failure::new(
            "--node and --workflows are for runs that an agent drives, in a folder of this machine",
        )
        .hint("name an event with --at instead")
        .exit(Exit::Usage));
    }
    let mut signals = Signals::install()?;
    let place = Place::find(&args.place)?;
    let server = |data: &Path| {
        let server = here::all(args.within.workspace.as_deref(), &Folders::NONE, data)?;
        Ok(server.without_recovery())
    };
    let engine = Engine::open_existing(place, server, &args.testing).await?;
    let ended = drive(&args, &engine, &mut signals).await;
    engine.close().await;
    ended
}

/// A run that an agent drives has all its branches in one log: this prints tokens for one of its nodes,
/// and an agent continues from there with them.
async fn hand_over(args: &Fork) -> Result<Exit, Failure> {
    if args.at.is_some() {
        return Err(Failure::new(
            "an agent drives this run: it is forked at a node, not at an event",
        )
        .hint("name the node with --node; `trackway sessions graph` shows the nodes")
        .exit(Exit::Usage));
    }
    let access = Access::local();
    let workspace = args.within.workspace.as_deref();
    let folders = Folders { workflows: args.workflows.clone() };
    let desk = Desk::open(&args.place.data.folder, &folders, workspace)?;
    let looked = async {
        let node = match args.node {
            Some(name) => name.of(args.id).ok_or(GuideError::UnknownRun { run: args.id })?,
            None => desk.guide.newest(&access, args.id).await?,
        };
        let seal = trackway_mcp::seal(&desk.ring);
        let position = desk.guide.look(&access, args.id, node, seal).await?;
        let recap = desk.guide.recap(&access, &position).await?;
        Ok((position, recap))
    };
    let told = looked.await.map(|(mut position, recap)| {
        // Without named folders, a missing definition means nothing.
        if args.workflows.is_empty() {
            position.warnings.retain(|warning| warning.code != DEFINITION_MISSING);
        }
        trackway_mcp::handed_over(&desk.ring, &position, &recap)
    });
    desk.close().await;
    let (json, text) = told.map_err(|error| guided::refused(&error))?;
    if args.json {
        output::json(&json)?;
    } else {
        text.lines().try_for_each(output::line)?;
    }
    Ok(Exit::Done)
}

async fn drive(args: &Fork, engine: &Engine, signals: &mut Signals) -> Result<Exit, Failure> {
    let forked = engine.fork(args.id, ForkRequest { at: args.at, session_id: None }).await?;
    let id = forked.summary.id;
    if args.json {
        output::json(&forked)?;
    } else {
        output::line(&format!("{} goes on as {id}", args.id))?;
    }
    // The shared events are not shown again, except a question that may be the last of them.
    let after = forked.pos.saturating_sub(1);
    let again = Again { place: &args.place, within: &args.within };
    let follow = Follow::new(engine, Screen::new(args.json), again, id, after).await?;
    follow.run(&mut Asker::Nobody, signals).await
}
