//! `trackway run`: starts a workflow and follows it.

use serde_json::json;
use trackway::{
    Server,
    api::{RunDetail, RunsError, StartRequest},
};
use trackway_runtime::Error;

use crate::{
    answer_source::AnswerSource,
    args::RunArgs,
    cli_error::CliError,
    commands::{local_server, parse_input_argument},
    exit_status::ExitStatus,
    run_client::RunClient,
    run_follower::RunFollower,
    run_screen::RunScreen,
    run_target::{HintCommandOptions, RunTarget},
    stop_signals::StopSignals,
};

pub(super) async fn run_workflow(args: RunArgs) -> Result<ExitStatus, CliError> {
    let input = args.input.as_deref().map_or_else(|| Ok(json!({})), parse_input_argument)?;
    let request =
        StartRequest { session_id: args.session.clone(), ..StartRequest::new(args.name.clone(), input) };
    let mut signals = StopSignals::install_signal_handlers()?;
    let place = RunTarget::resolve_run_target(&args.target)?;
    let engine = match place {
        RunTarget::Folder { ref path, .. } => {
            let server = local_server::build_server_with_agents(
                args.workspace_args.workspace.as_deref(),
                &args.folders,
                path,
            )?;
            check_workflow_exists(&server, &args.name)?;
            RunClient::open_or_create_with_server(place, server, &args.testing).await?
        }
        // The server has its own workflow folders.
        RunTarget::Server(api) if args.folders.workflows.is_empty() => RunClient::from_rest_client(api),
        RunTarget::Server(_) => {
            return Err(CliError::new("--workflows is for runs in this process")
                .with_hint("a server runs this one: name its folders when you start it")
                .with_exit_status(ExitStatus::Usage));
        }
    };
    let ended = start_and_follow_run(&args, &engine, request, &mut signals).await;
    engine.close_local_store().await;
    ended
}

/// Checked before anything is opened, so that a mistyped name creates no folder.
fn check_workflow_exists(server: &Server, name: &str) -> Result<(), CliError> {
    let registry = server.workflow_registry().map_err(|error| CliError::from_error(&error))?;
    if registry.current_program(name).is_some() {
        return Ok(());
    }
    let known: Vec<String> =
        registry.list_current_programs().iter().map(|program| program.info().name.clone()).collect();
    let why = registry.workflow_unavailable_reason(name);
    let error = Error::UnknownWorkflow { name: name.to_owned(), known, why };
    Err(RunsError::Runtime(error).into())
}

async fn start_and_follow_run(
    args: &RunArgs,
    engine: &RunClient,
    request: StartRequest,
    signals: &mut StopSignals,
) -> Result<ExitStatus, CliError> {
    let mut asker = AnswerSource::new(args.json);
    let Some(run) = start_run_asking_for_input(args, engine, request, &mut asker, signals).await? else {
        return Ok(ExitStatus::Interrupted);
    };
    let again = HintCommandOptions { target: &args.target, workspace_args: &args.workspace_args };
    let follow = RunFollower::new(engine, RunScreen::new(args.json), again, run.summary.id, 0).await?;
    follow.follow_until_run_stops(&mut asker, signals).await
}

/// Starts the run. Asks for required input that is missing. `None`: interrupted.
async fn start_run_asking_for_input(
    args: &RunArgs,
    engine: &RunClient,
    mut request: StartRequest,
    answer_source: &mut AnswerSource,
    signals: &mut StopSignals,
) -> Result<Option<RunDetail>, CliError> {
    let mut asked = false;
    loop {
        let failure = match engine.start_run(request.clone()).await {
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
            () = signals.wait_for_stop_signal() => return Ok(None),
            filled = answer_source.prompt_for_schema_value(&invalid.schema, problems) => filled?,
        };
        match filled {
            Some(input) => request.input = input,
            None => return Err(failure.with_hint("give the input with --input JSON")),
        }
        asked = true;
    }
}
