//! An engine that drives runs: in this process, or behind a server. Commands see no difference.

use std::{path::Path, sync::Arc, time::Duration};

use futures_util::{
    StreamExt,
    stream::{self, BoxStream},
};
use serde_json::Value;
use trackway::{
    DataFolderError, EngineGuard, Secret, Server, ServerError,
    api::{
        ForkRequest, ResumeRequest, ResumeResponse, RunDetail, RunList, RunListFilter, RunUpdate,
        RunsService, StartRequest,
    },
};
use trackway_domain::{ErrorCode, Position, QuestionId, RunId, ValidationError};
use trackway_runtime::Runtime;

use crate::{
    args::FaultInjectionArgs,
    cli_error::CliError,
    fault_injection::AbortAtFaultPoint,
    rest_client::{RestClient, RunUpdateStream},
    run_target::{self, RunTarget},
};

/// An engine that drives runs.
#[derive(Debug)]
pub(crate) struct RunClient {
    backend: RunBackend,
    /// The resources of an engine in this process.
    local: Option<LocalRuntime>,
}

/// Where the runs are. Cheap to clone.
#[derive(Debug, Clone)]
enum RunBackend {
    Local(RunsService),
    Remote(RestClient),
}

/// An engine in this process. The folder is locked until this is dropped.
#[derive(Debug)]
struct LocalRuntime {
    runtime: Runtime,
    guard: EngineGuard,
}

/// The result of an answer.
#[derive(Debug)]
pub(crate) enum AnswerOutcome {
    /// The run continues; its next updates are after this position.
    Accepted {
        after: Position,
    },
    /// The question was not open any more.
    Late,
    Refused(Vec<ValidationError>),
}

/// The updates of one run; the stream ends with the run.
pub(crate) type RunUpdates = BoxStream<'static, Result<RunUpdate, CliError>>;

impl RunClient {
    /// An engine for existing runs, and so for an existing folder, with the content of this server.
    pub(crate) async fn open_for_existing_runs(
        target: RunTarget,
        server: impl FnOnce(&Path) -> Result<Server, CliError>,
        testing: &FaultInjectionArgs,
    ) -> Result<Self, CliError> {
        match target {
            RunTarget::Server(api) => Ok(Self::from_rest_client(api)),
            RunTarget::Folder { path, key } => {
                run_target::open_existing_store(&path)?;
                Self::open_local_runtime(server(&path)?, key, testing).await
            }
        }
    }

    /// An engine for a folder that may be new, with the content of this server.
    pub(crate) async fn open_or_create_with_server(
        target: RunTarget,
        server: Server,
        testing: &FaultInjectionArgs,
    ) -> Result<Self, CliError> {
        match target {
            RunTarget::Server(api) => Ok(Self::from_rest_client(api)),
            RunTarget::Folder { key, .. } => Self::open_local_runtime(server, key, testing).await,
        }
    }

    pub(crate) fn from_rest_client(api: RestClient) -> Self {
        Self { backend: RunBackend::Remote(api), local: None }
    }

    async fn open_local_runtime(
        mut server: Server,
        key: Option<Secret>,
        testing: &FaultInjectionArgs,
    ) -> Result<Self, CliError> {
        if let Some(point) = testing.fault.clone() {
            server = server.faults(Arc::new(AbortAtFaultPoint::new(point)));
        }
        let (runtime, held) = match server.start_engine().await {
            Ok(engine) => engine,
            // A server started after the first check.
            Err(ServerError::Data(DataFolderError::InUse { url: Some(url), .. })) => {
                return Ok(Self::from_rest_client(RestClient::new(&url, key)?));
            }
            Err(error) => return Err(error.into()),
        };
        let runs = RunBackend::Local(RunsService::for_local_caller(runtime.clone()));
        Ok(Self { backend: runs, local: Some(LocalRuntime { runtime, guard: held }) })
    }

    pub(crate) async fn start_run(&self, request: StartRequest) -> Result<RunDetail, CliError> {
        match &self.backend {
            RunBackend::Local(runs) => Ok(runs.start_run(request).await?),
            RunBackend::Remote(api) => api.start_run(&request).await,
        }
    }

    pub(crate) async fn list_runs(&self, filter: RunListFilter) -> Result<RunList, CliError> {
        match &self.backend {
            RunBackend::Local(runs) => Ok(runs.list_runs(filter).await?),
            RunBackend::Remote(api) => api.list_runs(&filter).await,
        }
    }

    pub(crate) async fn load_run_detail(&self, run: RunId) -> Result<RunDetail, CliError> {
        match &self.backend {
            RunBackend::Local(runs) => Ok(runs.load_run_detail(run).await?),
            RunBackend::Remote(api) => api.load_run_detail(run).await,
        }
    }

    pub(crate) async fn answer_question(
        &self,
        run: RunId,
        question: Option<QuestionId>,
        input: Value,
    ) -> Result<AnswerOutcome, CliError> {
        let request = ResumeRequest { input, question_id: question };
        let resumed = match &self.backend {
            RunBackend::Local(runs) => runs.resume_run(run, request).await.map_err(CliError::from),
            RunBackend::Remote(api) => api.resume_run(run, &request).await,
        };
        match resumed {
            Ok(ResumeResponse { errors, .. }) if !errors.is_empty() => Ok(AnswerOutcome::Refused(errors)),
            Ok(ResumeResponse { answer: Some(mark), after, .. }) if mark.primary_resume => {
                Ok(AnswerOutcome::Accepted { after })
            }
            Ok(_) => Ok(AnswerOutcome::Late),
            Err(CliError { invalid: Some(invalid), .. }) => Ok(AnswerOutcome::Refused(invalid.problems)),
            Err(failure) => Err(failure),
        }
    }

    pub(crate) async fn cancel_run(&self, run: RunId) -> Result<RunDetail, CliError> {
        match &self.backend {
            RunBackend::Local(runs) => Ok(runs.cancel_run(run).await?),
            RunBackend::Remote(api) => api.cancel_run(run).await,
        }
    }

    pub(crate) async fn adopt_run(&self, run: RunId) -> Result<RunDetail, CliError> {
        match &self.backend {
            RunBackend::Local(runs) => Ok(runs.adopt_run(run).await?),
            RunBackend::Remote(api) => api.adopt_run(run).await,
        }
    }

    pub(crate) async fn fork_run(&self, run: RunId, request: ForkRequest) -> Result<RunDetail, CliError> {
        match &self.backend {
            RunBackend::Local(runs) => Ok(runs.fork_run(run, request).await?),
            RunBackend::Remote(api) => api.fork_run(run, &request).await,
        }
    }

    /// All updates of a run after a position.
    pub(crate) async fn watch_run(&self, run: RunId, after: Position) -> Result<RunUpdates, CliError> {
        self.backend.open_run_updates(run, after).await
    }

    /// All updates of a child. A child exists as soon as its parent names it. A message may also refer to a
    /// run that does not exist here; then there are no updates.
    pub(crate) fn watch_child_run(&self, child: RunId) -> RunUpdates {
        let runs = self.backend.clone();
        let opening = async move {
            match runs.open_run_updates(child, 0).await {
                Ok(updates) => updates,
                Err(failure) if failure.code.as_deref() == Some(ErrorCode::UnknownRun.as_str()) => {
                    stream::empty().boxed()
                }
                Err(failure) => stream::once(async { Err(failure) }).boxed(),
            }
        };
        stream::once(opening).flatten().boxed()
    }

    /// Waits a short time until these runs and their children have ended. Their parent was canceled, and
    /// the cancels of its children run in the background.
    pub(crate) async fn wait_for_children_to_end(&self, children: Vec<RunId>) {
        const PATIENCE: Duration = Duration::from_secs(1);
        let all = async {
            let mut left = children;
            while let Some(child) = left.pop() {
                let mut updates = self.watch_child_run(child);
                while let Some(Ok(update)) = updates.next().await {
                    left.extend(update.referenced_child_runs());
                }
            }
        };
        // The rest is done at the next start.
        let _ = tokio::time::timeout(PATIENCE, all).await;
    }

    /// Why a run's updates ended before the run.
    pub(crate) fn run_updates_broke_off_error(&self) -> CliError {
        let reason = self.local.as_ref().and_then(|here| here.runtime.store_failure_reason());
        let failure = CliError::new("the engine stopped before the run's end");
        match reason {
            Some(reason) => failure.with_hint(reason).with_error_code(ErrorCode::StoreFailed.as_str()),
            None => failure,
        }
    }

    /// Closes the store: acknowledged data is durable, and unfinished work continues at the next start.
    pub(crate) async fn close_local_store(self) {
        if let Some(here) = self.local {
            here.guard.close_engine().await;
        }
    }

    /// Whether the runs stop when this process does.
    pub(crate) const fn is_local(&self) -> bool {
        self.local.is_some()
    }
}

impl RunBackend {
    async fn open_run_updates(&self, run: RunId, after: Position) -> Result<RunUpdates, CliError> {
        let teller = match self {
            Self::Local(runs) => LocalOrRemoteUpdates::Local(runs.watch_run_updates(run, after).await?),
            Self::Remote(api) => {
                LocalOrRemoteUpdates::Remote(Box::new(api.open_run_update_stream(run, after).await?))
            }
        };
        let told = stream::unfold(Some(teller), |teller| async {
            let mut teller = teller?;
            match teller.next_run_update().await {
                Ok(Some(update)) => Some((Ok(update), Some(teller))),
                Ok(None) => None,
                Err(failure) => Some((Err(failure), None)),
            }
        });
        Ok(told.boxed())
    }
}

/// The source of a run's updates.
enum LocalOrRemoteUpdates {
    Local(trackway::api::RunUpdateStream),
    Remote(Box<RunUpdateStream>),
}

impl LocalOrRemoteUpdates {
    async fn next_run_update(&mut self) -> Result<Option<RunUpdate>, CliError> {
        match self {
            Self::Local(updates) => Ok(updates.next_update().await?),
            Self::Remote(stream) => stream.next_run_update().await,
        }
    }
}
