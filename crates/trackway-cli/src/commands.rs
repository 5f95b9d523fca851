//! What each command does; the long ones have files of their own.

mod artifacts;
mod chat_command;
mod config_command;
mod doctor;
mod init;
mod keys_command;
mod local_server;
mod mcp_command;
mod peers;
mod run_command;
mod runs;
mod serve_command;
mod sessions;
mod workflows;

use std::io;

use clap::CommandFactory as _;
use serde_json::Value;

use crate::{
    args::{Cli, CliCommand, ConfigCommand, KeysCommand, RunsCommand, ShellCompletionArgs},
    cli_error::CliError,
    exit_status::ExitStatus,
    output_streams,
};

pub(crate) async fn execute_command(command: CliCommand) -> Result<ExitStatus, CliError> {
    match command {
        CliCommand::Serve(args) => serve_command::run_serve_command(args).await,
        CliCommand::Mcp(args) => mcp_command::serve_mcp_over_stdio(args).await,
        CliCommand::Chat(args) => chat_command::run_chat_command(args).await,
        CliCommand::Run(args) => run_command::run_workflow(args).await,
        CliCommand::Runs(RunsCommand::List(args)) => runs::list_runs_command::list_runs(args).await,
        CliCommand::Runs(RunsCommand::Show(args)) => runs::show_run_command::show_run(args).await,
        CliCommand::Runs(RunsCommand::Adopt(args)) => runs::adopt_run(args).await,
        CliCommand::Runs(RunsCommand::Cancel(args)) => runs::cancel_run(args).await,
        CliCommand::Runs(RunsCommand::Fork(args)) => runs::fork_run_command::fork_run(args).await,
        CliCommand::Runs(RunsCommand::Migrate(args)) => runs::migrate_run(args).await,
        CliCommand::Runs(RunsCommand::Resume(args)) => runs::resume_run_command::resume_run(args).await,
        CliCommand::Runs(RunsCommand::ReplayCheck(args)) => {
            runs::replay_check_command::check_replays(args).await
        }
        CliCommand::Sessions(args) => sessions::run_sessions_command(args).await,
        CliCommand::Artifacts(args) => artifacts::run_artifacts_command(args).await,
        CliCommand::Workflows(args) => workflows::run_workflows_command(&args),
        CliCommand::Keys(KeysCommand::Create(args)) => keys_command::create_key(args).await,
        CliCommand::Keys(KeysCommand::List(args)) => keys_command::list_keys(&args).await,
        CliCommand::Keys(KeysCommand::Revoke(args)) => keys_command::revoke_key(&args).await,
        CliCommand::Keys(KeysCommand::Rotate(args)) => keys_command::rotate_token_keys(&args).await,
        CliCommand::Peers(args) => peers::run_peers_command(args).await,
        CliCommand::Doctor(args) => doctor::run_doctor(&args).await,
        CliCommand::Config(ConfigCommand::Show(args)) => config_command::show_config(&args),
        CliCommand::Init(args) => init::init_project(&args),
        CliCommand::Schema => print_workflow_schema(),
        CliCommand::Completions(args) => print_shell_completions(&args),
    }
}

/// `trackway schema`: the JSON Schema of workflow files.
fn print_workflow_schema() -> Result<ExitStatus, CliError> {
    output_streams::write_stdout_line(&format!("{:#}", trackway_definition::definition_file_schema()))?;
    Ok(ExitStatus::Done)
}

/// `trackway completions`: a script for a shell.
fn print_shell_completions(args: &ShellCompletionArgs) -> Result<ExitStatus, CliError> {
    // Into memory first: the generator panics when it cannot write.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "trackway", &mut script);
    io::Write::write_all(&mut io::stdout().lock(), &script)?;
    Ok(ExitStatus::Done)
}

/// The value of `--input`.
fn parse_input_argument(text: &str) -> Result<Value, CliError> {
    serde_json::from_str(text).map_err(|error| {
        CliError::new("--input is not JSON")
            .with_cause(&error)
            .with_hint("quote it for the shell: --input '{\"text\": \"hello\"}'")
            .with_exit_status(ExitStatus::Usage)
    })
}
