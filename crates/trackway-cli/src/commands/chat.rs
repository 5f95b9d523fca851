//! `trackway chat`: talks to an agent, here or on a server.

use trackway_agent::AgentSpec;

use super::here;
use crate::{
    args,
    chat::Chat,
    engine::Engine,
    exit::Exit,
    failure::Failure,
    output,
    place::{Again, Place},
    signals::Signals,
    workspace::follow::Following,
};

/// The agent of a conversation.
struct Partner {
    engine: Engine,
    agent: String,
    /// The model, if it is known at the start.
    label: Option<String>,
    /// Keeps an agent of this process up to date with its file.
    _following: Option<Following>,
}

pub(super) async fn chat(args: args::Chat) -> Result<Exit, Failure> {
    let mut signals = Signals::install()?;
    let Partner { engine, agent, label, _following } = partner(&args).await?;
    let ended = talk(&args, &engine, agent, label.as_deref(), &mut signals).await;
    engine.close().await;
    ended
}

async fn talk(
    args: &args::Chat,
    engine: &Engine,
    agent: String,
    label: Option<&str>,
    signals: &mut Signals,
) -> Result<Exit, Failure> {
    let again = Again { place: &args.place, within: &args.within };
    let mut chat = Chat::new(engine, again, agent, args.json);
    chat.greet(label)?;
    let session = match &args.session {
        Some(session) => Some(session.clone()),
        None if args.resume => chat.newest().await?,
        None => None,
    };
    match session {
        Some(session) => chat.take_up(session).await?,
        None if args.resume => output::note("There is no earlier session; a new one begins."),
        None => {}
    }
    chat.run(signals).await
}

async fn partner(args: &args::Chat) -> Result<Partner, Failure> {
    match Place::find(&args.place)? {
        Place::Server(api) => {
            if !args.folders.workflows.is_empty() {
                return Err(Failure::new("--workflows is for conversations in this process")
                    .hint("a server runs this one: name its folders when you start it")
                    .exit(Exit::Usage));
            }
            if args.within.workspace.is_some() {
                output::note(&format!("The agents are those of the server at {}.", api.url()));
            }
            let agent = match &args.agent {
                Some(agent) => agent.clone(),
                None => api.default_agent().await?,
            };
            Ok(Partner { engine: Engine::server(api), agent, label: None, _following: None })
        }
        place @ Place::Folder { .. } => in_process(args, place).await,
    }
}

/// An agent of the workspace, in this process.
async fn in_process(args: &args::Chat, place: Place) -> Result<Partner, Failure> {
    let workspace = args.within.workspace.as_deref();
    let (server, loader) = here::workflows(workspace, &args.folders, &args.place.data.folder)?;
    let following = loader.follow()?;
    let agents = following.agents.borrow().clone();
    let name = args.agent.as_ref().or(agents.default_agent.as_ref());
    let spec = spec(&agents.specs, name.map(String::as_str))?;
    let model = agents.stock.model(spec.model.as_deref()).ok();
    let label = model.map(|model| model.provider.label().to_owned());
    let agent = spec.name.clone();
    let server = server.agents_from(following.agents.clone());
    let engine = Engine::open_as(place, server, &args.testing).await?;
    Ok(Partner { engine, agent, label, _following: Some(following) })
}

fn spec<'a>(specs: &'a [AgentSpec], name: Option<&str>) -> Result<&'a AgentSpec, Failure> {
    let found = match name {
        Some(name) => specs.iter().find(|spec| spec.name == name),
        None => specs.first(),
    };
    found.ok_or_else(|| {
        let name = name.unwrap_or_default();
        let known: Vec<String> = specs.iter().map(|spec| spec.name.clone()).collect();
        Failure::unknown_workflow(format!("there is no agent {name:?}"), name, &known)
    })
}
