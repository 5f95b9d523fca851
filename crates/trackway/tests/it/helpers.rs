//! Work that a workflow delegates to tools and agents, and the first answer that it gives to the run
//! that dispatched it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use trackway::{AgentFailed, RetryPolicy, Server, StepAttempt, StepFailed};
use trackway_agent::{
    AgentProgram, AgentResources, AgentSpec, ConfiguredModel, ResourcesSnapshot, TurnBudgets,
    provider::scripted_model::ScriptedModel,
};
use trackway_domain::{ChildFirstAnswerKind, Event, Part, StateName};
use trackway_runtime::{ProgramRegistry, Tools};
use trackway_testkit::{ProcessSetup, TestWorld};

use crate::support::{Probe, answer, event_names, load_log, start, wait_until_ended, wait_until_idle};

#[derive(Serialize, Deserialize, schemars::JsonSchema)]
struct Sum {
    a: i64,
    b: i64,
}

/// Adds, and fails for a sum of 13 until its third attempt.
fn sum(probe: &Probe) -> Arc<Tools> {
    let probe = probe.clone();
    let server = Server::new().tool("sum", "Adds.", move |Sum { a, b }, attempt: StepAttempt| {
        probe.mark(format!("sum {}", attempt.idempotency_key));
        async move { if a + b == 13 && attempt.number < 3 { Err("not this number") } else { Ok(a + b) } }
    });
    Arc::new(server.step_tools().unwrap())
}

workflow!(Adds, "adds", |_probe, ctx, arguments: Value| -> Value {
    let sum: Result<i64, StepFailed> = ctx.tool("sum", &arguments).await;
    let more: i64 = ctx.ask("How much more?").await;
    let sum = match sum {
        Ok(sum) => sum,
        Err(failed) => return Ok(json!([failed.step, failed.message])),
    };
    let again: i64 = ctx.tool("sum", &Sum { a: sum, b: more }).await?;
    Ok(json!(again))
});

/// Proves D7, L13, X2.
#[test]
fn a_tool_of_the_server_is_called_once_also_across_a_restart() {
    let (world, probe) = (TestWorld::with_sqlite_store(), Probe::new());
    let setup = || ProcessSetup::from(registry![Adds(probe.clone())]).with_tools(sum(&probe));
    let run = world.run_to_completion(setup(), async |process| {
        let run = start(&process, "adds", json!({ "a": 1, "b": 2 })).await;
        wait_until_idle(&process, run).await;
        run
    });
    world.run_to_completion(setup(), async |process| {
        answer(&process, run, "a", 4).await.unwrap();
        assert_eq!(wait_until_ended(&process, run).await.output, json!(7));
    });
    assert_eq!(probe.marks(), [format!("sum {run}/step:sum#0"), format!("sum {run}/step:sum#1")]);
}

/// Proves L10.
#[test]
fn a_call_that_fails_or_does_not_fit_is_an_error_and_not_the_end() {
    for (arguments, why) in [
        (json!({ "a": 6, "b": 7 }), "not this number"),
        (json!({ "a": 6 }), "its arguments do not fit"),
        (json!(null), "its arguments do not fit"),
    ] {
        let (world, probe) = (TestWorld::with_memory_store(), Probe::new());
        let setup = || ProcessSetup::from(registry![Adds(probe.clone())]).with_tools(sum(&probe));
        let run = world.run_to_completion(setup(), async |process| {
            let run = start(&process, "adds", arguments).await;
            assert_eq!(wait_until_idle(&process, run).await.state, StateName::InputRequired);
            run
        });
        world.run_to_completion(setup(), async |process| {
            answer(&process, run, "a", 1).await.unwrap();
            let view = wait_until_ended(&process, run).await;
            assert_eq!(view.output[0], "sum");
            assert!(view.output[1].as_str().unwrap().contains(why), "{:?}", view.output);
        });
    }
}

workflow!(Insists, "insists", |_probe, ctx, _input: Value| -> i64 {
    let policy = RetryPolicy { attempts: 3, backoff: Default::default(), ..Default::default() };
    Ok(ctx.tool("sum", &Sum { a: 6, b: 7 }).retry(policy).await?)
});

/// Proves L10.
#[test]
fn a_tool_is_tried_again_where_the_workflow_says_so() {
    let (world, probe) = (TestWorld::with_memory_store(), Probe::new());
    let setup = ProcessSetup::from(registry![Insists(probe.clone())]).with_tools(sum(&probe));
    world.run_to_completion(setup, async |process| {
        let run = start(&process, "insists", Value::Null).await;
        assert_eq!(wait_until_ended(&process, run).await.output, json!(13));
        assert_eq!(probe.count(&format!("sum {run}/step:sum#0")), 3, "under one key");
    });
}

/// Proves L13.
#[test]
fn a_run_whose_tool_is_not_there_waits_for_a_server_that_has_it() {
    let (world, probe) = (TestWorld::with_sqlite_store(), Probe::new());
    let run = world.run_to_completion(registry![Insists(probe.clone())], async |process| {
        let run = start(&process, "insists", Value::Null).await;
        let parked = wait_until_idle(&process, run).await.parked.unwrap();
        assert_eq!(parked.message, "the tool \"sum\" is not known here");
        run
    });
    let setup = ProcessSetup::from(registry![Insists(probe.clone())]).with_tools(sum(&probe));
    world.run_to_completion(setup, async |process| {
        assert_eq!(wait_until_ended(&process, run).await.output, json!(13));
    });
}

#[derive(Debug, Serialize, Deserialize, schemars::JsonSchema)]
struct Verdict {
    good: bool,
}

workflow!(Consults, "consults", |probe, ctx, agent: String| -> Value {
    let said = match ctx.agent(&agent, "What is it?").await {
        Ok(said) => said,
        Err(AgentFailed::NotStarted { name, .. }) => return Ok(json!(["not started", name])),
        Err(AgentFailed::Ended(ended)) => {
            return Ok(json!([ended.state.to_string(), ended.message]));
        }
    };
    probe.mark("said");
    let verdict: Verdict = ctx.agent_as(&agent, format!("Is {said} good?")).await?;
    Ok(json!([said, verdict.good]))
});

/// The workflows, and an agent whose model has this script.
pub(crate) fn with_agent(registry: ProgramRegistry, script: &str) -> ProgramRegistry {
    let provider = Arc::new(ScriptedModel::parse_script("test", script).unwrap());
    let mut stock = ResourcesSnapshot { default_model: "main".to_owned(), ..ResourcesSnapshot::default() };
    stock.models.insert("main".to_owned(), ConfiguredModel { provider, price: None });
    let spec = AgentSpec {
        name: "editor".to_owned(),
        description: "Edits.".to_owned(),
        model: None,
        tools: Vec::new(),
        workflows: vec!["*".to_owned()],
        peers: Vec::new(),
        approvals: Default::default(),
        budgets: TurnBudgets::default(),
        model_timeout: None,
        first_answer_timeouts: Default::default(),
        skills: Vec::new(),
        prompt: "You edit.".to_owned(),
    };
    registry.add_program(Arc::new(AgentProgram::new(spec, Arc::new(AgentResources::new(stock))))).unwrap();
    registry
}

/// Proves D7: an agent's answer is text, or a value of its schema after the errors were sent back to it.
#[test]
fn an_agent_is_asked_as_a_child_for_text_and_for_a_form() {
    let script = r#"
answers:
  - user: What is it
    text: A lamp.
  - user: Is A lamp. good
    text: '{"good": "very"}'
  - text: '{"good": true}'
"#;
    let world = TestWorld::with_memory_store();
    let registry = with_agent(registry![Consults(Probe::new())], script);
    world.run_to_completion(registry, async |process| {
        let run = start(&process, "consults", "editor").await;
        let view = wait_until_ended(&process, run).await;
        assert_eq!(view.output, json!(["A lamp.", true]), "{view:?}");
        let children = event_names(&process, run).await;
        assert_eq!(children.iter().filter(|name| **name == "child-ended").count(), 2);
    });
}

/// Proves L10.
#[test]
fn an_agent_that_is_not_there_or_fails_is_an_error_and_not_the_end() {
    let script = "answers: [{ fault: refused, reason: no money }]";
    for (agent, state, told) in [("nobody", "not started", "nobody"), ("editor", "failed", "money")] {
        let world = TestWorld::with_memory_store();
        let registry = with_agent(registry![Consults(Probe::new())], script);
        world.run_to_completion(registry, async |process| {
            let run = start(&process, "consults", agent).await;
            let output = wait_until_ended(&process, run).await.output;
            assert_eq!(output[0], state);
            assert!(output[1].as_str().unwrap().contains(told), "{output:?}");
        });
    }
}

workflow!(Answers, "answers", |_probe, ctx, _input: Value| -> () {
    ctx.dispatch_response([Part::text("Ready."), Part::data(json!({ "chains": [1] }))]).await;
    ctx.status("Only for those who watch").await;
    ctx.dispatch_response("too late").await;
    Ok(())
});

/// Proves D2, D3: the first answer is the one that the workflow gives, and no later one replaces it.
#[test]
fn a_workflow_can_say_what_its_first_answer_is() {
    let script = r#"
answers:
  - user: go
    calls: [{ tool: dispatch_workflow_answers, arguments: {} }]
  - text: Done.
"#;
    let world = TestWorld::with_memory_store();
    let registry = with_agent(registry![Answers(Probe::new())], script);
    world.run_to_completion(registry, async |process| {
        let run = start(&process, "editor", json!({ "prompt": "go" })).await;
        assert_eq!(wait_until_ended(&process, run).await.output["text"], "Done.");
        let told: Vec<_> = load_log(&process, run)
            .await
            .into_iter()
            .filter_map(|stored| match stored.event {
                Event::RunAnswered { answer, .. } => Some((answer.kind, answer.parts)),
                _ => None,
            })
            .collect();
        let parts = vec![Part::text("Ready."), Part::data(json!({ "chains": [1] }))];
        assert_eq!(told, [(ChildFirstAnswerKind::Answered, parts)]);
    });
}
