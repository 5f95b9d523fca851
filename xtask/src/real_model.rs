//! Turns with a small real model: installs its server, starts it on loopback, and runs the tests that
//! ordinary runs skip.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use anyhow::{Context, Result, bail};

use crate::clients::REAL_MODEL;
use crate::process::{cargo, program, run as run_command};

/// The variable with the address of the server for the tests.
const VARIABLE: &str = "TRACKWAY_TEST_MODEL_URL";

const SERVER: &str = "xtask/real-model/server.py";

/// Selects the tests; every other run ignores them.
const TESTS: [&str; 5] = ["test", "--package", "trackway-agent", "--test", "it"];
const CHOSEN: [&str; 5] = ["--", "--ignored", "--nocapture", "--test-threads=1", "real_model"];

pub(crate) fn run() -> Result<()> {
    let interpreter = REAL_MODEL.ensure()?;
    let mut server = program(interpreter);
    // The server ends when its input is closed, for any reason.
    server.arg(SERVER).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut server = server.spawn().with_context(|| format!("starting {SERVER}"))?;
    let tested = wait_for_url(&mut server).and_then(|url| {
        eprintln!("The model is served at {url}.");
        run_command(cargo().env(VARIABLE, url).args(TESTS).args(CHOSEN))
    });
    drop(server.stdin.take());
    server.wait().context("waiting for the model's server to end")?;
    tested
}

/// The base address, which the server prints when the model is loaded.
fn wait_for_url(server: &mut Child) -> Result<String> {
    let stdout = server.stdout.take().context("the model's server has no output")?;
    for line in BufReader::new(stdout).lines() {
        let line = line.context("reading what the model's server says")?;
        if let Some(url) = line.strip_prefix("serving ") {
            return Ok(format!("{url}/v1"));
        }
    }
    bail!("the model's server ended before it served")
}
