//! The official clients, and the interpreters that run them.

use std::{path::Path, process::Command};

/// The path that `cargo xtask test` prepared and passes in this variable.
#[expect(clippy::disallowed_methods, reason = "the one place where these tests learn of their clients")]
pub(crate) fn prepared_path(variable: &str) -> String {
    std::env::var(variable).unwrap_or_else(|_| {
        panic!("{variable} is not set: run `cargo xtask test`, which prepares it and sets it")
    })
}

/// Runs a client to its end, and returns its stdout and stderr.
pub(crate) async fn run_client_to_end(mut command: Command) -> (String, String) {
    let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (printed, errors) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "it printed\n{printed}and then\n{errors}");
    (printed, errors)
}

/// A script of `tests/clients/python`, run by the interpreter of that variable.
pub(crate) fn python_client(variable: &str, script: &str) -> Command {
    client_command(variable, &format!("python/{script}"))
}

/// A script of `tests/clients`, run by the interpreter of that variable.
pub(crate) fn client_command(variable: &str, script: &str) -> Command {
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients");
    let mut command = Command::new(prepared_path(variable));
    // Nothing is written next to the scripts, which belong to the repository.
    command.env("PYTHONDONTWRITEBYTECODE", "1").arg(scripts.join(script));
    command
}
