//! `cargo xtask`: finds the requested command and runs it. Each command is one file.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a developer's tool: results go to stdout, progress to stderr"
)]

mod audit;
mod bench;
mod ci;
mod clients;
mod corpus;
mod generate;
mod nats_server;
mod process;
mod real_model;
mod repo;
mod requirements;
mod test;
mod tidy;

use std::process::ExitCode;

use anyhow::{Result, bail};

const HELP: &str = "\
Usage: cargo xtask <command>

  ci                       the whole gate: fmt, clippy, test, bench --quick, docs, tidy,
                           generate --check
  test [ARGS]              set up what the tests need, then run them; ARGS go to nextest
  real-model               have agents talk with a small real model; downloads some 200 MB once and
                           is no part of `ci` or `test`
  tidy                     check the repository's own rules
  audit                    check licences, and with cargo-deny, where it is installed, advisories
  requirements [--missing] [--for PART]
                           which tests prove which requirement of docs/requirements.md; PART is a
                           letter or an id
  corpus DIR               read the definition files of a folder and drive each to its end
  generate [--check]       write docs/states.md, docs/limits.md and the tests in
                           docs/requirements.md from the code, and the code of the .proto files
  bench [--quick] [PART…]
                           measure, in release mode, beside the servers of the official A2A SDKs;
                           PARTs choose rows by a part of their name; --quick goes through every
                           row once, as the gate does, with figures that mean nothing
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(args: &[String]) -> Result<()> {
    let Some((command, rest)) = args.split_first() else {
        print!("{HELP}");
        return Ok(());
    };
    match command.as_str() {
        "ci" => no_arguments(command, rest).and_then(|()| ci::run()),
        "test" => test::run(rest),
        "real-model" => no_arguments(command, rest).and_then(|()| real_model::run()),
        "audit" => no_arguments(command, rest).and_then(|()| audit::run()),
        "tidy" => no_arguments(command, rest).and_then(|()| tidy::run()),
        "requirements" => requirements::run(rest),
        "corpus" => corpus::run(rest),
        "generate" => generate::run(rest),
        "bench" => bench::run(rest),
        "help" | "--help" | "-h" => {
            print!("{HELP}");
            Ok(())
        }
        other => bail!("no command `{other}`\n\n{HELP}"),
    }
}

/// A mistyped option must not be ignored silently.
fn no_arguments(command: &str, rest: &[String]) -> Result<()> {
    match rest {
        [] => Ok(()),
        _ => bail!("`{command}` takes no arguments, got: {}", rest.join(" ")),
    }
}
