//! `trackway runs resume`: answers a run, and follows it until it waits again or ends.

use std::path::Path;

use serde_json::Value;
use trackway_domain::Code;

use crate::{
    args::{Folders, Resume},
    ask::Asker,
    commands::{here, parse_input},
    engine::{Answer, Engine},
    exit::Exit,
    failure::{Failure, Invalid},
    follow::Follow,
    place::{self, Again, Place},
    screen::Screen,
    signals::Signals,
};

pub(in crate::commands) async fn resume(args: Resume) -> Result<Exit, Failure> {
    let input = parse_input(&args.input)?;
    let mut signals = Signals::install()?;
    let place = Place::find(&args.place)?;
    let server = |data: &Path| here::all(args.within.workspace.as_deref(), &Folders::NONE, data);
    let engine = Engine::open_existing(place, server, &args.testing).await?;
    let ended = drive(&args, &engine, input, &mut signals).await;
    engine.close().await;
    ended
}

async fn drive(
    args: &Resume,
    engine: &Engine,
    input: Value,
    signals: &mut Signals,
) -> Result<Exit, Failure> {
    match engine.answer(args.id, args.question, input).await? {
        Answer::Taken { after } => {
            let screen = Screen::new(args.json);
            let again = Again { place: &args.place, within: &args.within };
            let follow = Follow::new(engine, screen, again, args.id, after).await?;
            follow.run(&mut Asker::Nobody, signals).await
        }
        Answer::Refused(problems) => {
            let invalid = Invalid { problems, schema: Value::Null };
            let show = format!("trackway runs show {} {}", args.id, place::repeated(&args.place));
            Err(Failure::invalid("the answer does not satisfy the question's schema", invalid)
                .hint(format!("the question stays open; see it with: {show}")))
        }
        Answer::Late => Err(Failure::new("the question has already been answered")
            .code(Code::InvalidRequest.as_str())),
    }
}
