//! A folder of definitions and a tool that counts its calls. Both outlive processes.

use std::{path::PathBuf, sync::Arc};

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::watch;
use trackway_domain::{Caller, Failure, RunId};
use trackway_engine::RunView;
use trackway_runtime::{
    Catalogue, CatalogueSync, Error, ProgramRegistry, SubmitRunRequest, SubmitRunResponse, Tool,
    ToolCallContext, ToolFuture, ToolInfo, ToolOrigin, Tools,
};
use trackway_testkit::{ProcessSetup, TestProcess, answer_delivery, local_run_address};

/// Definitions, and the tool `do` that they call.
pub(crate) struct DefinitionFolder {
    folder: TempDir,
    calls: Arc<watch::Sender<Vec<(String, String)>>>,
}

impl DefinitionFolder {
    pub(crate) fn with_file(file: &str, text: &str) -> Self {
        let shelf =
            Self { folder: tempfile::tempdir().unwrap(), calls: Arc::new(watch::Sender::new(Vec::new())) };
        shelf.write(file, text);
        shelf
    }

    pub(crate) fn write(&self, file: &str, text: &str) {
        std::fs::write(self.file(file), text).unwrap();
    }

    pub(crate) fn remove(&self, file: &str) {
        std::fs::remove_file(self.file(file)).unwrap();
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn tools(&self) -> Arc<Tools> {
        let mut tools = Tools::default();
        tools.add_tool(Arc::new(RecordingTool { info: info(), calls: self.calls.clone() }));
        Arc::new(tools)
    }

    /// A sync of the files with a registry.
    pub(crate) fn catalogue_sync(&self, registry: &ProgramRegistry) -> CatalogueSync {
        let catalogue = Arc::new(Catalogue::new(vec![self.folder.path().to_owned()]));
        assert_eq!(catalogue.list_definitions().invalid, []);
        CatalogueSync::new(catalogue, registry, self.tools())
    }

    /// A process with the programs of the current files.
    pub(crate) fn setup(&self) -> ProcessSetup {
        let registry = ProgramRegistry::new();
        self.catalogue_sync(&registry).sync_program_registry(&registry);
        ProcessSetup::from(registry).with_tools(self.tools())
    }

    /// The arguments of the tool's calls, in order.
    pub(crate) fn calls(&self) -> Vec<String> {
        self.calls.borrow().iter().map(|(what, _)| what.clone()).collect()
    }

    /// The same, sorted.
    pub(crate) fn sorted_calls(&self) -> Vec<String> {
        let mut calls = self.calls();
        calls.sort();
        calls
    }

    /// The idempotency keys of its calls.
    pub(crate) fn idempotency_keys(&self) -> Vec<String> {
        self.calls.borrow().iter().map(|(_, key)| key.clone()).collect()
    }

    /// Resolves when it was called this many times.
    pub(crate) async fn wait_for_calls(&self, times: usize) {
        self.calls.subscribe().wait_for(|done| done.len() >= times).await.unwrap();
    }
}

#[derive(Debug)]
struct RecordingTool {
    info: ToolInfo,
    calls: Arc<watch::Sender<Vec<(String, String)>>>,
}

fn info() -> ToolInfo {
    ToolInfo {
        name: "do".to_owned(),
        description: "Does something, or fails where it is told to.".to_owned(),
        input_schema: json!({
            "type": "object",
            "required": ["what"],
            "properties": { "what": { "type": "string" } }
        }),
        origin: ToolOrigin::Local,
    }
}

impl Tool for RecordingTool {
    fn info(&self) -> &ToolInfo {
        &self.info
    }

    fn call(&self, arguments: Value, call: ToolCallContext) -> ToolFuture {
        let what = arguments["what"].as_str().unwrap_or_default().to_owned();
        let done = self.calls.clone();
        Box::pin(async move {
            done.send_modify(|done| done.push((what.clone(), call.attempt.idempotency_key)));
            match what.as_str() {
                "fail" => Err(Failure::new("it was told to fail")),
                _ => Ok(json!({ "did": what }).into()),
            }
        })
    }
}

pub(crate) async fn submit(
    process: &TestProcess,
    workflow: &str,
    input: Value,
) -> Result<SubmitRunResponse, Error> {
    let submit = SubmitRunRequest::new(workflow, input, Caller::local_without_auth());
    process.submit_run(submit).await
}

pub(crate) async fn start_run(process: &TestProcess, workflow: &str, input: Value) -> RunId {
    submit(process, workflow, input).await.unwrap().view.submission.run
}

/// Answers the run's open question.
pub(crate) async fn answer_question(process: &TestProcess, run: RunId, input: Value) {
    let id = format!("answer-{}", process.new_uuid());
    process.deliver_message(answer_delivery(run, &id, input)).await.unwrap();
}

/// The run once it is interrupted, ended or parked.
pub(crate) async fn wait_until_idle(process: &TestProcess, run: RunId) -> RunView {
    let view = process.current_run_view(&local_run_address(run)).await.unwrap();
    process.wait_until_run_idle(view).await.unwrap()
}

/// The run's end, waited for.
pub(crate) async fn wait_until_ended(process: &TestProcess, run: RunId) -> RunView {
    let mut watch = process.watch_run(&local_run_address(run), 0).await.unwrap();
    while watch.next_event().await.unwrap().is_some() {}
    process.current_run_view(&local_run_address(run)).await.unwrap()
}
