//! `trackway run`.

use serde_json::{Value, json};

use crate::support::{ServerUnderTest, TestFolder, trackway_command};

/// The types of an update stream, each followed by the state or the artifact's name.
fn summarize_updates(lines: &[Value]) -> Vec<String> {
    let tell = |line: &Value| match line["type"].as_str().unwrap() {
        "artifact" => format!("artifact {}", line["artifact"]["artifactId"].as_str().unwrap()),
        kind => format!("{kind} {}", line["state"].as_str().unwrap()),
    };
    lines.iter().map(tell).collect()
}

/// Proves L10.
#[test]
fn json_is_all_there_is_on_stdout_and_completed_is_zero() {
    let folder = TestFolder::new();
    let run =
        folder.run_command(&["run", "echo", "--input", r#"{"text": "hi", "chunks": 2}"#, "--json"]).expect(0);
    let lines = run.json_lines();
    let expected = [
        "task submitted",
        "status working",
        "status working",
        "artifact echo.txt",
        "artifact echo.txt",
        "status completed",
    ];
    assert_eq!(summarize_updates(&lines), expected);
    assert_eq!(run.stderr, "");
    let finals: Vec<bool> = lines.iter().map(|line| line["final"].as_bool().unwrap()).collect();
    assert_eq!(finals, [false, false, false, false, false, true]);
    assert!(lines.windows(2).all(|pair| pair[0]["pos"].as_u64() < pair[1]["pos"].as_u64()));
    assert!(lines.iter().all(|line| line["runId"] == lines[0]["runId"]));
}

/// Proves L7, L10.
#[test]
fn each_end_has_its_exit_code() {
    let folder = TestFolder::new();
    let failed = folder.run_command(&["run", "fails", "--input", r#"{"message": "boom"}"#]).expect(3);
    assert!(failed.stdout.contains("failed: boom"), "{failed:?}");
    let other_chain = r#"{"walletAddress": "0x1", "chainId": 1}"#;
    let rejected = folder.run_command(&["run", "invest", "--input", other_chain, "--json"]).expect(4);
    assert_eq!(rejected.states(), ["submitted", "rejected"]);
}

/// Proves L6, L7: a question is the first update.
#[test]
fn approval_is_asked_for_before_anything_else() {
    let folder = TestFolder::new();
    let args = ["run", "approve", "--input", r#"{"subject": "tea"}"#, "--json"];
    let yes = folder.run_command_with_stdin(&args, "{\"approved\": true}\n").expect(0);
    assert_eq!(yes.states(), ["submitted", "working", "input-required", "working", "completed"]);
    assert_eq!(yes.json_lines()[2]["question"]["schema"]["required"], json!(["approved"]));
    let no = folder.run_command_with_stdin(&args, "{\"approved\": false}\n").expect(4);
    assert_eq!(no.states().last().unwrap(), "rejected");
}

/// Proves L14.
#[test]
fn answers_are_read_from_stdin_and_a_wrong_one_is_asked_for_again() {
    let folder = TestFolder::new();
    let answers = "\
        {\"walletAddress\": \"0x1\", \"amount\": 0}\n\
        \n\
        not json\n\
        {\"walletAddress\": \"0x1\", \"amount\": 5}\n\
        {\"signature\": \"me\"}\n";
    let args = ["run", "invest", "--input", r#"{"walletAddress": "0x1"}"#, "--json"];
    let run = folder.run_command_with_stdin(&args, answers).expect(0);
    let lines = run.json_lines();
    let expected = [
        "task submitted",
        "status working",
        "status working",
        "artifact investment-form-preview.json",
        "status input-required",
        "status input-required",
        "status working",
        "status auth-required",
        "status working",
        "artifact receipt.json",
        "status completed",
    ];
    assert_eq!(summarize_updates(&lines), expected);
    assert_eq!(lines[5]["question"]["errors"][0]["path"], "/amount");
    assert_eq!(lines[9]["artifact"]["parts"][0]["data"]["signature"], "me");
    assert!(run.stderr.contains("that is not JSON"), "{run:?}");
}

/// Proves L6, L14.
#[test]
fn a_person_is_asked_field_by_field() {
    let folder = TestFolder::new();
    let typed = "\nnothing\n0\n\n5\nme\n";
    let args = ["run", "invest", "--input", r#"{"walletAddress": "0x1"}"#];
    let run = folder.run_command_with_stdin(&args, typed).expect(0);
    assert!(run.stdout.contains("+ receipt.json (Receipt)"), "{run:?}");
    assert!(run.stdout.ends_with("completed\n"), "{run:?}");
    assert!(run.stderr.contains("amount (number, more than 0) How much to invest."), "{run:?}");
    assert!(run.stderr.contains("The wallet that pays. [0x1]: "), "{run:?}");
    assert!(run.stderr.contains("\"nothing\" is not a number"), "{run:?}");
    assert!(run.stderr.contains("/amount:"), "{run:?}");
}

#[test]
fn input_that_is_missing_is_asked_for() {
    let folder = TestFolder::new();
    let run = folder.run_command_with_stdin(&["run", "echo"], "hello\n\n").expect(0);
    assert!(run.stdout.contains("hello"), "{run:?}");
    // A program is not asked interactively.
    folder.run_command_with_stdin(&["run", "echo", "--json"], "hello\n").expect(2);
}

#[test]
fn at_the_end_of_the_answers_the_run_is_left_waiting() {
    let folder = TestFolder::new();
    let run = folder.run_command(&["run", "review", "--input", r#"{"subject": "x"}"#, "--json"]).expect(6);
    let id = run.json_lines()[0]["runId"].as_str().unwrap().to_owned();
    let command = format!("trackway runs resume {id} --input '{{\"confirmed\": true|false}}' --data ");
    assert!(run.stderr.contains(&command), "{run:?}");
    let shown = folder.run_command(&["runs", "show", &id, "--json"]).expect(0).json();
    assert_eq!(shown["state"], "input-required");
}

/// Proves L17.
#[test]
fn questions_of_children_are_put_too() {
    let folder = TestFolder::new();
    let args = ["run", "family", "--input", r#"{"children": 2, "workflow": "review"}"#, "--json"];
    let run =
        folder.run_command_with_stdin(&args, "{\"confirmed\": true}\n{\"confirmed\": false}\n").expect(0);
    let lines = run.json_lines();
    let asked: Vec<&Value> = lines.iter().filter(|line| line.get("question").is_some()).collect();
    assert_eq!(asked.len(), 2, "{run:?}");
    assert!(asked.iter().all(|line| line["runId"] != lines[0]["runId"]));
    let results = &lines[lines.len() - 2]["artifact"]["parts"][0]["data"]["results"];
    let mut states: Vec<&str> =
        results.as_array().unwrap().iter().map(|result| result["state"].as_str().unwrap()).collect();
    states.sort_unstable();
    assert_eq!(states, ["completed", "rejected"]);
}

/// The format that scripts rely on: `<run id> <entry number> <idempotency key>`.
#[test]
fn the_ledger_has_one_line_per_entry() {
    let folder = TestFolder::new();
    let args = ["run", "ledger", "--input", r#"{"entries": 3, "delayMs": 1}"#, "--json"];
    let run = folder.run_command(&args).expect(0);
    let id = run.json_lines()[0]["runId"].as_str().unwrap().to_owned();
    let text = std::fs::read_to_string(folder.data_path().join("ledger.txt")).unwrap();
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split(' ').collect()).collect();
    assert!(text.ends_with('\n'));
    let numbered: Vec<(&str, &str)> = lines.iter().map(|words| (words[0], words[1])).collect();
    assert_eq!(numbered, [(id.as_str(), "1"), (&id, "2"), (&id, "3")]);
    let mut keys: Vec<&str> = lines.iter().map(|words| words[2]).collect();
    assert!(lines.iter().all(|words| words.len() == 3 && !words[2].is_empty()));
    keys.dedup();
    assert_eq!(keys.len(), 3);
}

/// Proves X2.
#[test]
fn ctrl_c_leaves_a_run_that_goes_on_at_the_next_start() {
    let folder = TestFolder::new();
    let input = r#"{"entries": 1, "delayMs": 3600000}"#;
    let mut run = trackway_command(&["run", "ledger", "--input", input, "--json"])
        .env("TRACKWAY_DATA", folder.data_path())
        .start();
    let id = serde_json::from_str::<Value>(&run.read_line()).unwrap()["runId"].as_str().unwrap().to_owned();
    run.read_until("working");
    run.signal("INT");
    assert_eq!(run.exit_code(), 130);
    let shown = folder.run_command(&["runs", "show", &id, "--json"]).expect(0).json();
    assert_eq!(shown["state"], "working");
}

#[test]
fn a_server_that_holds_the_folder_does_the_work() {
    let folder = TestFolder::new();
    let mut server = ServerUnderTest::start(&folder.data_path());
    let args = ["run", "invest", "--input", r#"{"walletAddress": "0x1"}"#, "--json"];
    let answers =
        "{\"walletAddress\": \"0x1\", \"amount\": -1}\n{\"walletAddress\": \"0x1\", \"amount\": 5}\n";
    let run = folder.run_command_with_stdin(&args, answers).expect(6);
    assert_eq!(run.states().last().unwrap(), "auth-required");
    let id = run.json_lines()[0]["runId"].as_str().unwrap().to_owned();
    // If the run is named, it is found without the folder.
    let url = server.url.clone();
    let shown =
        trackway_command(&["runs", "show", &id, "--json", "--server", &url]).run_to_end("").expect(0).json();
    assert_eq!(shown["state"], "auth-required");
    let shown = trackway_command(&["runs", "show", &id, "--json"])
        .env("TRACKWAY_SERVER", &url)
        .run_to_end("")
        .expect(0);
    assert_eq!(shown.json()["id"], json!(id));
    assert_eq!(server.interrupt(), 0);
}

/// A run that is watched through a server which dies is not lost, and its watcher says so.
#[test]
fn a_server_that_dies_is_told() {
    let folder = TestFolder::new();
    let mut server = ServerUnderTest::start(&folder.data_path());
    let input = r#"{"entries": 1, "delayMs": 3600000}"#;
    let mut run = trackway_command(&["run", "ledger", "--input", input, "--json"])
        .env("TRACKWAY_DATA", folder.data_path())
        .start();
    run.read_until("working");
    server.kill();
    assert_eq!(run.exit_code(), 1);
}
