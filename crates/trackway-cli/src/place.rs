//! Where the runs of a command are: on the named server, else on the server of the data folder, else
//! in the folder itself.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use trackway::{
    DataFolder, Secret,
    api::{EventRecord, ListFilter, RunDetail, RunList, RunsReader},
};
use trackway_domain::{Code, RunId};
use trackway_sqlite::SqliteJournal;

use crate::{args, failure::Failure, remote::Api, text};

#[derive(Debug, Clone)]
pub(crate) enum Place {
    Server(Api),
    /// A folder without a server; the key is for a server that may start in the meantime.
    Folder {
        path: PathBuf,
        key: Option<Secret>,
    },
}

impl Place {
    pub(crate) fn find(args: &args::Place) -> Result<Self, Failure> {
        // An empty variable counts as not set.
        let key = args.key.clone().filter(|key| !key.expose().is_empty());
        if let Some(url) = args.server.as_deref().filter(|url| !url.is_empty()) {
            return Ok(Self::Server(Api::new(url, key)?));
        }
        match DataFolder::served_at(&args.data.folder) {
            Some(url) => Ok(Self::Server(Api::new(&url, key)?)),
            None => Ok(Self::Folder { path: args.data.folder.clone(), key }),
        }
    }

    /// A reader of runs that changes nothing, also while another process has locked the folder.
    pub(crate) fn reader(self) -> Result<Reader, Failure> {
        match self {
            Self::Server(api) => Ok(Reader::Server(api)),
            Self::Folder { path, .. } => {
                Ok(Reader::Folder(RunsReader::local(Arc::new(existing(&path)?))))
            }
        }
    }
}

/// The store in this folder, which must exist: a mistyped folder is not created.
pub(crate) fn existing(folder: &Path) -> Result<SqliteJournal, Failure> {
    Ok(SqliteJournal::open_read_only(folder)?)
}

#[derive(Debug)]
pub(crate) enum Reader {
    Server(Api),
    Folder(RunsReader),
}

impl Reader {
    pub(crate) async fn list(&self, filter: ListFilter) -> Result<RunList, Failure> {
        match self {
            Self::Server(api) => api.list(&filter).await,
            Self::Folder(reader) => Ok(reader.list(filter).await?),
        }
    }

    pub(crate) async fn detail(&self, run: RunId) -> Result<RunDetail, Failure> {
        match self {
            Self::Server(api) => api.detail(run).await,
            Self::Folder(reader) => reader.detail(run).await?.ok_or_else(|| unknown_run(run)),
        }
    }

    /// The definition that a run is pinned to, in its normal form.
    pub(crate) async fn definition(
        &self,
        run: RunId,
        hash: &str,
    ) -> Result<Option<String>, Failure> {
        match self {
            Self::Server(api) => api.definition(run).await,
            Self::Folder(reader) => Ok(reader.pinned(hash).await?),
        }
    }

    /// The whole log of a run.
    pub(crate) async fn log(&self, run: RunId) -> Result<Vec<EventRecord>, Failure> {
        let (mut log, mut after) = (Vec::new(), 0);
        loop {
            let page = match self {
                Self::Server(api) => api.events(run, after).await?,
                Self::Folder(reader) => {
                    reader.events(run, after).await?.ok_or_else(|| unknown_run(run))?
                }
            };
            log.extend(page.events);
            match page.next {
                Some(next) => after = next,
                None => return Ok(log),
            }
        }
    }
}

fn unknown_run(run: RunId) -> Failure {
    Failure::new(format!("there is no run {run}")).code(Code::UnknownRun.as_str())
}

/// The options with which another command finds the same runs, for hints.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Again<'a> {
    pub(crate) place: &'a args::Place,
    pub(crate) within: &'a args::Within,
}

impl Again<'_> {
    /// For commands that read runs.
    pub(crate) fn looking(self) -> String {
        repeated(self.place)
    }

    /// For commands that drive runs.
    pub(crate) fn driving(self) -> String {
        let place = repeated(self.place);
        match self.within.workspace.as_deref().filter(|folder| !folder.as_os_str().is_empty()) {
            Some(folder) => {
                format!("{place} --workspace {}", text::quoted(&folder.to_string_lossy()))
            }
            None => place,
        }
    }
}

/// The options with which another command finds the same runs, for hints. They do not contain the
/// key, because hints end up in logs.
pub(crate) fn repeated(args: &args::Place) -> String {
    match args.server.as_deref().filter(|url| !url.is_empty()) {
        Some(url) => format!("--server {}", text::quoted(url)),
        None => format!("--data {}", text::quoted(&args.data.folder.to_string_lossy())),
    }
}
