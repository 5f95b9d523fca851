//! Agents that start workflows that start agents: limited in depth and number, and cancelled with their
//! root.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::watch;
use trackway_domain::{Failure, Part, RunId, StateName};
use trackway_ports::RunFilter;
use trackway_runtime::{Program, Stop};
use trackway_testkit::{ChatReply, Process, at};

use super::kit::{AGENT, Desk, children, ended, log, reason, rested, say, slow, turn, workflow};

/// Reports progress, and starts a turn of the agent.
fn again() -> Arc<dyn Program> {
    workflow("again", async |stage, _| {
        stage.status(vec![Part::text("begun")]).await;
        let started = stage.start_child(AGENT, json!({ "prompt": "Think again." })).await;
        match started {
            Ok(_) => Ok(Value::Null),
            Err(error) => Err(Stop::Failed(Failure::new(error.to_string()))),
        }
    })
}

async fn runs(process: &Process) -> Vec<RunId> {
    let rows = process.journal.runs(RunFilter::default(), None, 10_000).await.unwrap();
    rows.into_iter().map(|row| row.id).collect()
}

/// Issue 11, A2: a message to a model that always starts itself again ends without intervention, with a
/// tool result that gives the reason.
#[test]
fn an_agent_that_starts_itself_again_comes_to_an_end() {
    let desk = Desk::new().workflow(again());
    desk.server.respond(|asked| {
        let messages = asked.body["messages"].as_array().unwrap();
        let turn = messages.iter().rev().take_while(|message| message["role"] != "user");
        let results = turn.filter(|message| message["role"] == "tool").count();
        let call = [("c1", "dispatch_workflow_again", r#"{"text":"x"}"#)];
        match results < 3 {
            true => ChatReply::default().calls(&call).into(),
            false => ChatReply::default().says("Done.").into(),
        }
    });
    desk.run(async |process| {
        let run = say(&process, "m1", "Go.").await;
        ended(&process, run).await;
        process.quiet().await;
        let runs = runs(&process).await;
        assert!(runs.len() <= 101, "{} runs", runs.len());
        for run in runs {
            assert!(rested(&process, run).await.state.is_terminal(), "{run}");
        }
    });
    let told: Vec<String> =
        desk.server.asked().iter().map(|asked| asked.body["messages"].to_string()).collect();
    let says = |text: &str| told.iter().any(|messages| messages.contains(text));
    assert!(says("100 agents and workflows were started from here already"));
    assert!(says("Nothing was started"));
}

/// Issue 11, A2: the depth of nested runs is limited.
#[test]
fn runs_start_each_other_only_so_deep() {
    let desk = Desk::new().workflow(again());
    desk.server.respond(|asked| {
        let call = [("c1", "dispatch_workflow_again", r#"{"text":"x"}"#)];
        match asked.body["messages"].as_array().unwrap().last().unwrap()["role"] == "tool" {
            true => ChatReply::default().says("Done.").into(),
            false => ChatReply::default().calls(&call).into(),
        }
    });
    desk.run(async |process| {
        let run = say(&process, "m1", "Go.").await;
        ended(&process, run).await;
        process.quiet().await;
        let mut deepest = run;
        let mut depth = 1;
        while let [child] = children(&log(&process, deepest).await)[..] {
            deepest = child;
            depth += 1;
        }
        assert_eq!(depth, 8);
        let view = rested(&process, deepest).await;
        assert_eq!(view.state, StateName::Failed);
        assert!(reason(&view).contains("8 deep"), "{}", reason(&view));
    });
}

/// Issue 11, A2: cancelling the root cancels everything that still runs below it, even below turns that
/// are over.
#[test]
fn a_cancel_of_the_root_reaches_the_whole_tree() {
    let (_release, released) = watch::channel(String::new());
    let desk = Desk::new().workflow(again()).workflow(slow(released, Some("begun"), "never"));
    desk.calls(&[("c1", "dispatch_workflow_again", json!({ "text": "x" }))]);
    desk.server.respond(|asked| {
        let messages = asked.body["messages"].to_string();
        let call = [("c2", "dispatch_workflow_slow", r#"{"text":"x"}"#)];
        match messages.contains("Think again.") && !messages.contains("c2") {
            true => ChatReply::default().calls(&call).into(),
            false => ChatReply::default().says("Done.").into(),
        }
    });
    desk.run(async |process| {
        let root = turn(&process, "m1", "Go.").await.submission.run;
        let again = children(&log(&process, root).await)[0];
        let inner = children(&log(&process, again).await)[0];
        assert_eq!(ended(&process, inner).await.state, StateName::Completed);
        let slow = children(&log(&process, inner).await)[0];
        let view = process.cancel(&at(root)).await.unwrap();
        assert_eq!(view.state, StateName::Completed, "it is over, what is below it is not");
        assert_eq!(rested(&process, slow).await.state, StateName::Canceled);
        process.cancel(&at(root)).await.unwrap_err();
    });
}
