//! The command-line arguments. `commands` has the behaviour.

mod artifacts_args;
mod chat_args;
mod keys_args;
mod peers_args;
mod sessions_args;
mod workflows_args;
mod workspace_args;

use std::{convert::Infallible, path::PathBuf, time::Duration};

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use trackway::Secret;
use trackway_domain::{QuestionId, RunId, Seq, SessionId, StateName};

use crate::{duration, exit_status, fault_injection::FaultPoint};

pub(crate) use artifacts_args::{
    ArtifactPlaceArgs, ArtifactsCommand, GetArtifactArgs, ListArtifactsArgs, PutArtifactArgs,
    RemoveArtifactArgs, ShowArtifactArgs,
};
pub(crate) use chat_args::ChatArgs;
pub(crate) use keys_args::{CreateKeyArgs, KeysCommand, ListKeysArgs, RevokeKeyArgs, RotateKeysArgs};
pub(crate) use peers_args::{AddPeerArgs, HeaderArg, ListPeersArgs, NodeKeyArgs, PeerRefArgs, PeersCommand};
pub(crate) use sessions_args::{
    ExportFormat, ExportSessionArgs, FindTokenArgs, ImportSessionArgs, ListSessionsArgs, NodeSelector,
    PruneSessionsArgs, SessionGraphArgs, SessionOwnerArgs, SessionRefArgs, SessionsCommand,
};
pub(crate) use workflows_args::{
    CheckWorkflowsArgs, ListWorkflowsArgs, ShowWorkflowArgs, WorkflowLibraryArgs, WorkflowsCommand,
};
pub(crate) use workspace_args::{ConfigCommand, DoctorArgs, ShowConfigArgs, WorkspaceArgs};

/// Durable workflows for AI agents.
#[derive(Debug, Parser)]
#[command(name = "trackway", version, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: CliCommand,
    /// Which log lines are written to stderr
    #[arg(long, global = true, env = "TRACKWAY_LOG", default_value = "warn", value_name = "FILTER")]
    pub(crate) log: String,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CliCommand {
    /// Serve the bundled workflows and workflow files as A2A agents, and MCP at /mcp
    Serve(ServeArgs),
    /// Serve workflow files to the agent on stdin and stdout, over MCP
    Mcp(McpArgs),
    /// Talk to an agent, here or on a server
    Chat(ChatArgs),
    /// Run one workflow to its end, here or on a server
    #[command(after_help = exit_status::HELP)]
    Run(RunArgs),
    /// List, show, answer, cancel and check runs
    #[command(subcommand)]
    Runs(RunsCommand),
    /// List, show, export and import sessions, and remove old ones
    #[command(subcommand)]
    Sessions(SessionsCommand),
    /// List, show, get, store and remove artifacts
    #[command(subcommand)]
    Artifacts(ArtifactsCommand),
    /// List, check and show workflow files
    #[command(subcommand)]
    Workflows(WorkflowsCommand),
    /// Create, list and revoke the keys that a server accepts
    #[command(subcommand)]
    Keys(KeysCommand),
    /// List, add, remove and ping agents of other processes; print the key of this node
    #[command(subcommand)]
    Peers(PeersCommand),
    /// Report everything that is wrong or unused in a workspace
    Doctor(DoctorArgs),
    /// Show the configuration
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Create a project with a workflow of your own
    Init(InitProjectArgs),
    /// Print the JSON Schema of workflow files, for editors
    Schema,
    /// Print a completion script for a shell
    Completions(ShellCompletionArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Address to listen on; port 0 takes a free one
    #[arg(long, env = "TRACKWAY_LISTEN", default_value = "127.0.0.1:7420", value_name = "HOST:PORT")]
    pub(crate) listen: String,
    /// Address to serve gRPC on; off by default, port 0 takes a free one
    #[arg(long, env = "TRACKWAY_GRPC_LISTEN", value_name = "HOST:PORT")]
    pub(crate) grpc_listen: Option<String>,
    /// NATS server over which nodes find and call each other, such as nats://127.0.0.1:4222; it may contain a
    /// password
    #[arg(long, env = "TRACKWAY_NATS", hide_env_values = true, value_parser = parse_secret, value_name = "URL")]
    pub(crate) nats: Option<Secret>,
    #[command(flatten)]
    pub(crate) data: DataFolderArgs,
    #[command(flatten)]
    pub(crate) guided: GuidedWorkflowArgs,
    /// Special purpose of the server; none by default
    #[arg(long, value_name = "PROFILE")]
    pub(crate) profile: Option<ServerProfile>,
    /// Folder with `trackway.toml`, `agents`, `workflows` and `mcp.json`; by default the current one
    #[arg(long, env = "TRACKWAY_WORKSPACE", value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    /// Print one line of JSON with the address, for programs
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) conformance: ConformanceArgs,
    #[command(flatten)]
    pub(crate) testing: FaultInjectionArgs,
}

#[derive(Debug, Args)]
pub(crate) struct McpArgs {
    #[command(flatten)]
    pub(crate) data: DataFolderArgs,
    #[command(flatten)]
    pub(crate) guided: GuidedWorkflowArgs,
    /// Folder with `trackway.toml`; by default the current one
    #[arg(long, env = "TRACKWAY_WORKSPACE", value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) testing: FaultInjectionArgs,
}

/// Workflow files, and what agents may do with them.
#[derive(Debug, Args)]
pub(crate) struct GuidedWorkflowArgs {
    #[command(flatten)]
    pub(crate) folders: WorkflowFolderArgs,
    /// Whether agents may record notes without advancing [default: the value in trackway.toml, else off]
    #[arg(long, value_name = "ON|OFF")]
    pub(crate) checkpoints: Option<OnOff>,
    /// Whether such notes may be on a whole session [default: the value in trackway.toml, else off]
    #[arg(long, value_name = "ON|OFF")]
    pub(crate) session_checkpoints: Option<OnOff>,
}

/// The folders of workflow files.
#[derive(Debug, Args)]
pub(crate) struct WorkflowFolderArgs {
    /// Folder with workflow files, including its subfolders; may be given several times [default: the
    /// value in trackway.toml, else `workflows` in the workspace]
    #[arg(long, value_name = "DIR")]
    pub(crate) workflows: Vec<PathBuf>,
}

impl WorkflowFolderArgs {
    pub(crate) const NONE: Self = Self { workflows: Vec::new() };
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnOff {
    On,
    Off,
}

/// A server for a special purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ServerProfile {
    /// The subject of the A2A conformance suites: agent `tck`, at the addresses that name none
    Tck,
}

/// Settings that a conformance suite passes in the environment; not part of the interface.
#[derive(Debug, Clone, Args)]
pub(crate) struct ConformanceArgs {
    /// Seconds that the suite waits for a stream; a run for a resubscription test lasts twice as long.
    #[arg(
        long = "tck-streaming-timeout",
        env = "TCK_STREAMING_TIMEOUT",
        default_value = "2",
        value_name = "SECONDS",
        value_parser = parse_seconds,
        hide = true
    )]
    pub(crate) streaming_timeout: Duration,
}

/// Longest time that a suite may set: a day, so that no span can overflow.
/// Limit (CLI): seconds that a suite may give a stream.
const STREAMING_TIMEOUT_MAX: f64 = 86_400.0;

fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().map_err(|error| error.to_string())?;
    if !(0.0..=STREAMING_TIMEOUT_MAX).contains(&seconds) {
        return Err(format!("write seconds between 0 and {STREAMING_TIMEOUT_MAX}"));
    }
    Ok(Duration::from_secs_f64(seconds))
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Name of the workflow
    pub(crate) name: String,
    /// Its input as JSON; if it is needed and missing, the terminal asks for it
    #[arg(long, value_name = "JSON")]
    pub(crate) input: Option<String>,
    /// Session that the run joins; by default a new one
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<SessionId>,
    #[command(flatten)]
    pub(crate) folders: WorkflowFolderArgs,
    #[command(flatten)]
    pub(crate) workspace_args: WorkspaceArgs,
    #[command(flatten)]
    pub(crate) target: RunTargetArgs,
    /// Print one JSON object per update; answers to questions are read from stdin, one JSON value per
    /// line
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) testing: FaultInjectionArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RunsCommand {
    /// List runs, newest first
    List(ListRunsArgs),
    /// Show one run: its state, question, messages and artifacts
    Show(RunRefArgs),
    /// Let a run that was imported go on here
    Adopt(RunRefArgs),
    /// Cancel a run and its children
    Cancel(RunRefArgs),
    /// Go on from a point of a run as another run; the original is not touched
    #[command(after_help = exit_status::HELP)]
    Fork(ForkRunArgs),
    /// Move a run that an agent drives to the current version of its workflow file
    Migrate(MigrateRunArgs),
    /// Answer the question that a run waits for
    #[command(after_help = exit_status::HELP)]
    Resume(ResumeRunArgs),
    /// Check that this binary's programs fit the logs of runs; changes nothing
    ReplayCheck(ReplayCheckArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ListRunsArgs {
    /// Only runs of this workflow
    #[arg(long, value_name = "NAME")]
    pub(crate) workflow: Option<String>,
    /// Only runs in this state; may be given several times, or several with commas
    #[arg(long, value_name = "STATE", value_delimiter = ',')]
    pub(crate) state: Vec<StateName>,
    /// Only runs of this session
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<SessionId>,
    /// Only runs older than this one
    #[arg(long, value_name = "RUN")]
    pub(crate) before: Option<RunId>,
    /// How many to list
    #[arg(long, default_value_t = 50, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=500))]
    pub(crate) limit: u16,
    #[command(flatten)]
    pub(crate) target: RunTargetArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// One run, and where it is.
#[derive(Debug, Args)]
pub(crate) struct RunRefArgs {
    /// Which run, as `trackway runs list` shows it
    #[arg(value_name = "RUN")]
    pub(crate) id: RunId,
    #[command(flatten)]
    pub(crate) target: RunTargetArgs,
    /// Print the run as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ForkRunArgs {
    /// Which run, as `trackway runs list` shows it
    #[arg(value_name = "RUN")]
    pub(crate) id: RunId,
    /// Number of the last event that both share; by default the one before the answer to the last
    /// question
    #[arg(long, value_name = "EVENT")]
    pub(crate) at: Option<Seq>,
    /// For a run that an agent drives: the node to continue from, by its number (`7` or `#7`, as in
    /// `trackway sessions graph`) or its id; by default the newest unfinished one
    #[arg(long, value_name = "NODE", conflicts_with = "at")]
    pub(crate) node: Option<NodeSelector>,
    #[command(flatten)]
    pub(crate) workspace_args: WorkspaceArgs,
    #[command(flatten)]
    pub(crate) target: RunTargetArgs,
    /// Print the new run, then one JSON object per update; for a run that an agent drives, its tokens
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) testing: FaultInjectionArgs,
    /// For a run that an agent drives: folder with workflow files, to check whether its definition has
    /// changed; may be given several times
    #[arg(long, value_name = "DIR", conflicts_with = "at")]
    pub(crate) workflows: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct MigrateRunArgs {
    /// Which run, as `trackway runs list` shows it
    #[arg(value_name = "RUN")]
    pub(crate) id: RunId,
    #[command(flatten)]
    pub(crate) folders: WorkflowFolderArgs,
    #[command(flatten)]
    pub(crate) data: DataFolderArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ResumeRunArgs {
    /// Which run, as `trackway runs list` shows it
    #[arg(value_name = "RUN")]
    pub(crate) id: RunId,
    /// The answer as JSON
    #[arg(long, value_name = "JSON")]
    pub(crate) input: String,
    /// The question to answer; by default the open one
    #[arg(long, value_name = "ID")]
    pub(crate) question: Option<QuestionId>,
    #[command(flatten)]
    pub(crate) workspace_args: WorkspaceArgs,
    #[command(flatten)]
    pub(crate) target: RunTargetArgs,
    /// Print one JSON object per update
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) testing: FaultInjectionArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ReplayCheckArgs {
    /// Which runs; by default all unfinished ones
    #[arg(value_name = "RUN")]
    pub(crate) ids: Vec<RunId>,
    #[command(flatten)]
    pub(crate) target: RunTargetArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct InitProjectArgs {
    /// Folder of the new project, created if missing; existing files are never overwritten
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) dir: PathBuf,
    /// Checkout of Trackway that the project depends on; by default the one this binary was built from
    #[arg(long, value_name = "PATH")]
    pub(crate) trackway: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ShellCompletionArgs {
    /// Which shell
    pub(crate) shell: Shell,
}

/// Where the runs are: on the named server, else on the server of the data folder, else in the folder.
#[derive(Debug, Clone, Args)]
pub(crate) struct RunTargetArgs {
    #[command(flatten)]
    pub(crate) data: DataFolderArgs,
    /// Server to use; by default the one that serves the data folder
    #[arg(long, env = "TRACKWAY_SERVER", value_name = "URL")]
    pub(crate) server: Option<String>,
    /// Key or token for the server; other users of this machine can see arguments, but not the
    /// environment
    #[arg(long, env = "TRACKWAY_KEY", hide_env_values = true, value_parser = parse_secret, value_name = "KEY")]
    pub(crate) key: Option<Secret>,
}

/// Accepts any text: an error message would print the secret.
fn parse_secret(text: &str) -> Result<Secret, Infallible> {
    Ok(Secret::new(text))
}

#[derive(Debug, Clone, Args)]
pub(crate) struct DataFolderArgs {
    /// Folder for all data
    #[arg(long = "data", env = "TRACKWAY_DATA", default_value = "trackway-data", value_name = "FOLDER")]
    pub(crate) folder: PathBuf,
}

/// Testing aids, not part of the interface.
#[derive(Debug, Clone, Args)]
pub(crate) struct FaultInjectionArgs {
    /// Abort at a fault point; see `fault_injection`.
    #[arg(long, env = "TRACKWAY_FAULT", value_name = "POINT:N", hide = true)]
    pub(crate) fault: Option<FaultPoint>,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn arguments_are_consistent() {
        Cli::command().debug_assert();
    }

    /// Every argument has a help text.
    #[test]
    fn every_argument_has_its_help() {
        fn check(command: &clap::Command) {
            for argument in command.get_arguments().filter(|it| !it.is_hide_set()) {
                let place = format!("{} {}", command.get_name(), argument.get_id());
                assert!(argument.get_help().is_some(), "{place}");
            }
            command.get_subcommands().for_each(check);
        }
        check(&Cli::command());
    }
}
