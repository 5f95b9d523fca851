//! The artifacts of a command: on a server, or in a folder itself. Commands see no difference.

use std::{path::Path, sync::Arc};

use bytes::Bytes;
use trackway::{
    api::{ArtifactList, ArtifactVersion},
    artifacts::{
        ArtifactError, ArtifactLimits, ArtifactListQuery, ArtifactLookup, ArtifactService,
        ArtifactServiceOptions, NewArtifact,
    },
};
use trackway_domain::{Access, ArtifactScope, ArtifactScopeKind, RunId, SessionId};
use trackway_ports::{Journal as _, NoAuditRecorder};
use trackway_runtime::SystemClock;
use trackway_sqlite::SqliteJournal;

use crate::{
    args::RunTargetArgs,
    cli_error::CliError,
    exit_status::ExitStatus,
    rest_client::{ArtifactDownload, RestClient},
    run_target::{self, RunTarget},
};

#[derive(Debug)]
pub(crate) enum ArtifactsClient {
    Server(RestClient),
    Folder(FolderArtifacts),
}

/// The artifacts of the local user in a folder. It is not locked: the store orders its writers.
#[derive(Debug)]
pub(crate) struct FolderArtifacts {
    service: ArtifactService,
    journal: Arc<SqliteJournal>,
    access: Access,
}

impl FolderArtifacts {
    fn new(journal: SqliteJournal) -> Self {
        let journal = Arc::new(journal);
        let service = ArtifactService::new(ArtifactServiceOptions {
            store: journal.clone(),
            blobs: Arc::new(journal.blob_store()),
            journal: journal.clone(),
            clock: Arc::new(SystemClock),
            limits: ArtifactLimits::default(),
            audit: Arc::new(NoAuditRecorder),
        });
        Self { service, journal, access: Access::local_without_auth() }
    }
}

impl ArtifactsClient {
    /// For commands that change nothing; the folder must exist.
    pub(crate) fn open_for_reading(target: &RunTargetArgs) -> Result<Self, CliError> {
        Self::open_with(target, run_target::open_existing_store)
    }

    /// For commands that remove something; the folder must exist.
    pub(crate) fn open_for_removing(target: &RunTargetArgs) -> Result<Self, CliError> {
        Self::open_with(target, |folder| {
            drop(run_target::open_existing_store(folder)?);
            Ok(SqliteJournal::open(folder)?)
        })
    }

    /// For commands that store something; a missing folder is created.
    pub(crate) fn open_for_storing(target: &RunTargetArgs) -> Result<Self, CliError> {
        Self::open_with(target, |folder| Ok(SqliteJournal::open(folder)?))
    }

    fn open_with(
        target: &RunTargetArgs,
        open: impl FnOnce(&Path) -> Result<SqliteJournal, CliError>,
    ) -> Result<Self, CliError> {
        Ok(match RunTarget::resolve_run_target(target)? {
            RunTarget::Server(api) => Self::Server(api),
            RunTarget::Folder { path, .. } => Self::Folder(FolderArtifacts::new(open(&path)?)),
        })
    }

    pub(crate) async fn list_artifacts(&self, query: &ArtifactListQuery) -> Result<ArtifactList, CliError> {
        match self {
            Self::Server(api) => api.list_artifacts(query).await,
            Self::Folder(folder) => Ok(folder.service.list(&folder.access, query).await?.into()),
        }
    }

    /// The newest versions, up to this many.
    pub(crate) async fn list_versions(
        &self,
        lookup: &ArtifactLookup,
        limit: usize,
    ) -> Result<ArtifactList, CliError> {
        match self {
            Self::Server(api) => api.list_artifact_versions(lookup, limit).await,
            Self::Folder(folder) => {
                Ok(folder.service.list_versions(&folder.access, lookup, None, limit).await?.into())
            }
        }
    }

    pub(crate) async fn open_download(&self, lookup: &ArtifactLookup) -> Result<ArtifactDownload, CliError> {
        match self {
            Self::Server(api) => api.open_artifact_download(lookup).await,
            Self::Folder(folder) => {
                let found = folder.service.find(&folder.access, lookup).await?;
                let content: Bytes = folder.service.read(&found).await?;
                Ok(ArtifactDownload::Whole(Some(content)))
            }
        }
    }

    pub(crate) async fn store_artifact(&self, new: NewArtifact) -> Result<ArtifactVersion, CliError> {
        match self {
            Self::Server(api) => api.store_artifact(new).await,
            Self::Folder(folder) => Ok(folder.service.save(&folder.access, new).await?.into()),
        }
    }

    pub(crate) async fn remove_artifact(&self, lookup: &ArtifactLookup) -> Result<(), CliError> {
        match self {
            Self::Server(api) => api.remove_artifact(lookup).await,
            Self::Folder(folder) => Ok(folder.service.delete(&folder.access, lookup).await.map(drop)?),
        }
    }

    /// Closes the store of a folder: what was stored is durable.
    pub(crate) async fn close(self) {
        if let Self::Folder(folder) = self {
            folder.journal.close_store().await;
        }
    }
}

/// The one scope that the options of a command mean: the one that is named, else that of the run or session that
/// is named, else the user's.
pub(crate) fn resolve_scope(
    scope: Option<ArtifactScopeKind>,
    run: Option<RunId>,
    session: Option<&SessionId>,
) -> Result<ArtifactScope, CliError> {
    let kind = match (scope, run, session) {
        (Some(scope), ..) => scope,
        (None, Some(_), _) => ArtifactScopeKind::Run,
        (None, None, Some(_)) => ArtifactScopeKind::Session,
        (None, None, None) => ArtifactScopeKind::User,
    };
    let usage = |message: String| CliError::new(message).with_exit_status(ExitStatus::Usage);
    let scope = match (kind, run, session) {
        (ArtifactScopeKind::Run, Some(run), None) => ArtifactScope::Run(run),
        (ArtifactScopeKind::Session, None, Some(session)) => ArtifactScope::Session(session.clone()),
        (ArtifactScopeKind::User, None, None) => ArtifactScope::User,
        (ArtifactScopeKind::Tenant, None, None) => ArtifactScope::Tenant,
        (ArtifactScopeKind::Run | ArtifactScopeKind::Session, None, None) => {
            return Err(usage(format!("the scope {kind} needs --{kind}")));
        }
        _ => return Err(usage(format!("the scope {kind} does not go with another --run or --session"))),
    };
    Ok(scope)
}

impl From<ArtifactError> for CliError {
    fn from(error: ArtifactError) -> Self {
        let failure = Self::from_error(&error).with_error_code(error.code().as_str());
        match error {
            ArtifactError::Unknown { .. } => failure
                .with_hint("`trackway artifacts list` shows them; one of a session is found with --session"),
            ArtifactError::UnknownRun { .. } => failure.with_hint("`trackway runs list` shows the runs"),
            _ => failure,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_mean_one_scope() {
        let session = SessionId::new("s").unwrap();
        let run = "run_00000000000000000000000000000001".parse::<RunId>().unwrap();
        let table = [
            (None, None, None, Some(ArtifactScope::User)),
            (Some("tenant"), None, None, Some(ArtifactScope::Tenant)),
            (None, None, Some(&session), Some(ArtifactScope::Session(session.clone()))),
            (Some("session"), None, Some(&session), Some(ArtifactScope::Session(session.clone()))),
            (None, Some(run), None, Some(ArtifactScope::Run(run))),
            (Some("session"), None, None, None),
            (Some("run"), None, Some(&session), None),
            (Some("user"), None, Some(&session), None),
            (None, Some(run), Some(&session), None),
        ];
        for (scope, run, session, expected) in table {
            let kind = scope.map(|scope: &str| scope.parse::<ArtifactScopeKind>().unwrap());
            assert_eq!(resolve_scope(kind, run, session).ok(), expected, "{scope:?} {run:?} {session:?}");
        }
    }
}
