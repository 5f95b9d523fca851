//! What the tests here share: small workflows, a probe into them, and short ways to talk to a process.

use std::{fs::File, io::Write, path::PathBuf, sync::Arc};

use serde_json::Value;
use tokio::sync::watch;
use trackway_domain::{Caller, Event, Part, RunId};
use trackway_engine::RunView;
use trackway_ports::StoredEvent;
use trackway_runtime::{DeliverMessageResponse, Error, SubmitRunRequest, SubmitRunResponse};
use trackway_testkit::{
    TestProcess, answer_delivery, load_full_log, local_run_address, summarize_updates, user_message,
};

/// A registry of these workflows.
macro_rules! registry {
    ($($workflow:expr),* $(,)?) => {
        trackway::Server::new()$(.workflow($workflow))*.workflow_registry().unwrap()
    };
}

/// A workflow whose one field is a probe: `workflow!(Type, "name", |probe, ctx, input: In| -> Out { … });`
/// with an optional version and deadline after the name.
macro_rules! workflow {
    ($type:ident, $name:literal, |$probe:ident, $ctx:ident, $input:ident: $in:ty| -> $out:ty $body:block) => {
        workflow!($type, $name, "1", None, |$probe, $ctx, $input: $in| -> $out $body);
    };
    ($type:ident, $name:literal, $version:literal, |$probe:ident, $ctx:ident, $input:ident: $in:ty| -> $out:ty $body:block) => {
        workflow!($type, $name, $version, None, |$probe, $ctx, $input: $in| -> $out $body);
    };
    ($type:ident, $name:literal, $version:literal, $deadline:expr, |$probe:ident, $ctx:ident, $input:ident: $in:ty| -> $out:ty $body:block) => {
        struct $type($crate::support::Probe);

        impl trackway::Workflow for $type {
            const NAME: &'static str = $name;
            const VERSION: &'static str = $version;
            const DESCRIPTION: &'static str = "A workflow of the tests.";
            const DEADLINE: Option<std::time::Duration> = $deadline;
            type Input = $in;
            type Output = $out;

            async fn run(
                self: std::sync::Arc<Self>,
                $ctx: trackway::Ctx,
                $input: $in,
            ) -> Result<$out, trackway::Stop> {
                let $probe = &self.0;
                $body
            }
        }
    };
}

/// Observes workflows and pauses them. It outlives processes; clones share their state.
#[derive(Clone, Default)]
pub(crate) struct Probe {
    marks: Arc<Marks>,
    ledger: Option<PathBuf>,
}

#[derive(Default)]
struct Marks(watch::Sender<Vec<String>>);

impl Probe {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// A probe that appends side effects to this file, one per line.
    pub(crate) fn with_ledger(ledger: PathBuf) -> Self {
        Self { ledger: Some(ledger), ..Self::default() }
    }

    pub(crate) fn append_to_ledger(&self, line: &str) {
        let ledger = self.ledger.as_ref().unwrap();
        let mut file = File::options().append(true).create(true).open(ledger).unwrap();
        writeln!(file, "{line}").unwrap();
    }

    pub(crate) fn mark(&self, text: impl Into<String>) {
        self.marks.0.send_modify(|marks| marks.push(text.into()));
    }

    pub(crate) fn marks(&self) -> Vec<String> {
        self.marks.0.borrow().clone()
    }

    pub(crate) fn count(&self, text: &str) -> usize {
        self.marks.0.borrow().iter().filter(|mark| *mark == text).count()
    }

    /// Resolves when this was marked so many times.
    pub(crate) async fn wait_for_mark(&self, text: &str, times: usize) {
        let enough = |marks: &Vec<String>| marks.iter().filter(|mark| *mark == text).count() >= times;
        self.marks.0.subscribe().wait_for(enough).await.unwrap();
    }

    /// Waits here until the gate is opened; it stays open.
    pub(crate) async fn wait_at_gate(&self, name: &str) {
        self.mark(format!("at {name}"));
        self.wait_for_mark(&format!("open {name}"), 1).await;
    }

    pub(crate) fn open_gate(&self, name: &str) {
        self.mark(format!("open {name}"));
    }

    /// Marks when it is dropped.
    pub(crate) fn guard(&self, text: &str) -> Guard {
        Guard(self.clone(), text.to_owned())
    }
}

pub(crate) struct Guard(Probe, String);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.mark(self.1.clone());
    }
}

/// Starts a run.
pub(crate) async fn start(process: &TestProcess, workflow: &str, input: impl Into<Value>) -> RunId {
    let submit = SubmitRunRequest::new(workflow, input.into(), Caller::local_without_auth());
    process.submit_run(submit).await.unwrap().view.submission.run
}

/// Starts a run by a message with this id.
pub(crate) async fn start_as(
    process: &TestProcess,
    id: &str,
    workflow: &str,
    input: impl Into<Value>,
) -> Result<SubmitRunResponse, Error> {
    let input = input.into();
    let submit = SubmitRunRequest {
        message: Some(user_message(id, Part::data(input.clone()))),
        ..SubmitRunRequest::new(workflow, input, Caller::local_without_auth())
    };
    process.submit_run(submit).await
}

pub(crate) async fn answer(
    process: &TestProcess,
    run: RunId,
    id: &str,
    answer: impl Into<Value>,
) -> Result<DeliverMessageResponse, Error> {
    process.deliver_message(answer_delivery(run, id, answer.into())).await
}

/// The run once it is interrupted, ended or parked.
pub(crate) async fn wait_until_idle(process: &TestProcess, run: RunId) -> RunView {
    let view = process.current_run_view(&local_run_address(run)).await.unwrap();
    process.wait_until_run_idle(view).await.unwrap()
}

/// Waits for the first event that fits.
pub(crate) async fn wait_for_event(
    process: &TestProcess,
    run: RunId,
    fits: impl Fn(&Event) -> bool,
) -> StoredEvent {
    let mut watch = process.watch_run(&local_run_address(run), 0).await.unwrap();
    loop {
        let next = watch.next_event().await.unwrap();
        let stored = next.unwrap_or_else(|| panic!("{run} ended without it"));
        if fits(&stored.event) {
            return stored;
        }
    }
}

/// Waits for the end of the run.
pub(crate) async fn wait_until_ended(process: &TestProcess, run: RunId) -> RunView {
    let mut watch = process.watch_run(&local_run_address(run), 0).await.unwrap();
    while watch.next_event().await.unwrap().is_some() {}
    process.current_run_view(&local_run_address(run)).await.unwrap()
}

/// Every event of the run that is stored.
pub(crate) async fn load_log(process: &TestProcess, run: RunId) -> Vec<StoredEvent> {
    load_full_log(&*process.journal, run).await.unwrap()
}

/// The visible updates of the run so far.
pub(crate) async fn visible_updates(process: &TestProcess, run: RunId) -> Vec<String> {
    summarize_updates(&load_log(process, run).await)
}

/// Names of the events in the run's log.
pub(crate) async fn event_names(process: &TestProcess, run: RunId) -> Vec<&'static str> {
    let log = load_log(process, run).await;
    log.iter().map(|stored| stored.event.event_name()).collect()
}
