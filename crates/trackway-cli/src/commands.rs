//! What each command does; the long ones have files of their own.

mod chat;
mod config;
mod doctor;
mod here;
mod init;
mod keys;
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
    args::{Cli, Command, Completions, Config, Keys, Runs},
    exit::Exit,
    failure::Failure,
    output,
};

pub(crate) async fn execute(command: Command) -> Result<Exit, Failure> {
    match command {
        Command::Serve(args) => serve::serve(args).await,
        Command::Mcp(args) => mcp::mcp(args).await,
        Command::Chat(args) => chat::chat(args).await,
        Command::Run(args) => run::run(args).await,
        Command::Runs(Runs::List(args)) => runs::list::list(args).await,
        Command::Runs(Runs::Show(args)) => runs::show::show(args).await,
        Command::Runs(Runs::Adopt(args)) => runs::adopt(args).await,
        Command::Runs(Runs::Cancel(args)) => runs::cancel(args).await,
        Command::Runs(Runs::Fork(args)) => runs::fork::fork(args).await,
        Command::Runs(Runs::Migrate(args)) => runs::migrate(args).await,
        Command::Runs(Runs::Resume(args)) => runs::resume::resume(args).await,
        Command::Runs(Runs::ReplayCheck(args)) => runs::replay_check::replay_check(args).await,
        Command::Sessions(args) => sessions::sessions(args).await,
        Command::Workflows(args) => workflows::workflows(&args),
        Command::Keys(Keys::Create(args)) => keys::create(args),
        Command::Keys(Keys::List(args)) => keys::list(&args),
        Command::Keys(Keys::Revoke(args)) => keys::revoke(&args),
        Command::Keys(Keys::Rotate(args)) => keys::rotate(&args),
        Command::Doctor(args) => doctor::doctor(&args).await,
        Command::Config(Config::Show(args)) => config::show(&args),
        Command::Init(args) => init::init(&args),
        Command::Schema => schema(),
        Command::Completions(args) => completions(&args),
    }
}

/// `trackway schema`: the JSON Schema of workflow files.
fn schema() -> Result<Exit, Failure> {
    output::line(&format!("{:#}", trackway_definition::file_schema()))?;
    Ok(Exit::Done)
}

/// `trackway completions`: a script for a shell.
fn completions(args: &Completions) -> Result<Exit, Failure> {
    // Into memory first: the generator panics when it cannot write.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "trackway", &mut script);
    io::Write::write_all(&mut io::stdout().lock(), &script)?;
    Ok(Exit::Done)
}

/// The value of `--input`.
fn parse_input(text: &str) -> Result<Value, Failure> {
    serde_json::from_str(text).map_err(|error| {
        Failure::new("--input is not JSON")
            .cause(&error)
            .hint("quote it for the shell: --input '{\"text\": \"hello\"}'")
            .exit(Exit::Usage)
    })
}
