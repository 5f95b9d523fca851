//! Other people's frameworks as they come from the registries, against the real binary with the offline
//! rules. What they get is compared with what the server has recorded.

mod mcp;

use std::{path::Path, process::Command};

use serde_json::Value;

use crate::support::{Folder, Served, interpret, prepared};

/// Runs a command to its end, and returns each line that it printed, with what it said on stderr.
async fn run(mut command: Command) -> (Vec<Value>, String) {
    let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (printed, errors) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{printed}\n{errors}");
    (printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect(), errors)
}

/// A framework in Python. Its experimental parts warn about themselves; that is not our matter.
fn python(variable: &str, script: &str) -> Command {
    let mut command = interpret(variable, &format!("frameworks/{script}"));
    command.env("PYTHONWARNINGS", "ignore");
    command
}

fn node(variable: &str, script: &str) -> Command {
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients/frameworks");
    let mut command = Command::new("node");
    command.arg(scripts.join(script)).arg(prepared(variable));
    command
}

/// A server in a workspace with these files.
#[derive(Debug)]
struct Site {
    server: Served,
    _folder: Folder,
}

impl Site {
    fn start(files: &[(&str, &str)], args: &[&str]) -> Self {
        let folder = Folder::new();
        for (name, text) in files {
            let file = folder.path().join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        }
        let workspace = folder.path().to_str().unwrap().to_owned();
        let args = [&["--workspace", &workspace], args].concat();
        Self { server: Served::start_as(&folder.data(), &args), _folder: folder }
    }
}
