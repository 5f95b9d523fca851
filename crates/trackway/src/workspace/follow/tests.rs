//! Workspaces that change.

use std::fs;

use super::{super::tests::folder, *};

/// A workspace that is refused closes nothing: a script goes on where it was.
#[test]
fn models_stay_open_over_a_mistake() {
    let config = "[defaults]\nmodel = \"stage\"\n\
                  [models.stage]\nprovider = \"scripted\"\nfile = \"s.yaml\"\n";
    let folder = folder(&[("trackway.toml", config), ("s.yaml", "answers: [{ text: once }]\n")]);
    let write = |text: &str| fs::write(folder.path().join("trackway.toml"), text).unwrap();
    let mut loader = Loader::new(folder.path(), &[], Server::new);
    let model = |agents: Agents| agents.stock.model(Some("stage")).unwrap().provider.clone();
    let before = model(loader.load().unwrap());
    write("[defaults]\nmodel = \"gone\"\n");
    assert!(loader.load().is_err());
    write(config);
    let after = model(loader.load().unwrap());
    assert!(Arc::ptr_eq(&before, &after));
}

/// What changes while a workspace is read for the first time is seen.
#[tokio::test]
async fn a_change_during_the_first_look_is_seen() {
    let folder = folder(&[("agents/a.md", "---\n---\n")]);
    let late = folder.path().join("agents/b.md");
    // Asked for once the files have been read.
    let server = move || {
        if !late.exists() {
            fs::write(&late, "---\n---\n").unwrap();
        }
        Server::new()
    };
    let following = Loader::new(folder.path(), &[], server).follow().unwrap();
    let mut agents = following.agents.clone();
    agents.wait_for(|agents| agents.specs.len() == 2).await.unwrap();
}
