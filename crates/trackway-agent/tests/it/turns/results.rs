//! A turn continues with any result of tools and workflows, within limits.

use serde_json::{Value, json};
use trackway_domain::{Event, Failure, StateName, StepOutcome};

use super::harness::{AgentHarness, find_artifact, load_log, run_turn, text_artifact, tool, workflow};

/// The most that is recorded for one result: the longest message, and the overhead of JSON.
const RECORD_BYTES_MAX: usize = 400 * 1024;

fn nested(levels: usize) -> Value {
    (1..levels).fold(json!(1), |inner, _| json!([inner]))
}

/// Neither arguments nor results that are nested too deeply to be recorded end a turn: such arguments
/// give an error, and such results become text.
#[test]
fn deep_json_does_not_end_a_turn() {
    let desk = AgentHarness::new()
        .with_tool(tool("dig", |_, _| Box::pin(async { Ok(Value::String(nested(120).to_string()).into()) })));
    desk.queue_tool_calls(&[
        ("c1", "dig", json!({ "text": "x", "more": nested(97) })),
        ("c2", "dig", json!({ "text": "x", "more": nested(80) })),
    ]);
    desk.queue_text("Deep.");
    desk.run_process(async |process| {
        let view = run_turn(&process, "m1", "Dig.").await;
        assert_eq!(view.state, StateName::Completed, "{view:?}");
        let shown = &find_artifact(&view, "tool-result-dig.2").parts;
        assert_eq!(shown[0].as_text(), Some(&*nested(120).to_string()));
    });
    let told = desk.tool_result(1, "c1").to_string();
    assert!(told.contains("nested deeper than 90 levels"), "{told}");
}

/// Failures and dispatches have the limits of every other result, in the log and in the request.
#[test]
fn failures_and_dispatches_are_bounded() {
    let long = "x".repeat(2 * 1024 * 1024);
    let desk = AgentHarness::new()
        .with_tool(tool("fail", {
            let long = long.clone();
            move |_, _| {
                let failure = Failure::new(long.clone());
                Box::pin(async move { Err(failure) })
            }
        }))
        .with_workflow(workflow("write", move |stage, _| {
            let artifact = text_artifact("long.txt", &long);
            async move {
                stage.emit_artifact(artifact.into()).await;
                Ok(Value::Null)
            }
        }));
    desk.queue_tool_calls(&[
        ("c1", "fail", json!({ "text": "x" })),
        ("c2", "dispatch_workflow_write", json!({ "text": "x" })),
    ]);
    desk.queue_text("Long.");
    desk.run_process(async |process| {
        let view = run_turn(&process, "m1", "Go.").await;
        assert_eq!(view.state, StateName::Completed);
        let mut results = 0;
        for event in load_log(&process, view.submission.run).await {
            if let Event::StepDone { op, outcome: StepOutcome::Ok(value) } = event
                && op.key.starts_with("call ")
            {
                results += 1;
                assert!(value.to_string().len() < RECORD_BYTES_MAX, "{op}");
            }
        }
        assert_eq!(results, 2);
    });
    assert!(desk.server.requests()[1].body.to_string().len() < 2 * RECORD_BYTES_MAX);
    let told = desk.tool_result(1, "c2");
    assert_eq!(told["outcome"], "answered");
    assert!(told["result"][0]["text"].as_str().unwrap().ends_with(" bytes are shown)"));
}
