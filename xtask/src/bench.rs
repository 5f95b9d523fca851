//! Measurements. The figures are made by the bench of the CLI crate; this only starts it.

use anyhow::Result;

use crate::process::{cargo, run as run_command};

pub(crate) fn run(args: &[String]) -> Result<()> {
    let fixed = ["bench", "--package", "trackway-cli", "--bench", "figures", "--"];
    run_command(cargo().args(fixed).args(args))
}
