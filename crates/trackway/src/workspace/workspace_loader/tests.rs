//! Workspaces that change.

use std::fs;

use super::{super::tests::workspace_with_files, *};

/// A refused workspace closes nothing: a script continues where it was.
#[test]
fn models_stay_open_over_a_mistake() {
    let config = "[defaults]\nmodel = \"stage\"\n\
                  [models.stage]\nprovider = \"scripted\"\nfile = \"s.yaml\"\n";
    let folder =
        workspace_with_files(&[("trackway.toml", config), ("s.yaml", "answers: [{ text: once }]\n")]);
    let write = |text: &str| fs::write(folder.path().join("trackway.toml"), text).unwrap();
    let mut loader = WorkspaceLoader::new(folder.path(), &[], Server::new);
    let model =
        |agents: AgentSet| agents.resources.find_model_or_default(Some("stage")).unwrap().provider.clone();
    let before = model(loader.load_agents().unwrap());
    write("[defaults]\nmodel = \"gone\"\n");
    assert!(loader.load_agents().is_err());
    write(config);
    let after = model(loader.load_agents().unwrap());
    assert!(Arc::ptr_eq(&before, &after));
}

/// A change during the first read of a workspace is noticed.
#[tokio::test]
async fn a_change_during_the_first_look_is_seen() {
    let folder = workspace_with_files(&[("agents/a.md", "---\n---\n")]);
    let late = folder.path().join("agents/b.md");
    // Called after the files have been read.
    let server = move || {
        if !late.exists() {
            fs::write(&late, "---\n---\n").unwrap();
        }
        Server::new()
    };
    let following = WorkspaceLoader::new(folder.path(), &[], server).load_and_follow_agents().unwrap();
    let mut agents = following.agents.clone();
    agents.wait_for(|agents| agents.specs.len() == 2).await.unwrap();
}
