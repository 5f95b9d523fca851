//! `trackway init`.

use std::{fs, path::Path, process::Command};

use crate::support::{InitializedProject, TestFolder, trackway_command};

/// Proves L19.
#[test]
fn a_project_uses_all_four_yields() {
    let folder = TestFolder::new();
    let dir = folder.path().join("My Shop");
    let made = trackway_command(&["init", &dir.to_string_lossy()]).run_to_end("").expect(0);
    assert!(made.stdout.contains("cargo run"), "{made:?}");
    let main = fs::read_to_string(dir.join("src/main.rs")).unwrap();
    for verb in ["ctx.status(", "ctx.artifact(", "ctx.ask(", "ctx.authorize(", "reject(", ".step("] {
        assert!(main.contains(verb), "{verb}");
    }
    let manifest = fs::read_to_string(dir.join("Cargo.toml")).unwrap();
    assert!(manifest.contains("name = \"my-shop\"") && manifest.contains("[workspace]"), "{manifest}");
    for file in ["README.md", ".gitignore", "Cargo.lock", "agents/assistant.md"] {
        assert!(dir.join(file).is_file(), "{file}");
    }
    let workspace = dir.to_string_lossy();
    let report = trackway_command(&["doctor", "--workspace", &workspace]).run_to_end("").expect(0);
    assert!(report.stdout.contains("The workspace can be used"), "{report:?}");
    for text in [main, manifest, fs::read_to_string(dir.join("README.md")).unwrap()] {
        assert!(!text.contains("{{"), "{text}");
    }
}

/// Proves X5: a project can start in a folder with other files; without a name it takes the folder's.
#[test]
fn a_project_begins_among_other_files() {
    let folder = TestFolder::new();
    let dir = folder.path().join("shop");
    fs::create_dir_all(dir.join("workflows")).unwrap();
    fs::write(dir.join("workflows/mine.yaml"), "mine").unwrap();
    let made = trackway_command(&["init"]).in_folder(&dir).run_to_end("").expect(0);
    assert!(!made.stdout.contains("  cd "), "{made:?}");
    assert!(dir.join("src/main.rs").is_file());
    assert_eq!(fs::read_to_string(dir.join("workflows/mine.yaml")).unwrap(), "mine");
    let manifest = fs::read_to_string(dir.join("Cargo.toml")).unwrap();
    assert!(manifest.contains("name = \"shop\""), "{manifest}");
}

/// Proves X5: existing files are not overwritten, and then nothing is written at all.
#[test]
fn what_is_there_is_left_alone() {
    let folder = TestFolder::new();
    let mine = folder.path().join("README.md");
    fs::write(&mine, "mine").unwrap();
    let refused = trackway_command(&["init", &folder.path().to_string_lossy()]).run_to_end("").expect(2);
    assert!(refused.stderr.contains("README.md already exists"), "{refused:?}");
    assert_eq!(fs::read_to_string(&mine).unwrap(), "mine");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing was made");
    fs::remove_file(&mine).unwrap();
    fs::write(folder.path().join("src"), "no folder").unwrap();
    let refused = trackway_command(&["init", &folder.path().to_string_lossy()]).run_to_end("").expect(2);
    assert!(refused.stderr.contains("src already exists"), "{refused:?}");
    let dir = folder.path().join("new");
    let args = ["init", &dir.to_string_lossy(), "--trackway", &folder.path().to_string_lossy()];
    let refused = trackway_command(&args).run_to_end("").expect(2);
    assert!(refused.stderr.contains("not a checkout"), "{refused:?}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing was made");
}

/// Proves L19: the generated project builds, and its workflow runs to its end.
#[test]
fn heavy_init_builds() {
    let folder = TestFolder::new();
    let dir = folder.path().join("shop");
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let args = ["init", &dir.to_string_lossy(), "--trackway", &checkout.to_string_lossy()];
    trackway_command(&args).run_to_end("").expect(0);
    let program = build(&dir);

    let mut shop = InitializedProject::start(&program, &dir);
    let url = shop.url();
    let args =
        ["run", "purchase", "--input", r#"{"item": "coffee", "count": 2}"#, "--json", "--server", &url];
    let run = trackway_command(&args).run_to_end("{\"approved\": true}\n{\"signature\": \"me\"}\n").expect(0);
    let expected = [
        "submitted",
        "working",
        "working",
        "input-required",
        "working",
        "auth-required",
        "working",
        "completed",
    ];
    assert_eq!(run.states(), expected);
    assert_eq!(run.json_lines().last().unwrap()["output"]["signed_by"], "me");
    // Issue 11, A7: the same program serves the agent of the folder, which dispatches the workflow.
    let talk = ["chat", "--json", "--server", &url];
    let said = trackway_command(&talk).run_to_end("/run purchase item=tea count=1\n").expect(0);
    assert!(said.stdout.contains("dispatch_workflow_purchase"), "{said:?}");
    assert!(said.stdout.contains("1 × tea: 3 coins"), "{said:?}");
    let nothing = ["run", "purchase", "--input", r#"{"item": "nothing", "count": 1}"#, "--server", &url];
    trackway_command(&nothing).run_to_end("").expect(4);
}

/// Builds the project, without the network if possible. It reuses the workspace's build: nearly everything,
/// and most of what the gate would wait for.
fn build(dir: &Path) -> std::path::PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("it lies in the target folder");
    let cargo = |args: &[&str]| {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet"]).args(args).current_dir(dir).env("CARGO_TARGET_DIR", target);
        // The same setting as the workspace uses for its dependencies.
        cargo.env("CARGO_PROFILE_DEV_DEBUG", "0").status().unwrap().success()
    };
    assert!(cargo(&["--offline"]) || cargo(&[]), "the project does not build");
    target.join("debug/shop")
}
