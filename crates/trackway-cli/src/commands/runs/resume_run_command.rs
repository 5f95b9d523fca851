//! `trackway runs resume`: answers a run, and follows it until it waits again or ends.

use std::path::Path;

use serde_json::Value;
use trackway_domain::ErrorCode;

use crate::{
    answer_source::AnswerSource,
    args::{ResumeRunArgs, WorkflowFolderArgs},
    cli_error::{CliError, InvalidInputDetails},
    commands::{local_server, parse_input_argument},
    exit_status::ExitStatus,
    run_client::{AnswerOutcome, RunClient},
    run_follower::RunFollower,
    run_screen::RunScreen,
    run_target::{self, HintCommandOptions, RunTarget},
    stop_signals::StopSignals,
};

pub(in crate::commands) async fn resume_run(args: ResumeRunArgs) -> Result<ExitStatus, CliError> {
    let input = parse_input_argument(&args.input)?;
    let mut signals = StopSignals::install_signal_handlers()?;
    let place = RunTarget::resolve_run_target(&args.target)?;
    let server = |data: &Path| {
        local_server::build_server_with_agents(
            args.workspace_args.workspace.as_deref(),
            &WorkflowFolderArgs::NONE,
            data,
        )
    };
    let engine = RunClient::open_for_existing_runs(place, server, &args.testing).await?;
    let ended = answer_and_follow_run(&args, &engine, input, &mut signals).await;
    engine.close_local_store().await;
    ended
}

async fn answer_and_follow_run(
    args: &ResumeRunArgs,
    engine: &RunClient,
    input: Value,
    signals: &mut StopSignals,
) -> Result<ExitStatus, CliError> {
    match engine.answer_question(args.id, args.question, input).await? {
        AnswerOutcome::Accepted { after } => {
            let screen = RunScreen::new(args.json);
            let again = HintCommandOptions { target: &args.target, workspace_args: &args.workspace_args };
            let follow = RunFollower::new(engine, screen, again, args.id, after).await?;
            follow.follow_until_run_stops(&mut AnswerSource::Nobody, signals).await
        }
        AnswerOutcome::Refused(problems) => {
            let invalid = InvalidInputDetails { problems, schema: Value::Null };
            let show =
                format!("trackway runs show {} {}", args.id, run_target::format_target_options(&args.target));
            Err(CliError::invalid_input("the answer does not satisfy the question's schema", invalid)
                .with_hint(format!("the question stays open; see it with: {show}")))
        }
        AnswerOutcome::Late => Err(CliError::new("the question has already been answered")
            .with_error_code(ErrorCode::InvalidRequest.as_str())),
    }
}
