//! `trackway runs list|show|cancel|resume`: on the folder itself, on the server that holds it, and on
//! a server by its address.

use std::path::Path;

use crate::support::{CommandOutput, ServerUnderTest, TestFolder, trackway_command};

/// The three ways to the same runs.
#[derive(Debug, Clone, Copy)]
enum Way {
    Folder,
    Holder,
    Named,
}

const WAYS: [Way; 3] = [Way::Folder, Way::Holder, Way::Named];

struct There {
    folder: TestFolder,
    server: Option<ServerUnderTest>,
    way: Way,
}

impl There {
    /// A folder with one waiting `review` and one completed `echo`, and the waiting one's id.
    fn new(way: Way) -> (Self, String) {
        let folder = TestFolder::new();
        folder.run_command(&["run", "echo", "--input", r#"{"text": "hi"}"#]).expect(0);
        let run = folder.start_waiting_review();
        let server = match way {
            Way::Folder => None,
            Way::Holder | Way::Named => Some(ServerUnderTest::start(&folder.data_path())),
        };
        (Self { folder, server, way }, run)
    }

    fn trackway(&self, args: &[&str]) -> CommandOutput {
        match (self.way, &self.server) {
            (Way::Named, Some(server)) => {
                // The address alone must be enough.
                let nowhere = Path::new("nowhere");
                trackway_command(args)
                    .env("TRACKWAY_SERVER", &server.url)
                    .env("TRACKWAY_DATA", nowhere)
                    .run_to_end("")
            }
            _ => self.folder.run_command(args),
        }
    }
}

#[test]
fn runs_are_listed_newest_first_and_filtered() {
    for way in WAYS {
        let (there, run) = There::new(way);
        let all = there.trackway(&["runs", "list", "--json"]).expect(0).json();
        let workflows: Vec<&str> =
            all["runs"].as_array().unwrap().iter().map(|run| run["workflow"].as_str().unwrap()).collect();
        assert_eq!(workflows, ["review", "echo"], "{way:?}");
        let waiting =
            ["runs", "list", "--json", "--state", "input-required,auth-required", "--workflow", "review"];
        let waiting = there.trackway(&waiting).expect(0).json();
        assert_eq!(waiting["runs"].as_array().unwrap().len(), 1, "{way:?}");
        assert_eq!(waiting["runs"][0]["id"], run.as_str());
        let first = there.trackway(&["runs", "list", "--json", "--limit", "1"]).expect(0).json();
        let next = first["next"].as_str().unwrap();
        let second = there.trackway(&["runs", "list", "--json", "--before", next]).expect(0).json();
        assert_eq!(second["runs"][0]["workflow"], "echo", "{way:?}");
        let table = there.trackway(&["runs", "list"]).expect(0);
        assert!(table.stdout.starts_with("RUN "), "{table:?}");
        assert!(table.stdout.contains(&run), "{table:?}");
    }
}

#[test]
fn a_run_is_shown_whole() {
    for way in WAYS {
        let (there, run) = There::new(way);
        let shown = there.trackway(&["runs", "show", &run, "--json"]).expect(0).json();
        assert_eq!(shown["id"], run.as_str(), "{way:?}");
        assert_eq!(shown["state"], "input-required");
        assert_eq!(shown["question"]["schema"]["required"][0], "confirmed");
        assert_eq!(shown["artifacts"].as_array().unwrap().len(), 3);
        assert_eq!(shown["history"][0]["role"], "user");
        let page = there.trackway(&["runs", "show", &run]).expect(0).stdout;
        for part in ["input-required", "Review the analysis", "recommendation.json", "schema:"] {
            assert!(page.contains(part), "{way:?} {part}: {page}");
        }
        let unknown = "run_00000000000000000000000000000000";
        let missing = there.trackway(&["runs", "show", unknown]).expect(2);
        assert!(missing.stderr.contains("docs/errors/unknown-run.md"), "{missing:?}");
    }
}

/// Proves L14.
#[test]
fn a_run_is_resumed_to_its_end() {
    for way in WAYS {
        let (there, run) = There::new(way);
        let wrong = there.trackway(&["runs", "resume", &run, "--input", r#"{"confirmed": "yes"}"#]).expect(2);
        assert!(wrong.stderr.contains("/confirmed:"), "{way:?} {wrong:?}");
        let right = ["runs", "resume", &run, "--input", r#"{"confirmed": true}"#, "--json"];
        let resumed = there.trackway(&right).expect(0);
        assert_eq!(resumed.states(), ["working", "completed"], "{way:?}");
        let again = there.trackway(&right).expect(2);
        assert!(again.stderr.contains("docs/errors/run-ended.md"), "{way:?} {again:?}");
    }
}

#[test]
fn a_resume_ends_where_the_run_waits_again() {
    let folder = TestFolder::new();
    let start = ["run", "invest", "--input", r#"{"walletAddress": "0x1"}"#, "--json"];
    let run = folder.run_command(&start).expect(6).json_lines()[0]["runId"].as_str().unwrap().to_owned();
    let answer = r#"{"walletAddress": "0x1", "amount": 5}"#;
    let resumed = folder.run_command(&["runs", "resume", &run, "--input", answer, "--json"]).expect(6);
    assert_eq!(resumed.states(), ["working", "auth-required"]);
    assert!(resumed.stderr.contains(&format!("runs resume {run} --input '{{\"signature\": \"TEXT\"}}'")));
    let signed = folder.run_command(&["runs", "resume", &run, "--input", r#"{"signature": "me"}"#]).expect(0);
    assert!(signed.stdout.contains("receipt.json"), "{signed:?}");
}

/// Proves L10.
#[test]
fn a_run_is_canceled_at_once() {
    for way in WAYS {
        let (there, run) = There::new(way);
        let canceled = there.trackway(&["runs", "cancel", &run, "--json"]).expect(0).json();
        assert_eq!(canceled["state"], "canceled", "{way:?}");
        let shown = there.trackway(&["runs", "show", &run, "--json"]).expect(0).json();
        assert_eq!(shown["state"], "canceled", "{way:?}");
        there.trackway(&["runs", "cancel", &run]).expect(2);
    }
}

/// Proves L17.
#[test]
fn canceling_a_parent_cancels_its_children() {
    let folder = TestFolder::new();
    let args = ["run", "family", "--input", r#"{"children": 3, "workflow": "review"}"#, "--json"];
    let mut family = trackway_command(&args).env("TRACKWAY_DATA", folder.data_path()).start();
    let first: serde_json::Value = serde_json::from_str(&family.read_line()).unwrap();
    let parent = first["runId"].as_str().unwrap().to_owned();
    (0..3).for_each(|_| drop(family.read_until("question")));
    family.close_stdin();
    assert_eq!(family.exit_code(), 6);
    folder.run_command(&["runs", "cancel", &parent]).expect(0);
    let list = folder.run_command(&["runs", "list", "--json", "--state", "canceled"]).expect(0).json();
    assert_eq!(list["runs"].as_array().unwrap().len(), 4, "{list}");
    let shown = folder.run_command(&["runs", "show", &parent, "--json"]).expect(0).json();
    assert_eq!(shown["children"].as_array().unwrap().len(), 3);
}

/// A run that another process drives can be read, but not changed directly.
#[test]
fn a_folder_in_use_without_a_server_can_be_read() {
    let folder = TestFolder::new();
    let mut busy = trackway_command(&["run", "review", "--input", r#"{"subject": "x"}"#, "--json"])
        .env("TRACKWAY_DATA", folder.data_path())
        .start();
    let asked: serde_json::Value = serde_json::from_str(&busy.read_until("question")).unwrap();
    let run = asked["runId"].as_str().unwrap();
    let shown = folder.run_command(&["runs", "show", run, "--json"]).expect(0).json();
    assert_eq!(shown["state"], "input-required");
    let refused = folder.run_command(&["runs", "cancel", run]).expect(1);
    assert!(refused.stderr.contains("docs/errors/data-in-use.md"), "{refused:?}");
    busy.write("{\"confirmed\": true}\n");
    busy.read_until("completed");
    assert_eq!(busy.exit_code(), 0);
}

/// A user at a prompt sees that another user has answered.
#[test]
fn an_answer_from_elsewhere_ends_the_question() {
    let folder = TestFolder::new();
    let _server = ServerUnderTest::start(&folder.data_path());
    let mut person = trackway_command(&["run", "review", "--input", r#"{"subject": "x"}"#, "--json"])
        .env("TRACKWAY_DATA", folder.data_path())
        .start();
    let asked: serde_json::Value = serde_json::from_str(&person.read_until("question")).unwrap();
    let run = asked["runId"].as_str().unwrap();
    folder.run_command(&["runs", "resume", run, "--input", r#"{"confirmed": true}"#]).expect(0);
    person.read_until("completed");
    assert_eq!(person.exit_code(), 0);
}
