//! `trackway runs fork`: another run that begins with a part of this one, and stays with it until it
//! waits or ends.

use trackway::api::ForkRequest;

use crate::{
    args::Fork,
    ask::Asker,
    engine::{Engine, Recover},
    exit::Exit,
    failure::Failure,
    follow::Follow,
    output,
    place::Place,
    screen::Screen,
    signals::Signals,
};

pub(in crate::commands) async fn fork(args: Fork) -> Result<Exit, Failure> {
    let mut signals = Signals::install()?;
    let place = Place::find(&args.place)?;
    let engine = Engine::open_existing(place, Recover::No, &args.testing).await?;
    let ended = drive(&args, &engine, &mut signals).await;
    engine.close().await;
    ended
}

async fn drive(args: &Fork, engine: &Engine, signals: &mut Signals) -> Result<Exit, Failure> {
    let forked = engine.fork(args.id, ForkRequest { at: args.at }).await?;
    let id = forked.summary.id;
    if args.json {
        output::json(&forked)?;
    } else {
        output::line(&format!("{} goes on as {id}", args.id))?;
    }
    // What the fork shares with the original was seen before, but for the question that may be its last.
    let after = forked.pos.saturating_sub(1);
    let follow = Follow::new(engine, Screen::new(args.json), &args.place, id, after).await?;
    follow.run(&mut Asker::Nobody, signals).await
}
