//! The library side of the `trackway` binary: the bundled programs and the commands.
//!
//! `args` defines the arguments, `commands` has the behaviour. A command finds its runs (`run_target`),
//! uses an engine in this process or behind a server (`run_client`), shows updates (`run_screen`) and asks
//! questions (`schema_form`). Data goes to stdout; the rest goes to stderr.

mod answer_source;
mod args;
mod artifact_assembler;
mod artifacts_client;
mod chat;
mod cli_error;
mod commands;
mod exit_status;
mod fault_injection;
mod output_streams;
mod previous_inputs;
pub mod programs;
mod rest_client;
mod run_client;
mod run_follower;
mod run_screen;
mod run_target;
mod schema_form;
mod spinner;
mod stdin_lines;
mod stop_signals;
mod terminal_layout;
mod terminal_style;
mod text_format;
mod usage_text;

use std::{io, process::ExitCode};

pub(crate) use trackway::workspace::{self, config, duration, finding};

use clap::Parser;
use tokio::runtime::{Builder, Runtime};
use tracing_subscriber::EnvFilter;

use crate::{
    args::{Cli, CliCommand},
    cli_error::CliError,
    exit_status::ExitStatus,
};

/// Parses the command line, executes the command and returns the exit code.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and versions come as errors too; they go to stdout with code 0.
            let _ = error.print();
            return if error.use_stderr() { ExitStatus::Usage } else { ExitStatus::Done }.into();
        }
    };
    let done = init_logging(&cli.log).and_then(|()| {
        let runtime = build_tokio_runtime(&cli.command)?;
        runtime.block_on(commands::execute_command(cli.command))
    });
    match done {
        Ok(exit) => exit.into(),
        Err(failure) => {
            failure.print_to_stderr();
            failure.exit.into()
        }
    }
}

/// A server for one client uses one thread: with several, each handover of a call between threads takes
/// longer than the work itself. Blocking work has its own threads in any case.
fn build_tokio_runtime(command: &CliCommand) -> io::Result<Runtime> {
    match command {
        CliCommand::Mcp(_) => Builder::new_current_thread().enable_all().build(),
        _ => Runtime::new(),
    }
}

/// Logs go to stderr, without colour: they are often redirected to a file.
fn init_logging(filter: &str) -> Result<(), CliError> {
    let filter = EnvFilter::try_new(filter).map_err(|error| {
        CliError::new(format!("{filter:?} is not a log filter"))
            .with_cause(&error)
            .with_hint("write for example `info` or `trackway_runtime=debug,warn`")
            .with_exit_status(ExitStatus::Usage)
    })?;
    tracing_subscriber::fmt().with_env_filter(filter).with_ansi(false).with_writer(io::stderr).init();
    Ok(())
}
