//! The library side of the `trackway` binary: the bundled programs and the commands.
//!
//! `args` defines the arguments, `commands` has the behaviour. A command finds its runs (`place`), uses an
//! engine in this process or behind a server (`engine`), shows updates (`screen`) and asks questions
//! (`form`). Data goes to stdout; the rest goes to stderr.

mod args;
mod ask;
mod chat;
mod commands;
mod engine;
mod exit;
mod failure;
mod fault;
mod follow;
mod form;
mod growing;
mod known;
mod layout;
mod output;
mod place;
pub mod programs;
mod remote;
mod screen;
mod signals;
mod spinner;
mod style;
mod terminal;
mod text;
mod usage;

use std::{io, process::ExitCode};

pub(crate) use trackway::workspace::{self, config, finding, span};

use clap::Parser;
use tokio::runtime::{Builder, Runtime};
use tracing_subscriber::EnvFilter;

use crate::{
    args::{Cli, Command},
    exit::Exit,
    failure::Failure,
};

/// Parses the command line, executes the command and returns the exit code.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and versions come as errors too; they go to stdout with code 0.
            let _ = error.print();
            return if error.use_stderr() { Exit::Usage } else { Exit::Done }.into();
        }
    };
    let done = log(&cli.log).and_then(|()| {
        let runtime = runtime(&cli.command)?;
        runtime.block_on(commands::execute(cli.command))
    });
    match done {
        Ok(exit) => exit.into(),
        Err(failure) => {
            failure.print();
            failure.exit.into()
        }
    }
}

/// A server for one client uses one thread: with several, each handover of a call between threads takes
/// longer than the work itself. Blocking work has its own threads in any case.
fn runtime(command: &Command) -> io::Result<Runtime> {
    match command {
        Command::Mcp(_) => Builder::new_current_thread().enable_all().build(),
        _ => Runtime::new(),
    }
}

/// Logs go to stderr, without colour: they are often redirected to a file.
fn log(filter: &str) -> Result<(), Failure> {
    let filter = EnvFilter::try_new(filter).map_err(|error| {
        Failure::new(format!("{filter:?} is not a log filter"))
            .cause(&error)
            .hint("write for example `info` or `trackway_runtime=debug,warn`")
            .exit(Exit::Usage)
    })?;
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(false)
        .with_writer(io::stderr)
        .init();
    Ok(())
}
