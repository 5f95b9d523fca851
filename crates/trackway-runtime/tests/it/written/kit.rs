//! A shelf of definitions and a tool that counts its calls, both of which outlast processes.

use std::{path::PathBuf, sync::Arc};

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::watch;
use trackway_domain::{Caller, Failure, RunId};
use trackway_engine::RunView;
use trackway_runtime::{
    Catalogue, Error, Offers, Registry, Submit, Submitted, Tool, ToolCall, ToolFuture, ToolInfo,
    Tools,
};
use trackway_testkit::{Process, Setup, answer_to, at};

/// Definitions, and the tool `do` that they call.
pub(crate) struct Shelf {
    folder: TempDir,
    done: Arc<watch::Sender<Vec<(String, String)>>>,
}

impl Shelf {
    pub(crate) fn with(file: &str, text: &str) -> Self {
        let shelf = Self {
            folder: tempfile::tempdir().unwrap(),
            done: Arc::new(watch::Sender::new(Vec::new())),
        };
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
        tools.add(Arc::new(Do { info: info(), done: self.done.clone() }));
        Arc::new(tools)
    }

    /// What the files offer to a registry.
    pub(crate) fn offers(&self, registry: &Registry) -> Offers {
        let catalogue = Arc::new(Catalogue::new(vec![self.folder.path().to_owned()]));
        assert_eq!(catalogue.list().invalid, []);
        Offers::new(catalogue, registry, self.tools())
    }

    /// A process with what the files offer now.
    pub(crate) fn setup(&self) -> Setup {
        let registry = Registry::new();
        self.offers(&registry).renew(&registry);
        Setup::from(registry).tools(self.tools())
    }

    /// What the tool was told to do, in the order of its calls.
    pub(crate) fn calls(&self) -> Vec<String> {
        self.done.borrow().iter().map(|(what, _)| what.clone()).collect()
    }

    /// The same in order of the texts.
    pub(crate) fn sorted(&self) -> Vec<String> {
        let mut calls = self.calls();
        calls.sort();
        calls
    }

    /// The idempotency keys of its calls.
    pub(crate) fn keys(&self) -> Vec<String> {
        self.done.borrow().iter().map(|(_, key)| key.clone()).collect()
    }

    /// Resolves when it was called so many times.
    pub(crate) async fn until(&self, times: usize) {
        self.done.subscribe().wait_for(|done| done.len() >= times).await.unwrap();
    }
}

#[derive(Debug)]
struct Do {
    info: ToolInfo,
    done: Arc<watch::Sender<Vec<(String, String)>>>,
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
    }
}

impl Tool for Do {
    fn info(&self) -> &ToolInfo {
        &self.info
    }

    fn call(&self, arguments: Value, call: ToolCall) -> ToolFuture {
        let what = arguments["what"].as_str().unwrap_or_default().to_owned();
        let done = self.done.clone();
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
    process: &Process,
    workflow: &str,
    input: Value,
) -> Result<Submitted, Error> {
    let submit = Submit {
        workflow: workflow.to_owned(),
        input,
        caller: Caller::local(),
        session: None,
        message: None,
        hook: None,
    };
    process.submit(submit).await
}

pub(crate) async fn start(process: &Process, workflow: &str, input: Value) -> RunId {
    submit(process, workflow, input).await.unwrap().view.submission.run
}

/// Answers the run's open question.
pub(crate) async fn answer(process: &Process, run: RunId, input: Value) {
    let id = format!("answer-{}", process.fresh_id());
    process.deliver(answer_to(run, &id, input)).await.unwrap();
}

/// The run once it is interrupted, ended or parked.
pub(crate) async fn settled(process: &Process, run: RunId) -> RunView {
    let view = process.view(&at(run)).await.unwrap();
    process.settled(view).await.unwrap()
}

/// The run's end, waited for.
pub(crate) async fn ended(process: &Process, run: RunId) -> RunView {
    let mut watch = process.watch(&at(run), 0).await.unwrap();
    while watch.next().await.unwrap().is_some() {}
    process.view(&at(run)).await.unwrap()
}
