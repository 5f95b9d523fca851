//! Measurements. The bench of the CLI crate makes the figures. This command prepares the servers of
//! the official SDKs, which are measured for comparison, and NATS, and starts the bench.

use std::process::Command;

use anyhow::Result;

use crate::clients::{NEWEST_NODE, NEWEST_PYTHON};
use crate::nats_server;
use crate::process::{cargo, run as run_command};

pub(crate) fn run(args: &[String]) -> Result<()> {
    match args.iter().position(|arg| arg == "--quick") {
        None => measure(args),
        Some(at) => run_each_once(&[&args[..at], &args[at + 1..]].concat()),
    }
}

fn measure(rows: &[String]) -> Result<()> {
    let mut command = cargo();
    command.args(["bench", "--package", "trackway-cli", "--bench", "figures", "--"]).args(rows);
    run_command(add_server_variables(&mut command))
}

/// Every row once, with the build of the tests: naming the whole workspace reuses what the tests have
/// built.
pub(crate) fn run_each_once(rows: &[String]) -> Result<()> {
    let mut command = cargo();
    command.args(["test", "--workspace", "--bench", "figures", "--", "--quick"]).args(rows);
    run_command(add_server_variables(&mut command))
}

fn add_server_variables(command: &mut Command) -> &mut Command {
    for sdk in [NEWEST_PYTHON, NEWEST_NODE] {
        match sdk.ensure() {
            Ok(path) => {
                command.env(sdk.variable, path);
            }
            // Our own figures do not need them.
            Err(error) => eprintln!("The rows of this SDK are skipped: {error:#}"),
        }
    }
    match nats_server::ensure() {
        Ok(path) => {
            command.env(nats_server::VARIABLE, path);
        }
        Err(error) => eprintln!("The rows over NATS are skipped: {error:#}"),
    }
    command
}
