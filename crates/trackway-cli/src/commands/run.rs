//! `trackway run`: starts a workflow and follows it.

use serde_json::json;
use trackway::{
    Server,
    api::{RunDetail, RunsError, StartRequest},
};
use trackway_runtime::Error;

use crate::{
    args::Run,
    ask::Asker,
    commands::{here, parse_input},
    engine::Engine,
    exit::Exit,
    failure::Failure,
    follow::Follow,
    place::{Again, Place},
    screen::Screen,
    signals::Signals,
};

pub(super) async fn run(args: Run) -> Result<Exit, Failure> {
    let request = StartRequest {
        workflow: args.name.clone(),
        input: args.input.as_deref().map_or_else(|| Ok(json!({})), parse_input)?,
        session_id: args.session.clone(),
    };
    let mut signals = Signals::install()?;
    let place = Place::find(&args.place)?;
    let engine = match place {
        Place::Folder { ref path, .. } => {
            let server = here::all(args.within.workspace.as_deref(), &args.folders, path)?;
            known(&server, &args.name)?;
            Engine::open_as(place, server, &args.testing).await?
        }
        // The server has its own workflow folders.
        Place::Server(api) if args.folders.workflows.is_empty() => Engine::server(api),
        Place::Server(_) => {
            return Err(Failure::new("--workflows is for runs in this process")
                .hint("a server runs this one: name its folders when you start it")
                .exit(Exit::Usage));
        }
    };
    let ended = drive(&args, &engine, request, &mut signals).await;
    engine.close().await;
    ended
}

/// Checked before anything is opened, so that a mistyped name creates no folder.
fn known(server: &Server, name: &str) -> Result<(), Failure> {
    let registry = server.registry().map_err(|error| Failure::of(&error))?;
    if registry.get(name).is_some() {
        return Ok(());
    }
    let known: Vec<String> =
        registry.list().iter().map(|program| program.info().name.clone()).collect();
    let why = registry.why_not(name);
    let error = Error::UnknownWorkflow { name: name.to_owned(), known, why };
    Err(RunsError::Runtime(error).into())
}

async fn drive(
    args: &Run,
    engine: &Engine,
    request: StartRequest,
    signals: &mut Signals,
) -> Result<Exit, Failure> {
    let mut asker = Asker::new(args.json);
    let Some(run) = start(args, engine, request, &mut asker, signals).await? else {
        return Ok(Exit::Interrupted);
    };
    let again = Again { place: &args.place, within: &args.within };
    let follow = Follow::new(engine, Screen::new(args.json), again, run.summary.id, 0).await?;
    follow.run(&mut asker, signals).await
}

/// Starts the run. Asks for required input that is missing. `None`: interrupted.
async fn start(
    args: &Run,
    engine: &Engine,
    mut request: StartRequest,
    asker: &mut Asker,
    signals: &mut Signals,
) -> Result<Option<RunDetail>, Failure> {
    let mut asked = false;
    loop {
        let failure = match engine.start(request.clone()).await {
            Ok(run) => return Ok(Some(run)),
            Err(failure) => failure,
        };
        let Some(invalid) = failure.invalid.clone().filter(|_| args.input.is_none()) else {
            return Err(failure);
        };
        // The first time there was no input, so there are no problems to show.
        let problems = if asked { invalid.problems.as_slice() } else { &[] };
        let filled = tokio::select! {
            biased;
            () = signals.next() => return Ok(None),
            filled = asker.fill(&invalid.schema, problems) => filled?,
        };
        match filled {
            Some(input) => request.input = input,
            None => return Err(failure.hint("give the input with --input JSON")),
        }
        asked = true;
    }
}
