//! Arguments of `trackway artifacts`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use trackway_domain::{ArtifactFilename, ArtifactScopeKind, RunId, SessionId};

use super::RunTargetArgs;

#[derive(Debug, Subcommand)]
pub(crate) enum ArtifactsCommand {
    /// List artifacts, the last stored first
    List(ListArtifactsArgs),
    /// Show an artifact and its versions
    Show(ShowArtifactArgs),
    /// Write the content of an artifact to stdout or to a file
    Get(GetArtifactArgs),
    /// Store a file as the next version of an artifact
    Put(PutArtifactArgs),
    /// Remove an artifact, or one version of it
    Rm(RemoveArtifactArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ListArtifactsArgs {
    /// Only artifacts of this scope: run, session, user or tenant
    #[arg(long, value_name = "SCOPE")]
    pub(crate) scope: Option<ArtifactScopeKind>,
    /// Only what was made in this session
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<SessionId>,
    /// Only names that begin so
    #[arg(long, value_name = "TEXT")]
    pub(crate) prefix: Option<String>,
    /// Only artifacts with this tag
    #[arg(long, value_name = "TAG")]
    pub(crate) tag: Option<String>,
    /// Where to continue: the `next` of the page before
    #[arg(long, value_name = "CURSOR")]
    pub(crate) cursor: Option<u64>,
    /// How many to list
    #[arg(long, default_value_t = 50, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=500))]
    pub(crate) limit: u16,
    #[command(flatten)]
    pub(crate) target: RunTargetArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Where an artifact is looked for.
#[derive(Debug, Clone, Args)]
pub(crate) struct ArtifactPlaceArgs {
    /// Session to look in; without it, the artifacts of no session
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<SessionId>,
    /// Run to look in
    #[arg(long, value_name = "RUN")]
    pub(crate) run: Option<RunId>,
    /// Look only in this scope: run, session, user or tenant
    #[arg(long, value_name = "SCOPE")]
    pub(crate) scope: Option<ArtifactScopeKind>,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArtifactArgs {
    /// Name of the artifact
    #[arg(value_name = "NAME")]
    pub(crate) name: ArtifactFilename,
    #[command(flatten)]
    pub(crate) place: ArtifactPlaceArgs,
    #[command(flatten)]
    pub(crate) target: RunTargetArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct GetArtifactArgs {
    /// Name of the artifact
    #[arg(value_name = "NAME")]
    pub(crate) name: ArtifactFilename,
    /// Version to get; by default the newest
    #[arg(long, value_name = "N")]
    pub(crate) version: Option<u32>,
    /// File to write; by default stdout
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) place: ArtifactPlaceArgs,
    #[command(flatten)]
    pub(crate) target: RunTargetArgs,
}

#[derive(Debug, Args)]
pub(crate) struct PutArtifactArgs {
    /// File to store; `-` is stdin
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Name of the artifact; by default the name of the file
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<ArtifactFilename>,
    /// Who can use it: run, session, user or tenant; by default the user, or the session or run that is named
    #[arg(long, value_name = "SCOPE")]
    pub(crate) scope: Option<ArtifactScopeKind>,
    /// Session that it belongs to
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<SessionId>,
    /// Run that it belongs to
    #[arg(long, value_name = "RUN")]
    pub(crate) run: Option<RunId>,
    /// Tag to list it by; may be given several times, or several with commas
    #[arg(long, value_name = "TAG", value_delimiter = ',')]
    pub(crate) tag: Vec<String>,
    /// Media type; by default recognised by the name and the content
    #[arg(long, value_name = "TYPE")]
    pub(crate) media_type: Option<String>,
    /// Store it only if there is none of that name
    #[arg(long)]
    pub(crate) if_absent: bool,
    #[command(flatten)]
    pub(crate) target: RunTargetArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RemoveArtifactArgs {
    /// Name of the artifact
    #[arg(value_name = "NAME")]
    pub(crate) name: ArtifactFilename,
    /// Version to remove; by default all of them
    #[arg(long, value_name = "N")]
    pub(crate) version: Option<u32>,
    /// Scope to remove it from; by default the user's, or that of the session or run that is named
    #[arg(long, value_name = "SCOPE")]
    pub(crate) scope: Option<ArtifactScopeKind>,
    /// Session that it belongs to
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<SessionId>,
    /// Run that it belongs to
    #[arg(long, value_name = "RUN")]
    pub(crate) run: Option<RunId>,
    #[command(flatten)]
    pub(crate) target: RunTargetArgs,
}
