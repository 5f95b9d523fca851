//! A set is kept exactly as long as nothing changes.

use serde_json::Value;
use trackway_domain::Caller;
use trackway_runtime::{
    ProgramFuture, ProgramInfo, ProgramRegistry, Stage, Tool, ToolCallContext, ToolFuture, ToolInfo,
};

use super::*;
use crate::{AgentResources, toolset::tests};

#[derive(Debug)]
struct Flow(ProgramInfo);

impl Program for Flow {
    fn info(&self) -> &ProgramInfo {
        &self.0
    }

    fn run(&self, _: Stage, input: Value) -> ProgramFuture {
        Box::pin(async { Ok(input) })
    }
}

#[derive(Debug)]
struct Quiet(ToolInfo);

impl Tool for Quiet {
    fn info(&self) -> &ToolInfo {
        &self.0
    }

    fn call(&self, arguments: Value, _: ToolCallContext) -> ToolFuture {
        Box::pin(async { Ok(arguments.into()) })
    }
}

fn flow(name: &str, version: &str) -> Arc<dyn Program> {
    let info = ProgramInfo { version: version.into(), ..tests::workflow(name) };
    let description = format!("Version {version}.");
    Arc::new(Flow(ProgramInfo { description, ..info }))
}

fn stock(tools: &[&str]) -> ResourcesSnapshot {
    let tool = |name: &&str| Arc::new(Quiet(tests::tool(name))) as Arc<dyn Tool>;
    ResourcesSnapshot { tools: tools.iter().map(tool).collect(), ..ResourcesSnapshot::default() }
}

/// The set for a model call, and its content.
fn look(
    workshop: &AgentResources,
    spec: &Arc<AgentSpec>,
    registry: &ProgramRegistry,
) -> (Arc<Toolset>, Vec<String>) {
    let peer_tools = workshop.peer_tools_for_caller(&Caller::local_without_auth());
    let set = workshop.toolset_for_agent(
        spec,
        &workshop.current_snapshot(),
        &peer_tools,
        &registry.list_current_programs(),
    );
    let named = set.tool_specs().iter().map(|it| format!("{}: {}", it.name, it.description)).collect();
    (set, named)
}

#[test]
fn toolset_is_rebuilt_only_after_a_change() {
    let workshop = AgentResources::new(stock(&["time"]));
    let registry = ProgramRegistry::new();
    registry.add_program(flow("echo", "1")).unwrap();
    let spec = Arc::new(tests::agent(&["*"], &["*"], &[]));

    let (first, named) = look(&workshop, &spec, &registry);
    assert_eq!(named, ["dispatch_workflow_echo: Version 1.", "time: Does time."]);
    assert!(Arc::ptr_eq(&first, &look(&workshop, &spec, &registry).0), "nothing has changed");
    assert!(Arc::ptr_eq(&first.tool_specs()[0], &first.tool_specs()[0]), "nothing is copied");

    workshop.replace_snapshot(stock(&["time", "weather"]));
    let (_, named) = look(&workshop, &spec, &registry);
    assert_eq!(named.last().unwrap(), "weather: Does weather.");

    registry.set_current_program(flow("echo", "2")).unwrap();
    assert_eq!(look(&workshop, &spec, &registry).1[0], "dispatch_workflow_echo: Version 2.");
    registry.add_program(flow("ask", "1")).unwrap();
    assert_eq!(look(&workshop, &spec, &registry).1[0], "dispatch_workflow_ask: Version 1.");
    registry.withdraw_program("ask");
    registry.withdraw_program("echo");
    assert_eq!(look(&workshop, &spec, &registry).1[0], "time: Does time.");

    let other = Arc::new(tests::agent(&[], &["*"], &[]));
    assert!(look(&workshop, &other, &registry).1.is_empty(), "another agent has its own");
}

#[test]
fn cache_is_bounded_and_keeps_nothing_alive() {
    let workshop = AgentResources::default();
    let registry = ProgramRegistry::new();
    let specs: Vec<_> = (0..KEPT_MAX + 1).map(|_| Arc::new(tests::agent(&[], &[], &[]))).collect();
    let sets: Vec<_> = specs.iter().map(|spec| look(&workshop, spec, &registry).0).collect();
    let again = |at: usize| look(&workshop, &specs[at], &registry).0;
    assert!(Arc::ptr_eq(&sets[KEPT_MAX], &again(KEPT_MAX)));
    assert!(Arc::ptr_eq(&sets[1], &again(1)));
    assert!(!Arc::ptr_eq(&sets[0], &again(0)), "the oldest made room");

    let stock = workshop.current_snapshot();
    workshop.replace_snapshot(ResourcesSnapshot::default());
    assert_eq!(Arc::strong_count(&stock), 1);
    assert_eq!(Arc::strong_count(&specs[0]), 1);
}
