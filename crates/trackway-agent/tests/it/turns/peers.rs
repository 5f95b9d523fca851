//! Tools of peers in a turn: they come from a source that changes while a conversation runs.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use serde_json::{Value, json};
use trackway_agent::{
    AgentLoader, AgentProgram, AgentResources, AgentSpec, ToolPermission, WORKFLOW_INPUT_NOTE,
};
use trackway_domain::{Caller, StateName};
use trackway_runtime::{
    ProgramRegistry, Tool, ToolCallContext, ToolFuture, ToolInfo, ToolOrigin, ToolOutput, ToolSource,
    ToolSourceSnapshot, UnavailableTool,
};
use trackway_testkit::{TestProcess, answer_delivery};

use super::harness::{AgentHarness, run_turn, send_text, text_schema, wait_until_ended, wait_until_idle};

/// A workflow of a peer. Its call changes the source.
#[derive(Debug)]
struct PeerWorkflow {
    info: ToolInfo,
    source: Arc<ChangingSource>,
}

impl Tool for PeerWorkflow {
    fn info(&self) -> &ToolInfo {
        &self.info
    }

    fn checks_own_arguments(&self) -> bool {
        true
    }

    fn call(&self, arguments: Value, _: ToolCallContext) -> ToolFuture {
        let (source, peer) = (self.source.clone(), self.info.origin.peer_name().unwrap().to_owned());
        Box::pin(async move {
            // The peer leaves, and another one arrives.
            source.offer(&["billing"], &[&peer]);
            let is_error = arguments.get("text").is_none();
            let status = if is_error { "invalid_input" } else { "completed" };
            Ok(ToolOutput { value: json!({ "status": status }), parts: Vec::new(), is_error })
        })
    }
}

#[derive(Debug, Default)]
struct ChangingSource {
    current: Mutex<Arc<ToolSourceSnapshot>>,
    this: std::sync::Weak<Self>,
}

impl ChangingSource {
    fn new(peers: &[&str]) -> Arc<Self> {
        let source = Arc::new_cyclic(|this| Self { this: this.clone(), ..Self::default() });
        source.offer(peers, &[]);
        source
    }

    fn offer(&self, peers: &[&str], down: &[&str]) {
        let tools = peers.iter().map(|peer| self.tool(peer)).collect();
        let reason =
            |peer: &&str| UnavailableTool { peer: (*peer).to_owned(), reason: "it is down".to_owned() };
        let unavailable: BTreeMap<String, UnavailableTool> =
            down.iter().map(|peer| (format!("workflow_{peer}"), reason(peer))).collect();
        let mut current = self.current.lock().unwrap();
        let generation = current.generation + 1;
        *current = Arc::new(ToolSourceSnapshot { generation, tools, unavailable });
    }

    fn tool(&self, peer: &str) -> Arc<dyn Tool> {
        let info = ToolInfo {
            name: format!("workflow_{peer}"),
            description: format!("Does {peer}."),
            input_schema: text_schema(),
            origin: ToolOrigin::PeerWorkflow { peer: peer.to_owned() },
        };
        Arc::new(PeerWorkflow { info, source: self.this.upgrade().unwrap() })
    }
}

impl ToolSource for ChangingSource {
    fn tools_for_caller(&self, _: &Caller) -> Arc<ToolSourceSnapshot> {
        self.current.lock().unwrap().clone()
    }

    fn find_peer_tool(&self, _: &Caller, peer: &str) -> Option<Arc<dyn Tool>> {
        Some(self.tool(peer))
    }
}

fn run_with_source<T>(
    desk: &AgentHarness,
    spec: &AgentSpec,
    source: Arc<ChangingSource>,
    client: impl AsyncFnOnce(TestProcess) -> T,
) -> T {
    let resources = Arc::new(AgentResources::new(desk.snapshot.clone()));
    resources.set_tool_source(source);
    let registry = ProgramRegistry::new();
    registry.add_program(Arc::new(AgentProgram::new(spec.clone(), resources.clone()))).unwrap();
    registry.add_program_loader(Arc::new(AgentLoader(resources)));
    desk.world.run_to_completion(registry, async |process| client(process).await)
}

/// The tools of a model request, and whether its prompt explains the two ways of input.
fn offered(desk: &AgentHarness, request: usize) -> (Vec<String>, bool) {
    let body = desk.server.requests()[request].body.clone();
    let tools = body["tools"].as_array().cloned().unwrap_or_default();
    let names = tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap().to_owned()).collect();
    let system = desk.request_messages(request)[0]["content"].as_str().unwrap_or_default().to_owned();
    (names, system.contains(WORKFLOW_INPUT_NOTE))
}

/// Proves I3 and I8: the set is rebuilt before every model call of a turn, also while a call of a tool that has
/// left the set is answered; a name that is gone is told with the reason.
#[test]
fn the_toolset_follows_the_source_within_a_turn() {
    let desk = AgentHarness::new();
    let spec = AgentSpec { peers: vec!["*".to_owned()], ..desk.spec.clone() };
    desk.queue_tool_calls(&[("c1", "workflow_onboarding", json!({ "text": "x" }))]);
    desk.queue_tool_calls(&[("c2", "workflow_onboarding", json!({ "text": "x" }))]);
    desk.queue_text("Done.");
    run_with_source(&desk, &spec, ChangingSource::new(&["onboarding"]), async |process| {
        run_turn(&process, "m1", "Onboard John.").await
    });
    assert_eq!(offered(&desk, 0), (vec!["workflow_onboarding".to_owned()], true));
    assert_eq!(offered(&desk, 1), (vec!["workflow_billing".to_owned()], true));
    assert_eq!(desk.tool_result(1, "c1"), json!({ "status": "completed" }));
    let told = desk.tool_result(2, "c2");
    assert!(
        told.as_str().unwrap().contains("`onboarding`") && told.as_str().unwrap().contains("it is down"),
        "{told}"
    );

    let none = AgentHarness::new();
    none.queue_text("Hi.");
    run_with_source(&none, &none.spec, ChangingSource::new(&["onboarding"]), async |process| {
        run_turn(&process, "m1", "Hi.").await
    });
    assert_eq!(offered(&none, 0), (Vec::new(), false), "without `peers` there are none");
}

/// A result that is an error is told as one, with its value.
#[test]
fn an_error_of_a_peer_keeps_its_form() {
    let desk = AgentHarness::new();
    let spec = AgentSpec { peers: vec!["on*".to_owned()], ..desk.spec.clone() };
    desk.queue_tool_calls(&[("c1", "workflow_onboarding", json!({}))]);
    desk.queue_text("Sorry.");
    run_with_source(&desk, &spec, ChangingSource::new(&["onboarding"]), async |process| {
        run_turn(&process, "m1", "Onboard.").await
    });
    assert_eq!(desk.tool_result(1, "c1"), json!({ "status": "invalid_input" }));
    assert_eq!(offered(&desk, 1), (Vec::new(), false), "the new peer is not selected");
}

/// `approvals` cover a peer by its name: a person is asked before anything is called.
#[test]
fn a_person_is_asked_before_a_peer_is_called() {
    let desk = AgentHarness::new();
    let approvals = BTreeMap::from([("onboarding".to_owned(), ToolPermission::Ask)]);
    let spec = AgentSpec { peers: vec!["*".to_owned()], approvals, ..desk.spec.clone() };
    desk.queue_tool_calls(&[("c1", "workflow_onboarding", json!({ "text": "x" }))]);
    desk.queue_text("Done.");
    let source = ChangingSource::new(&["onboarding"]);
    run_with_source(&desk, &spec, source.clone(), async |process| {
        let run = send_text(&process, "m1", "Onboard John.").await;
        let view = wait_until_idle(&process, run).await;
        assert_eq!(view.state, StateName::InputRequired);
        assert_eq!(source.current.lock().unwrap().generation, 1, "nothing was called");
        process.deliver_message(answer_delivery(run, "a1", json!({ "approved": true }))).await.unwrap();
        wait_until_ended(&process, run).await
    });
    assert_eq!(desk.tool_result(1, "c1"), json!({ "status": "completed" }));
}
