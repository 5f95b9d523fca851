//! Agents that start workflows that start agents: limited in depth and number, and cancelled with their
//! root.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::watch;
use trackway_domain::{Failure, Part, RunId, StateName};
use trackway_ports::RunFilter;
use trackway_runtime::{Program, ProgramStop};
use trackway_testkit::{ScriptedChatReply, TestProcess, local_run_address};

use super::harness::{
    AGENT, AgentHarness, child_runs, failure_reason, gated_workflow, load_log, run_turn, send_text,
    wait_until_ended, wait_until_idle, workflow,
};

/// Reports progress, and starts a turn of the agent.
fn again() -> Arc<dyn Program> {
    workflow("again", async |stage, _| {
        stage.report_status(vec![Part::text("begun")]).await;
        let started = stage.start_child_run(AGENT, json!({ "prompt": "Think again." })).await;
        match started {
            Ok(_) => Ok(Value::Null),
            Err(error) => Err(ProgramStop::Failed(Failure::new(error.to_string()))),
        }
    })
}

async fn runs(process: &TestProcess) -> Vec<RunId> {
    let rows = process.journal.list_runs(RunFilter::default(), None, 10_000).await.unwrap();
    rows.into_iter().map(|row| row.id).collect()
}

/// Issue 11, A2: a message to a model that always starts itself again ends without intervention, with a
/// tool result that gives the reason.
#[test]
fn an_agent_that_starts_itself_again_comes_to_an_end() {
    let desk = AgentHarness::new().with_workflow(again());
    desk.server.set_responder(|asked| {
        let messages = asked.body["messages"].as_array().unwrap();
        let turn = messages.iter().rev().take_while(|message| message["role"] != "user");
        let results = turn.filter(|message| message["role"] == "tool").count();
        let call = [("c1", "dispatch_workflow_again", r#"{"text":"x"}"#)];
        match results < 3 {
            true => ScriptedChatReply::default().with_tool_calls(&call).into(),
            false => ScriptedChatReply::default().with_text("Done.").into(),
        }
    });
    desk.run_process(async |process| {
        let run = send_text(&process, "m1", "Go.").await;
        wait_until_ended(&process, run).await;
        process.wait_until_quiet().await;
        let runs = runs(&process).await;
        assert!(runs.len() <= 101, "{} runs", runs.len());
        for run in runs {
            assert!(wait_until_idle(&process, run).await.state.is_terminal(), "{run}");
        }
    });
    let told: Vec<String> =
        desk.server.requests().iter().map(|asked| asked.body["messages"].to_string()).collect();
    let says = |text: &str| told.iter().any(|messages| messages.contains(text));
    assert!(says("100 agents and workflows were started from here already"));
    assert!(says("Nothing was started"));
}

/// Issue 11, A2: the depth of nested runs is limited.
#[test]
fn runs_start_each_other_only_so_deep() {
    let desk = AgentHarness::new().with_workflow(again());
    desk.server.set_responder(|asked| {
        let call = [("c1", "dispatch_workflow_again", r#"{"text":"x"}"#)];
        match asked.body["messages"].as_array().unwrap().last().unwrap()["role"] == "tool" {
            true => ScriptedChatReply::default().with_text("Done.").into(),
            false => ScriptedChatReply::default().with_tool_calls(&call).into(),
        }
    });
    desk.run_process(async |process| {
        let run = send_text(&process, "m1", "Go.").await;
        wait_until_ended(&process, run).await;
        process.wait_until_quiet().await;
        let mut deepest = run;
        let mut depth = 1;
        while let [child] = child_runs(&load_log(&process, deepest).await)[..] {
            deepest = child;
            depth += 1;
        }
        assert_eq!(depth, 8);
        let view = wait_until_idle(&process, deepest).await;
        assert_eq!(view.state, StateName::Failed);
        assert!(failure_reason(&view).contains("8 deep"), "{}", failure_reason(&view));
    });
}

/// Issue 11, A2: cancelling the root cancels everything that still runs below it, even below turns that
/// are over.
#[test]
fn a_cancel_of_the_root_reaches_the_whole_tree() {
    let (_release, released) = watch::channel(String::new());
    let desk = AgentHarness::new().with_workflow(again()).with_workflow(gated_workflow(
        released,
        Some("begun"),
        "never",
    ));
    desk.queue_tool_calls(&[("c1", "dispatch_workflow_again", json!({ "text": "x" }))]);
    desk.server.set_responder(|asked| {
        let messages = asked.body["messages"].to_string();
        let call = [("c2", "dispatch_workflow_slow", r#"{"text":"x"}"#)];
        match messages.contains("Think again.") && !messages.contains("c2") {
            true => ScriptedChatReply::default().with_tool_calls(&call).into(),
            false => ScriptedChatReply::default().with_text("Done.").into(),
        }
    });
    desk.run_process(async |process| {
        let root = run_turn(&process, "m1", "Go.").await.submission.run;
        let again = child_runs(&load_log(&process, root).await)[0];
        let inner = child_runs(&load_log(&process, again).await)[0];
        assert_eq!(wait_until_ended(&process, inner).await.state, StateName::Completed);
        let slow = child_runs(&load_log(&process, inner).await)[0];
        let view = process.cancel_run(&local_run_address(root)).await.unwrap();
        assert_eq!(view.state, StateName::Completed, "it is over, what is below it is not");
        assert_eq!(wait_until_idle(&process, slow).await.state, StateName::Canceled);
        process.cancel_run(&local_run_address(root)).await.unwrap_err();
    });
}
