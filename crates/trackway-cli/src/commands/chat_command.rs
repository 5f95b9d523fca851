//! `trackway chat`: talks to an agent, here or on a server.

use trackway_agent::AgentSpec;

use super::local_server;
use crate::{
    args,
    chat::ChatSession,
    cli_error::CliError,
    exit_status::ExitStatus,
    output_streams,
    run_client::RunClient,
    run_target::{HintCommandOptions, RunTarget},
    stop_signals::StopSignals,
    workspace::workspace_loader::FollowedAgents,
};

/// The agent of a conversation.
struct ChatAgent {
    engine: RunClient,
    agent: String,
    /// The model, if it is known at the start.
    model_label: Option<String>,
    /// Keeps an agent of this process up to date with its file.
    _following: Option<FollowedAgents>,
}

pub(super) async fn run_chat_command(args: args::ChatArgs) -> Result<ExitStatus, CliError> {
    let mut signals = StopSignals::install_signal_handlers()?;
    let ChatAgent { engine, agent, model_label: label, _following } = resolve_chat_agent(&args).await?;
    let ended = run_conversation(&args, &engine, agent, label.as_deref(), &mut signals).await;
    engine.close_local_store().await;
    ended
}

async fn run_conversation(
    args: &args::ChatArgs,
    engine: &RunClient,
    agent: String,
    label: Option<&str>,
    signals: &mut StopSignals,
) -> Result<ExitStatus, CliError> {
    let again = HintCommandOptions { target: &args.target, workspace_args: &args.workspace_args };
    let mut chat = ChatSession::new(engine, again, agent, args.json);
    chat.print_greeting(label)?;
    let session = match &args.session {
        Some(session) => Some(session.clone()),
        None if args.resume => chat.find_newest_session().await?,
        None => None,
    };
    match session {
        Some(session) => chat.resume_session(session).await?,
        None if args.resume => {
            output_streams::print_stderr_note("There is no earlier session; a new one begins.")
        }
        None => {}
    }
    chat.run_until_exit(signals).await
}

async fn resolve_chat_agent(args: &args::ChatArgs) -> Result<ChatAgent, CliError> {
    match RunTarget::resolve_run_target(&args.target)? {
        RunTarget::Server(api) => {
            if !args.folders.workflows.is_empty() {
                return Err(CliError::new("--workflows is for conversations in this process")
                    .with_hint("a server runs this one: name its folders when you start it")
                    .with_exit_status(ExitStatus::Usage));
            }
            if args.workspace_args.workspace.is_some() {
                output_streams::print_stderr_note(&format!(
                    "The agents are those of the server at {}.",
                    api.server_url()
                ));
            }
            let agent = match &args.agent {
                Some(agent) => agent.clone(),
                None => api.default_agent_name().await?,
            };
            Ok(ChatAgent {
                engine: RunClient::from_rest_client(api),
                agent,
                model_label: None,
                _following: None,
            })
        }
        place @ RunTarget::Folder { .. } => open_local_chat_agent(args, place).await,
    }
}

/// An agent of the workspace, in this process.
async fn open_local_chat_agent(args: &args::ChatArgs, target: RunTarget) -> Result<ChatAgent, CliError> {
    let workspace = args.workspace_args.workspace.as_deref();
    let (server, loader) =
        local_server::build_server_and_loader(workspace, &args.folders, &args.target.data.folder)?;
    let following = loader.load_and_follow_agents()?;
    let agents = following.agents.borrow().clone();
    let name = args.agent.as_ref().or(agents.default_agent.as_ref());
    let spec = find_agent_spec(&agents.specs, name.map(String::as_str))?;
    let model = agents.resources.find_model_or_default(spec.model.as_deref()).ok();
    let label = model.map(|model| model.provider.model_label().to_owned());
    let agent = spec.name.clone();
    let server = server.agents_from(following.agents.clone());
    let engine = RunClient::open_or_create_with_server(target, server, &args.testing).await?;
    Ok(ChatAgent { engine, agent, model_label: label, _following: Some(following) })
}

fn find_agent_spec<'a>(specs: &'a [AgentSpec], name: Option<&str>) -> Result<&'a AgentSpec, CliError> {
    let found = match name {
        Some(name) => specs.iter().find(|spec| spec.name == name),
        None => specs.first(),
    };
    found.ok_or_else(|| {
        let name = name.unwrap_or_default();
        let known: Vec<String> = specs.iter().map(|spec| spec.name.clone()).collect();
        CliError::unknown_workflow(format!("there is no agent {name:?}"), name, &known)
    })
}
