//! What each command does; the long ones have files of their own.

mod chat;
mod config;
mod doctor;
mod init;
mod keys;
mod local_server;
mod mcp;
mod run;
mod runs;
mod serve;
mod sessions;
mod workflows;

use std::io;

use clap::CommandFactory as _;
use serde_json::Value;

use crate::{
    args::{Cli, Command, ConfigCommand, KeysCommand, RunsCommand, ShellCompletionArgs},
    cli_error::CliError,
    exit_status::ExitStatus,
    output,
};

pub(crate) async fn execute_command(command: Command) -> Result<ExitStatus, CliError> {
    match command {
        Command::Serve(args) => serve::run_server(args).await,
        Command::Mcp(args) => mcp::serve_mcp_over_stdio(args).await,
        Command::Chat(args) => chat::run_chat_command(args).await,
        Command::Run(args) => run::run_workflow(args).await,
        Command::Runs(RunsCommand::List(args)) => runs::list::list_runs(args).await,
        Command::Runs(RunsCommand::Show(args)) => runs::show::show_run(args).await,
        Command::Runs(RunsCommand::Adopt(args)) => runs::adopt_run(args).await,
        Command::Runs(RunsCommand::Cancel(args)) => runs::cancel_run(args).await,
        Command::Runs(RunsCommand::Fork(args)) => runs::fork::fork_run(args).await,
        Command::Runs(RunsCommand::Migrate(args)) => runs::migrate_run(args).await,
        Command::Runs(RunsCommand::Resume(args)) => runs::resume::resume_run(args).await,
        Command::Runs(RunsCommand::ReplayCheck(args)) => runs::replay_check::check_replays(args).await,
        Command::Sessions(args) => sessions::run_sessions_command(args).await,
        Command::Workflows(args) => workflows::run_workflows_command(&args),
        Command::Keys(KeysCommand::Create(args)) => keys::create_key(args).await,
        Command::Keys(KeysCommand::List(args)) => keys::list_keys(&args).await,
        Command::Keys(KeysCommand::Revoke(args)) => keys::revoke_key(&args).await,
        Command::Keys(KeysCommand::Rotate(args)) => keys::rotate_token_keys(&args).await,
        Command::Doctor(args) => doctor::run_doctor(&args).await,
        Command::Config(ConfigCommand::Show(args)) => config::show_config(&args),
        Command::Init(args) => init::init_project(&args),
        Command::Schema => print_workflow_schema(),
        Command::Completions(args) => print_shell_completions(&args),
    }
}

/// `trackway schema`: the JSON Schema of workflow files.
fn print_workflow_schema() -> Result<ExitStatus, CliError> {
    output::write_line(&format!("{:#}", trackway_definition::definition_file_schema()))?;
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
fn parse_input(text: &str) -> Result<Value, CliError> {
    serde_json::from_str(text).map_err(|error| {
        CliError::new("--input is not JSON")
            .with_cause(&error)
            .with_hint("quote it for the shell: --input '{\"text\": \"hello\"}'")
            .with_exit(ExitStatus::Usage)
    })
}
