//! Measurements. The figures are made by the bench of the CLI crate; this prepares the servers of the
//! official SDKs, which are measured beside ours, and starts it.

use anyhow::Result;

use crate::process::{cargo, run as run_command};
use crate::{node, python};

pub(crate) fn run(args: &[String]) -> Result<()> {
    let fixed = ["bench", "--package", "trackway-cli", "--bench", "figures", "--"];
    let mut command = cargo();
    let sdks = [
        (python::NEWEST.variable, python::NEWEST.ensure()),
        (node::NEWEST.variable, node::NEWEST.ensure()),
    ];
    for (variable, prepared) in sdks {
        match prepared {
            Ok(path) => {
                command.env(variable, path);
            }
            // Our own figures need neither.
            Err(error) => eprintln!("The rows of this SDK are skipped: {error:#}"),
        }
    }
    run_command(command.args(fixed).args(args))
}
