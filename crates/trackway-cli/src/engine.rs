//! An engine that drives runs: in this process, or behind a server. Commands see no difference.

use std::{path::Path, sync::Arc, time::Duration};

use futures_util::{
    StreamExt,
    stream::{self, BoxStream},
};
use serde_json::Value;
use trackway::{
    DataFolderError, Held, Secret, Server, ServerError,
    api::{
        ForkRequest, ListFilter, ResumeRequest, Resumed, RunDetail, RunList, RunUpdate, Runs,
        StartRequest,
    },
};
use trackway_domain::{Code, Pos, Problem, QuestionId, RunId};
use trackway_runtime::Runtime;

use crate::{
    args::Testing,
    failure::Failure,
    fault::Crash,
    place::{self, Place},
    remote::{Api, Stream},
};

/// An engine that drives runs.
#[derive(Debug)]
pub(crate) struct Engine {
    runs: Source,
    /// The resources of an engine in this process.
    here: Option<Here>,
}

/// Where the runs are. Cheap to clone.
#[derive(Debug, Clone)]
enum Source {
    Here(Runs),
    Server(Api),
}

/// An engine in this process. The folder is locked until this is dropped.
#[derive(Debug)]
struct Here {
    runtime: Runtime,
    held: Held,
}

/// The result of an answer.
#[derive(Debug)]
pub(crate) enum Answer {
    /// The run continues; its next updates are after this position.
    Taken {
        after: Pos,
    },
    /// The question was not open any more.
    Late,
    Refused(Vec<Problem>),
}

/// The updates of one run; the stream ends with the run.
pub(crate) type Updates = BoxStream<'static, Result<RunUpdate, Failure>>;

impl Engine {
    /// An engine for existing runs, and so for an existing folder, with the content of this server.
    pub(crate) async fn open_existing(
        place: Place,
        server: impl FnOnce(&Path) -> Result<Server, Failure>,
        testing: &Testing,
    ) -> Result<Self, Failure> {
        match place {
            Place::Server(api) => Ok(Self::server(api)),
            Place::Folder { path, key } => {
                place::existing(&path)?;
                Self::here(server(&path)?, key, testing).await
            }
        }
    }

    /// An engine for a folder that may be new, with the content of this server.
    pub(crate) async fn open_as(
        place: Place,
        server: Server,
        testing: &Testing,
    ) -> Result<Self, Failure> {
        match place {
            Place::Server(api) => Ok(Self::server(api)),
            Place::Folder { key, .. } => Self::here(server, key, testing).await,
        }
    }

    pub(crate) fn server(api: Api) -> Self {
        Self { runs: Source::Server(api), here: None }
    }

    async fn here(
        mut server: Server,
        key: Option<Secret>,
        testing: &Testing,
    ) -> Result<Self, Failure> {
        if let Some(point) = testing.fault.clone() {
            server = server.faults(Arc::new(Crash::at(point)));
        }
        let (runtime, held) = match server.engine().await {
            Ok(engine) => engine,
            // A server started after the first check.
            Err(ServerError::Data(DataFolderError::InUse { url: Some(url), .. })) => {
                return Ok(Self::server(Api::new(&url, key)?));
            }
            Err(error) => return Err(error.into()),
        };
        let runs = Source::Here(Runs::local(runtime.clone()));
        Ok(Self { runs, here: Some(Here { runtime, held }) })
    }

    pub(crate) async fn start(&self, request: StartRequest) -> Result<RunDetail, Failure> {
        match &self.runs {
            Source::Here(runs) => Ok(runs.start(request).await?),
            Source::Server(api) => api.start(&request).await,
        }
    }

    pub(crate) async fn list(&self, filter: ListFilter) -> Result<RunList, Failure> {
        match &self.runs {
            Source::Here(runs) => Ok(runs.list(filter).await?),
            Source::Server(api) => api.list(&filter).await,
        }
    }

    pub(crate) async fn detail(&self, run: RunId) -> Result<RunDetail, Failure> {
        match &self.runs {
            Source::Here(runs) => Ok(runs.detail(run).await?),
            Source::Server(api) => api.detail(run).await,
        }
    }

    pub(crate) async fn answer(
        &self,
        run: RunId,
        question: Option<QuestionId>,
        input: Value,
    ) -> Result<Answer, Failure> {
        let request = ResumeRequest { input, question_id: question };
        let resumed = match &self.runs {
            Source::Here(runs) => runs.resume(run, request).await.map_err(Failure::from),
            Source::Server(api) => api.resume(run, &request).await,
        };
        match resumed {
            Ok(Resumed { errors, .. }) if !errors.is_empty() => Ok(Answer::Refused(errors)),
            Ok(Resumed { answer: Some(mark), after, .. }) if mark.primary_resume => {
                Ok(Answer::Taken { after })
            }
            Ok(_) => Ok(Answer::Late),
            Err(Failure { invalid: Some(invalid), .. }) => Ok(Answer::Refused(invalid.problems)),
            Err(failure) => Err(failure),
        }
    }

    pub(crate) async fn cancel(&self, run: RunId) -> Result<RunDetail, Failure> {
        match &self.runs {
            Source::Here(runs) => Ok(runs.cancel(run).await?),
            Source::Server(api) => api.cancel(run).await,
        }
    }

    pub(crate) async fn adopt(&self, run: RunId) -> Result<RunDetail, Failure> {
        match &self.runs {
            Source::Here(runs) => Ok(runs.adopt(run).await?),
            Source::Server(api) => api.adopt(run).await,
        }
    }

    pub(crate) async fn fork(
        &self,
        run: RunId,
        request: ForkRequest,
    ) -> Result<RunDetail, Failure> {
        match &self.runs {
            Source::Here(runs) => Ok(runs.fork(run, request).await?),
            Source::Server(api) => api.fork(run, &request).await,
        }
    }

    /// All updates of a run after a position.
    pub(crate) async fn updates(&self, run: RunId, after: Pos) -> Result<Updates, Failure> {
        self.runs.updates(run, after).await
    }

    /// Everything that happens to a child, which exists as soon as its parent tells of it. What a message
    /// merely refers to may be no run here, and then has nothing to tell.
    pub(crate) fn updates_of_child(&self, child: RunId) -> Updates {
        let runs = self.runs.clone();
        let opening = async move {
            match runs.updates(child, 0).await {
                Ok(updates) => updates,
                Err(failure) if failure.code.as_deref() == Some(Code::UnknownRun.as_str()) => {
                    stream::empty().boxed()
                }
                Err(failure) => stream::once(async { Err(failure) }).boxed(),
            }
        };
        stream::once(opening).flatten().boxed()
    }

    /// Waits a short time until these runs and their children have ended. Their parent was canceled, and
    /// the cancels of its children run in the background.
    pub(crate) async fn let_end(&self, children: Vec<RunId>) {
        const PATIENCE: Duration = Duration::from_secs(1);
        let all = async {
            let mut left = children;
            while let Some(child) = left.pop() {
                let mut updates = self.updates_of_child(child);
                while let Some(Ok(update)) = updates.next().await {
                    left.extend(update.children());
                }
            }
        };
        // The rest is done at the next start.
        let _ = tokio::time::timeout(PATIENCE, all).await;
    }

    /// Why a run's updates ended before the run.
    pub(crate) fn broke_off(&self) -> Failure {
        let reason = self.here.as_ref().and_then(|here| here.runtime.broken());
        let failure = Failure::new("the engine stopped before the run's end");
        match reason {
            Some(reason) => failure.hint(reason).code(Code::StoreFailed.as_str()),
            None => failure,
        }
    }

    /// Closes the store: acknowledged data is durable, and unfinished work continues at the next start.
    pub(crate) async fn close(self) {
        if let Some(here) = self.here {
            here.held.close().await;
        }
    }

    /// Whether the runs stop when this process does.
    pub(crate) const fn is_here(&self) -> bool {
        self.here.is_some()
    }
}

impl Source {
    async fn updates(&self, run: RunId, after: Pos) -> Result<Updates, Failure> {
        let teller = match self {
            Self::Here(runs) => Teller::Here(runs.updates(run, after).await?),
            Self::Server(api) => Teller::Server(Box::new(api.updates(run, after).await?)),
        };
        let told = stream::unfold(Some(teller), |teller| async {
            let mut teller = teller?;
            match teller.next().await {
                Ok(Some(update)) => Some((Ok(update), Some(teller))),
                Ok(None) => None,
                Err(failure) => Some((Err(failure), None)),
            }
        });
        Ok(told.boxed())
    }
}

/// The source of a run's updates.
enum Teller {
    Here(trackway::api::Updates),
    Server(Box<Stream>),
}

impl Teller {
    async fn next(&mut self) -> Result<Option<RunUpdate>, Failure> {
        match self {
            Self::Here(updates) => Ok(updates.next().await?),
            Self::Server(stream) => stream.next().await,
        }
    }
}
