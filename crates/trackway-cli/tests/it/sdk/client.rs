//! The clients: which exist, where their packages are, and how one is run.

use std::{path::Path, process::Command};

use serde_json::{Map, Value};

use super::client_script::{ANSWER, ProtocolGeneration, START};
use crate::support::{prepared_path, python_client, run_client_to_end};

#[derive(Debug, Clone, Copy)]
pub(super) enum OfficialClient {
    Python03,
    Python1,
    JavaScript03,
    JavaScript1,
}

impl OfficialClient {
    pub(super) fn generation(self) -> ProtocolGeneration {
        match self {
            Self::Python03 | Self::JavaScript03 => ProtocolGeneration::V03,
            Self::Python1 | Self::JavaScript1 => ProtocolGeneration::V1,
        }
    }

    /// Runs the whole script and returns the client's results, by the name of each operation.
    pub(super) async fn run_script(self, agent: &str, binding: &str) -> Map<String, Value> {
        let mut command = self.command();
        command.args([agent, binding, START, ANSWER]);
        let (said, _) = run_client_to_end(command).await;
        let told = said.lines().map(|line| {
            let told: Value = serde_json::from_str(line).unwrap();
            (told["op"].as_str().unwrap().to_owned(), told)
        });
        told.collect()
    }

    fn command(self) -> Command {
        match self {
            Self::Python03 => python_client("TRACKWAY_TEST_PYTHON", "v03.py"),
            Self::Python1 => python_client("TRACKWAY_TEST_PYTHON_1_0", "v1.py"),
            Self::JavaScript03 => node_client("TRACKWAY_TEST_JS_0_3", "v03.cjs"),
            Self::JavaScript1 => node_client("TRACKWAY_TEST_JS_1_0", "v1.cjs"),
        }
    }
}

/// A script of `tests/clients/js`, with the packages that the variable names.
pub(super) fn node_client(variable: &str, script: &str) -> Command {
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients/js");
    let mut command = Command::new("node");
    command.arg(scripts.join(script)).arg(prepared_path(variable));
    command
}
