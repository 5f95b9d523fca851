//! `trackway runs replay-check`, and what happens to runs whose programs do not fit.

use std::{path::Path, sync::Arc};

use serde_json::{Value, json};
use trackway::{
    Ctx, Server, Stop, Workflow,
    api::{RunUpdateKind, RunsService, StartRequest},
};

use crate::support::{ServerUnderTest, TestFolder};

/// A `review` that differs from the bundled one.
struct OtherReview;

impl Workflow for OtherReview {
    const NAME: &'static str = "review";
    const DESCRIPTION: &'static str = "Asks at once.";
    type Input = Value;
    type Output = ();

    async fn run(self: Arc<Self>, ctx: Ctx, _input: Value) -> Result<(), Stop> {
        ctx.status("another program").await;
        let _: String = ctx.ask("What now?").await;
        Ok(())
    }
}

/// A version of `review` that the binary does not have.
struct NewReview;

impl Workflow for NewReview {
    const NAME: &'static str = "review";
    const VERSION: &'static str = "2027";
    const DESCRIPTION: &'static str = "Asks at once.";
    type Input = Value;
    type Output = ();

    async fn run(self: Arc<Self>, ctx: Ctx, _input: Value) -> Result<(), Stop> {
        let _: String = ctx.ask("What now?").await;
        Ok(())
    }
}

/// Runs this program up to its question, in this process, and releases the folder.
async fn leave_waiting(data: &Path, workflow: impl Workflow) -> String {
    let (runtime, _folder) = Server::new().data(data).workflow(workflow).start_engine().await.unwrap();
    let runs = RunsService::for_local_caller(runtime.clone());
    let request = StartRequest::new("review", json!({ "subject": "x" }));
    let run = runs.start_run(request).await.unwrap().summary.id;
    let mut updates = runs.watch_run_updates(run, 0).await.unwrap();
    while let Some(update) = updates.next_update().await.unwrap() {
        if matches!(update.what, RunUpdateKind::Status { question: Some(_), .. }) {
            break;
        }
    }
    runtime.stop_runtime().await;
    run.to_string()
}

#[test]
fn runs_of_the_same_programs_fit() {
    let folder = TestFolder::new();
    let waiting = folder.start_waiting_review();
    let ended = folder.run_command(&["run", "echo", "--input", r#"{"text": "hi"}"#, "--json"]).expect(0);
    let ended = ended.json_lines()[0]["runId"].as_str().unwrap().to_owned();
    let report = folder.run_command(&["runs", "replay-check", "--json"]).expect(0).json();
    assert_eq!(report["checked"], 1);
    assert_eq!(report["runs"][0]["id"], waiting.as_str());
    assert_eq!(report["runs"][0]["verdict"], "fits");
    // Named, finished runs are checked too.
    let report = folder.run_command(&["runs", "replay-check", &ended, &waiting, "--json"]).expect(0).json();
    assert_eq!(report["checked"], 2);
    let _server = ServerUnderTest::start(&folder.data_path());
    let report = folder.run_command(&["runs", "replay-check"]).expect(0);
    assert!(report.stdout.contains("1 checked, 0 misfit"), "{report:?}");
}

#[tokio::test]
async fn a_program_that_changed_is_found_out() {
    let folder = TestFolder::new();
    let other = leave_waiting(&folder.data_path(), OtherReview).await;
    let newer = leave_waiting(&folder.data_path(), NewReview).await;
    let before = folder.run_command(&["runs", "show", &other, "--json"]).expect(0).json();
    let check = folder.run_command(&["runs", "replay-check", "--json"]).expect(7);
    let report = check.json();
    assert_eq!((&report["checked"], &report["misfits"]), (&json!(2), &json!(2)));
    for run in report["runs"].as_array().unwrap() {
        assert_eq!(run["verdict"], "misfit");
        let message = run["evidence"]["message"].as_str().unwrap();
        assert_eq!(run["id"] == newer.as_str(), message.contains("2027"), "{message}");
    }
    let table = folder.run_command(&["runs", "replay-check"]).expect(7);
    assert!(table.stdout.contains("misfit: "), "{table:?}");
    assert!(table.stderr.contains("docs/errors/replay-mismatch.md"), "{table:?}");
    // The check changed nothing.
    assert_eq!(folder.run_command(&["runs", "show", &other, "--json"]).json(), before);
}

/// A run that does not fit is parked with its evidence; the others continue.
#[tokio::test]
async fn a_misfit_is_parked_and_shown_with_its_evidence() {
    let folder = TestFolder::new();
    let other = leave_waiting(&folder.data_path(), OtherReview).await;
    let server = ServerUnderTest::start(&folder.data_path());
    let fits = server.start_run("echo", json!({ "text": "hi" })).await;
    assert_eq!(server.wait_for_end(&fits).await.last().unwrap()["state"], "completed");
    // Only an answer makes the program run again.
    let answer = folder.run_command(&["runs", "resume", &other, "--input", r#""go on""#]).expect(7);
    assert!(answer.stderr.contains("replay-check"), "{answer:?}");
    let shown = folder.run_command(&["runs", "show", &other, "--json"]).expect(0).json();
    assert_eq!(shown["parked"], true);
    assert!(shown["evidence"]["message"].as_str().is_some(), "{shown}");
    let page = folder.run_command(&["runs", "show", &other]).expect(0);
    assert!(page.stdout.contains("Parked"), "{page:?}");
    let list = folder.run_command(&["runs", "list"]).expect(0);
    assert!(list.stdout.contains("(parked)"), "{list:?}");
}
