//! `trackway completions`: a script for a shell.

use std::io;

use clap::CommandFactory;

use crate::{
    args::{Cli, Completions},
    exit::Exit,
    failure::Failure,
};

pub(super) fn completions(args: &Completions) -> Result<Exit, Failure> {
    // Into memory first: the generator panics when it cannot write.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "trackway", &mut script);
    io::Write::write_all(&mut io::stdout().lock(), &script)?;
    Ok(Exit::Done)
}
