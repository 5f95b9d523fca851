//! Where the runs of a command are: on the named server, else on the server of the data folder, else
//! in the folder itself.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use trackway::{
    DataFolder, Secret,
    api::{EventRecord, RunDetail, RunList, RunListFilter, RunsReader},
};
use trackway_domain::{ErrorCode, RunId};
use trackway_sqlite::SqliteJournal;

use crate::{args, cli_error::CliError, rest_client::RestClient, text_format};

#[derive(Debug, Clone)]
pub(crate) enum RunTarget {
    Server(RestClient),
    /// A folder without a server; the key is for a server that may start in the meantime.
    Folder {
        path: PathBuf,
        key: Option<Secret>,
    },
}

impl RunTarget {
    pub(crate) fn resolve_run_target(args: &args::RunTargetArgs) -> Result<Self, CliError> {
        // An empty variable counts as not set.
        let key = args.key.clone().filter(|key| !key.expose_secret().is_empty());
        if let Some(url) = args.server.as_deref().filter(|url| !url.is_empty()) {
            return Ok(Self::Server(RestClient::new(url, key)?));
        }
        match DataFolder::running_server_url(&args.data.folder) {
            Some(url) => Ok(Self::Server(RestClient::new(&url, key)?)),
            None => Ok(Self::Folder { path: args.data.folder.clone(), key }),
        }
    }

    /// A reader of runs that changes nothing, also while another process has locked the folder.
    pub(crate) fn open_run_reader(self) -> Result<RunReader, CliError> {
        match self {
            Self::Server(api) => Ok(RunReader::Server(api)),
            Self::Folder { path, .. } => {
                Ok(RunReader::Folder(RunsReader::for_local_caller(Arc::new(open_existing_store(&path)?))))
            }
        }
    }
}

/// The store in this folder, which must exist: a mistyped folder is not created.
pub(crate) fn open_existing_store(folder: &Path) -> Result<SqliteJournal, CliError> {
    Ok(SqliteJournal::open_read_only(folder)?)
}

#[derive(Debug)]
pub(crate) enum RunReader {
    Server(RestClient),
    Folder(RunsReader),
}

impl RunReader {
    pub(crate) async fn list_runs(&self, filter: RunListFilter) -> Result<RunList, CliError> {
        match self {
            Self::Server(api) => api.list_runs(&filter).await,
            Self::Folder(reader) => Ok(reader.list_runs(filter).await?),
        }
    }

    pub(crate) async fn load_run_detail(&self, run: RunId) -> Result<RunDetail, CliError> {
        match self {
            Self::Server(api) => api.load_run_detail(run).await,
            Self::Folder(reader) => reader.load_run_detail(run).await?.ok_or_else(|| unknown_run_error(run)),
        }
    }

    /// The definition that a run is pinned to, in its normal form.
    pub(crate) async fn load_pinned_definition(
        &self,
        run: RunId,
        hash: &str,
    ) -> Result<Option<String>, CliError> {
        match self {
            Self::Server(api) => api.load_pinned_definition(run).await,
            Self::Folder(reader) => Ok(reader.find_pinned_definition(hash).await?),
        }
    }

    /// The whole log of a run.
    pub(crate) async fn load_run_log(&self, run: RunId) -> Result<Vec<EventRecord>, CliError> {
        let (mut log, mut after) = (Vec::new(), 0);
        loop {
            let page = match self {
                Self::Server(api) => api.list_run_events(run, after).await?,
                Self::Folder(reader) => {
                    reader.list_run_events(run, after).await?.ok_or_else(|| unknown_run_error(run))?
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

fn unknown_run_error(run: RunId) -> CliError {
    CliError::new(format!("there is no run {run}")).with_error_code(ErrorCode::UnknownRun.as_str())
}

/// The options with which another command finds the same runs, for hints.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HintCommandOptions<'a> {
    pub(crate) target: &'a args::RunTargetArgs,
    pub(crate) workspace_args: &'a args::WorkspaceArgs,
}

impl HintCommandOptions<'_> {
    /// For commands that read runs.
    pub(crate) fn read_command_options(self) -> String {
        format_target_options(self.target)
    }

    /// For commands that drive runs.
    pub(crate) fn drive_command_options(self) -> String {
        let place = format_target_options(self.target);
        match self.workspace_args.workspace.as_deref().filter(|folder| !folder.as_os_str().is_empty()) {
            Some(folder) => {
                format!("{place} --workspace {}", text_format::quote_for_shell(&folder.to_string_lossy()))
            }
            None => place,
        }
    }
}

/// The options with which another command finds the same runs, for hints. They do not contain the
/// key, because hints end up in logs.
pub(crate) fn format_target_options(args: &args::RunTargetArgs) -> String {
    match args.server.as_deref().filter(|url| !url.is_empty()) {
        Some(url) => format!("--server {}", text_format::quote_for_shell(url)),
        None => {
            format!("--data {}", text_format::quote_for_shell(&args.data.folder.to_string_lossy()))
        }
    }
}
