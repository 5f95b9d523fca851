//! Agents that are added, changed and removed while a registry is in use.

use std::path::Path;

use trackway_agent::TurnBudgets;
use trackway_mesh::PeerRegistryOptions;
use trackway_runtime::SystemIds;
use trackway_sqlite::FolderKeys;

use super::*;

fn spec(name: &str, prompt: &str) -> AgentSpec {
    AgentSpec {
        name: name.to_owned(),
        description: prompt.to_owned(),
        model: None,
        tools: Vec::new(),
        workflows: Vec::new(),
        peers: Vec::new(),
        approvals: BTreeMap::new(),
        budgets: TurnBudgets::default(),
        model_timeout: None,
        first_answer_timeouts: Default::default(),
        skills: Vec::new(),
        prompt: prompt.to_owned(),
    }
}

fn agents(specs: &[(&str, &str)]) -> AgentSet {
    let specs = specs.iter().map(|(name, prompt)| spec(name, prompt)).collect();
    AgentSet { specs, ..AgentSet::default() }
}

/// The agents for new turns, as `name prompt`.
fn registered_names(registry: &ProgramRegistry) -> Vec<String> {
    let programs = registry.list_current_programs();
    programs.iter().map(|it| format!("{} {}", it.info().name, it.info().description)).collect()
}

async fn new_supervisor(registry: &Arc<ProgramRegistry>) -> AgentSupervisor {
    let servers = McpServers::start_servers(McpConfig::default(), PathBuf::new());
    let peers = PeerRegistry::start(PeerRegistryOptions {
        configuration: MeshConfiguration::default(),
        // Nothing is added, so the folder is not made.
        keys: Arc::new(FolderKeys::in_folder(Path::new("none"))),
        clock: Arc::new(SystemClock),
        ids: Arc::new(SystemIds),
    });
    AgentSupervisor::new(registry.clone(), Vec::new(), servers, peers.await.unwrap())
}

#[tokio::test]
async fn agents_come_change_and_go() {
    let registry = Arc::new(ProgramRegistry::new());
    let workflow = AgentProgram::new(spec("echo", "a workflow"), Arc::default());
    registry.add_program(Arc::new(workflow)).unwrap();
    let mut staff = new_supervisor(&registry).await;
    staff.replace_agents(agents(&[("ann", "1"), ("ben", "1"), ("echo", "1"), ("no name", "1")]));
    assert_eq!(registered_names(&registry), ["ann 1", "ben 1", "echo a workflow"]);
    staff.replace_agents(agents(&[("ann", "2"), ("cem", "1")]));
    assert_eq!(registered_names(&registry), ["ann 2", "cem 1", "echo a workflow"]);
    // Turns in flight find the version that they began with.
    assert_eq!(registry.registered_versions("ann").len(), 2);
    assert_eq!(registry.registered_versions("ben").len(), 1);
    staff.replace_agents(agents(&[("ann", "1")]));
    assert_eq!(registered_names(&registry), ["ann 1", "echo a workflow"]);
}

/// An MCP server that becomes ready between the first read of its tools and the start of the
/// subscription to changes.
#[tokio::test]
async fn a_change_of_tools_before_they_are_followed_is_seen() {
    let registry = Arc::new(ProgramRegistry::new());
    let mut staff = new_supervisor(&registry).await;
    staff.replace_agents(agents(&[]));
    let (workshop, servers) = (staff.resources.clone(), staff.servers.clone());
    let before = workshop.current_snapshot();
    servers.update_config(McpConfig::default()).await;
    let following = tokio::spawn(staff.follow_agent_changes(watch::channel(agents(&[])).1));
    while Arc::ptr_eq(&before, &workshop.current_snapshot()) {
        tokio::task::yield_now().await;
    }
    following.abort();
}

#[tokio::test]
async fn changes_are_followed() {
    let registry = Arc::new(ProgramRegistry::new());
    let (tell, changes) = watch::channel(agents(&[]));
    let following = tokio::spawn(new_supervisor(&registry).await.follow_agent_changes(changes));
    tell.send(agents(&[("ann", "1")])).unwrap();
    while registered_names(&registry) != ["ann 1"] {
        tokio::task::yield_now().await;
    }
    drop(tell);
    assert!(!following.is_finished(), "servers of tools are followed all the same");
    following.abort();
}
