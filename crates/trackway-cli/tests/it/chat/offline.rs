//! On a fresh machine, without a key.

use super::{list_runs, run_chat};
use crate::support::{ServerUnderTest, TestFolder};

/// Proves D1, D8, L6, X4: a whole conversation, with the label of who answers.
#[test]
fn a_pipe_runs_workflows_and_answers_their_questions() {
    let folder = TestFolder::new();
    let lines = "/run echo text=hi\n/run invest walletAddress=0x1\n0x1\n5\nme\n";
    let done = run_chat(&folder, &[], lines).expect(0);
    let mut rest = done.stdout.as_str();
    for seen in [
        "assistant, offline-rules/1: rules, not a language model\n",
        "→ dispatch_workflow_echo {\"text\":\"hi\"}\n",
        "← dispatch_workflow_echo answered\n",
        "→ dispatch_workflow_invest",
        "invest ? Please provide your wallet address and amount to invest\n",
        "invest ? Please sign the investment of 5",
        "invest | + Receipt\n",
        "invest | completed\n",
    ] {
        let at = rest.find(seen).unwrap_or_else(|| panic!("{seen:?} in {rest}\n{done:?}"));
        rest = &rest[at + seen.len()..];
    }
    assert!(done.stdout.contains("echo | + Echo\n"), "{done:?}");
    assert!(!done.stdout.contains('\x1b'), "{done:?}");
    let states: Vec<_> = list_runs(&folder).iter().map(|run| run["state"].clone()).collect();
    assert_eq!(states, ["completed"; 4]);
}

/// Proves D1: in a pipe too, a workflow's message appears once; greetings are short.
#[test]
fn each_thing_is_said_once() {
    let folder = TestFolder::new();
    let done = run_chat(&folder, &[], "hello\ninvest from wallet 0x123\n").expect(0);
    assert_eq!(done.stdout.matches("Found 3 yield opportunities:").count(), 1, "{done:?}");
    assert_eq!(done.stdout.matches("/run ").count(), 3, "{done:?}");
    assert!(done.stdout.contains("help lists all of them"), "{done:?}");
}

/// Proves L6, L14: an answer that does not fit is asked for again; one line may contain all of it.
#[test]
fn an_answer_can_be_one_line() {
    let folder = TestFolder::new();
    let lines = "/run invest walletAddress=0x1\nwalletAddress=0x1 amount=0\n\
                 {\"walletAddress\": \"0x1\", \"amount\": 5}\nme\n/run approve subject=tea\nno\n";
    let done = run_chat(&folder, &[], lines).expect(0);
    assert!(done.stdout.contains("/amount:"), "{done:?}");
    assert!(done.stdout.contains("invest | completed\n"), "{done:?}");
    assert!(done.stdout.contains("approve ? Do you approve of tea?\n"), "{done:?}");
    assert!(done.stdout.contains("approve | rejected\n"), "{done:?}");
}

/// Proves D1: an artifact that a workflow streams in pieces is shown whole.
#[test]
fn an_artifact_that_grows_is_shown_whole() {
    let folder = TestFolder::new();
    let done = run_chat(&folder, &[], "/run echo text=\"hello big world\" chunks=2\n").expect(0);
    assert!(done.stdout.contains("echo | + Echo\necho |   hello big world\n"), "{done:?}");
}

/// Proves D8: the label is in the updates too.
#[test]
fn updates_can_be_read_by_a_program() {
    let folder = TestFolder::new();
    let done = run_chat(&folder, &["--json"], "/run approve subject=tea\n{\"approved\": true}\n").expect(0);
    let lines = done.json_lines();
    let turn = lines[0]["runId"].clone();
    // The child may end before the turn that started it.
    let ends = lines.iter().filter(|line| line["final"] == true);
    let (turns, children): (Vec<_>, Vec<_>) = ends.partition(|end| end["runId"] == turn);
    assert_eq!((turns.len(), children.len()), (1, 1), "{done:?}");
    assert_eq!(turns[0]["output"]["model"], "offline-rules/1");
    assert_eq!(children[0]["state"], "completed");
}

#[test]
fn commands_are_for_the_terminal() {
    let folder = TestFolder::new();
    let done = run_chat(&folder, &[], "/help\n/stop\n/skip\n\n/quit\n/run echo text=never\n").expect(0);
    assert!(done.stdout.contains("/fork   continue in a new session"), "{done:?}");
    assert!(done.stdout.contains("Nothing is running."), "{done:?}");
    assert!(done.stdout.contains("No question is open."), "{done:?}");
    assert_eq!(list_runs(&folder).len(), 0);
}

#[test]
fn an_agent_that_is_not_there_is_told_with_those_that_are() {
    let folder = TestFolder::new();
    let refused = run_chat(&folder, &["assistent"], "").expect(2);
    assert!(refused.stderr.contains("did you mean \"assistant\"?"), "{refused:?}");
    assert!(!folder.data_path().exists());
}

/// Proves X2, D7: the chat uses the server that holds the folder, and shows its children.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_is_talked_to_like_a_folder() {
    let folder = TestFolder::new();
    let workspace = folder.path().to_str().unwrap().to_owned();
    let server = ServerUnderTest::start_with_args(&folder.data_path(), &["--workspace", &workspace]);
    let done = run_chat(&folder, &[], "/run approve subject=tea\nyes\n").expect(0);
    assert!(done.stdout.starts_with("assistant\n"), "{done:?}");
    assert!(done.stdout.contains("(offline-rules/1: rules, not a language model)\n"), "{done:?}");
    assert!(done.stdout.contains("approve | completed\n"), "{done:?}");
    let (status, list) = server.get("/api/runs?workflow=assistant").await;
    assert_eq!((status, list["runs"].as_array().unwrap().len()), (200, 1));
    let metrics = server.http.get(format!("{}/metrics", server.url)).send().await.unwrap();
    let metrics = metrics.text().await.unwrap();
    let turns = r#"trackway_turns_total{gen_ai_agent_name="assistant",outcome="completed"} 1"#;
    assert!(metrics.lines().any(|line| line == turns), "{metrics}");
}
