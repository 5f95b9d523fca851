//! Error messages: which error, what to do, which exit code.

use crate::support::{ServerUnderTest, TestFolder, trackway_command};

/// Proves X5.
#[test]
fn an_unknown_workflow_is_answered_with_what_there_is() {
    let folder = TestFolder::new();
    let run = folder.run_command(&["run", "ecko", "--input", "{}"]).expect(2);
    assert_eq!(run.stdout, "");
    assert!(run.stderr.contains("error: there is no workflow named \"ecko\""), "{run:?}");
    assert!(run.stderr.contains("hint: did you mean \"echo\"?"), "{run:?}");
    assert!(
        run.stderr.contains("approve, assistant, echo, fails, family, invest, ledger, onboarding, review"),
        "{run:?}"
    );
    assert!(run.stderr.contains("docs/errors/unknown-workflow.md"), "{run:?}");
    assert!(!folder.data_path().exists(), "nothing was made");
    // A server reports the same error for its own folder.
    let server = ServerUnderTest::start(&folder.data_path());
    let run = folder.run_command(&["run", "ecko", "--input", "{}", "--server", &server.url]).expect(2);
    assert!(run.stderr.contains("hint: did you mean \"echo\"?"), "{run:?}");
}

/// Proves X5.
#[test]
fn every_problem_of_an_input_is_told() {
    let folder = TestFolder::new();
    let run =
        folder.run_command(&["run", "echo", "--input", r#"{"txt": 1, "chunks": 0}"#, "--json"]).expect(2);
    assert_eq!(run.stdout, "");
    for part in ["/text: \"text\" is required", "/txt:", "/chunks:", "got 0", "docs/errors/invalid-input.md"]
    {
        assert!(run.stderr.contains(part), "{part}: {run:?}");
    }
    assert!(folder.run_command(&["runs", "list", "--json"]).json()["runs"].as_array().unwrap().is_empty());
}

/// Proves X5.
#[test]
fn malformed_arguments_are_usage_errors() {
    let folder = TestFolder::new();
    let run = folder.run_command(&["run", "echo", "--input", "hello"]).expect(2);
    assert!(run.stderr.contains("--input is not JSON"), "{run:?}");
    assert!(!folder.data_path().exists(), "nothing was made");
    folder.run_command(&["runs", "show", "hello"]).expect(2);
    folder.run_command(&["runs", "list", "--state", "asleep"]).expect(2);
    folder.run_command(&["runs", "list", "--server", "127.0.0.1:7420"]).expect(2);
    folder.run_command(&["runs", "list", "--server", "https://127.0.0.1:7420"]).expect(2);
    folder.run_command(&["serve", "--listen", "0.0.0.0:0"]).expect(2);
    folder.run_command(&["serve", "--listen", "nowhere"]).expect(2);
    folder.run_command(&["bake"]).expect(2);
}

#[test]
fn a_server_that_is_not_there_and_a_folder_that_is_not_one() {
    let folder = TestFolder::new();
    // Port 1 is reserved; no process listens there.
    let run = folder.run_command(&["runs", "list", "--server", "http://127.0.0.1:1"]).expect(1);
    assert!(run.stderr.contains("cannot be reached"), "{run:?}");
    assert!(run.stderr.contains("caused by:"), "{run:?}");
    for args in [&["runs", "list"][..], &["runs", "replay-check"]] {
        let run = folder.run_command(args).expect(1);
        assert!(run.stderr.contains("there is no Trackway database"), "{run:?}");
    }
    assert!(!folder.data_path().exists(), "looking makes nothing");
}

#[test]
fn help_and_completions_go_to_stdout() {
    let help = trackway_command(&["run", "--help"]).run_to_end("").expect(0);
    assert!(help.stdout.contains("Exit codes:"), "{help:?}");
    assert!(!help.stdout.contains("TRACKWAY_FAULT"), "{help:?}");
    for shell in ["bash", "zsh", "fish"] {
        let script = trackway_command(&["completions", shell]).run_to_end("").expect(0);
        assert!(script.stdout.contains("replay-check"), "{shell}");
        assert_eq!(script.stderr, "");
    }
}
