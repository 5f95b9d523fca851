//! The clients: which there are, where their packages lie, and how one is run.

use std::{path::Path, process::Command};

use serde_json::{Map, Value};

use super::course::{ANSWER, Generation, START};
use crate::support::{output_of, prepared, python};

#[derive(Debug, Clone, Copy)]
pub(super) enum Client {
    Python03,
    Python1,
    JavaScript03,
    JavaScript1,
}

impl Client {
    pub(super) fn generation(self) -> Generation {
        match self {
            Self::Python03 | Self::JavaScript03 => Generation::V03,
            Self::Python1 | Self::JavaScript1 => Generation::V1,
        }
    }

    /// Runs the whole course and returns what the client told, by the name of what it did.
    pub(super) async fn run(self, agent: &str, binding: &str) -> Map<String, Value> {
        let mut command = self.command();
        command.args([agent, binding, START, ANSWER]);
        let (said, _) = output_of(command).await;
        let told = said.lines().map(|line| {
            let told: Value = serde_json::from_str(line).unwrap();
            (told["op"].as_str().unwrap().to_owned(), told)
        });
        told.collect()
    }

    fn command(self) -> Command {
        let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients");
        let node = |variable: &str, script: &str| {
            let mut command = Command::new("node");
            command.arg(scripts.join("js").join(script)).arg(prepared(variable));
            command
        };
        match self {
            Self::Python03 => python("TRACKWAY_TEST_PYTHON", "v03.py"),
            Self::Python1 => python("TRACKWAY_TEST_PYTHON_1_0", "v1.py"),
            Self::JavaScript03 => node("TRACKWAY_TEST_JS_0_3", "v03.cjs"),
            Self::JavaScript1 => node("TRACKWAY_TEST_JS_1_0", "v1.cjs"),
        }
    }
}
