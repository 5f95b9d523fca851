//! A folder with workflows and a data folder, as somebody has who uses `trackway mcp`.

use std::{
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
};

use serde_json::{Value, json};

use super::client::{Era, Mcp, Person};
use crate::support::{Finished, Folder};

#[derive(Debug)]
pub(super) struct Shop {
    folder: Folder,
    workflows: PathBuf,
}

impl Shop {
    /// With these workflows, each in the file of its id.
    pub(super) fn with(definitions: &[Value]) -> Self {
        let folder = Folder::new();
        let workflows = folder.path().join("workflows");
        std::fs::create_dir(&workflows).unwrap();
        let shop = Self { folder, workflows };
        definitions.iter().for_each(|definition| shop.write(definition));
        shop
    }

    /// On a folder of workflows that somebody else made.
    pub(super) fn on(workflows: &Path) -> Self {
        Self { folder: Folder::new(), workflows: workflows.to_owned() }
    }

    /// Another data folder with the same workflows.
    pub(super) fn neighbour(&self) -> Self {
        Self { folder: Folder::new(), workflows: self.workflows.clone() }
    }

    /// Writes a workflow, or writes it anew.
    pub(super) fn write(&self, definition: &Value) {
        let file = format!("{}.json", definition["id"].as_str().unwrap());
        std::fs::write(self.workflows.join(file), definition.to_string()).unwrap();
    }

    /// A file of any text.
    pub(super) fn write_text(&self, file: &str, text: &str) {
        std::fs::write(self.workflows.join(file), text).unwrap();
    }

    pub(super) fn remove(&self, workflow: &str) {
        std::fs::remove_file(self.workflows.join(format!("{workflow}.json"))).unwrap();
    }

    pub(super) fn data(&self) -> PathBuf {
        self.folder.data()
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(super) fn workflows(&self) -> &str {
        self.workflows.to_str().unwrap()
    }

    /// A client of the newest revision that cannot ask a person.
    pub(super) fn agent(&self) -> Mcp {
        self.agent_as(Era::Newest, Person::Unasked)
    }

    pub(super) fn agent_as(&self, era: Era, person: Person) -> Mcp {
        self.agent_with(era, person, &["--checkpoints", "on"])
    }

    pub(super) fn agent_with(&self, era: Era, person: Person, more: &[&str]) -> Mcp {
        let data = self.data();
        let mut args = vec!["mcp", "--data", data.to_str().unwrap()];
        args.extend(["--workflows", self.workflows()]);
        args.extend(more);
        static SERVERS: AtomicU32 = AtomicU32::new(0);
        let name = format!("pid-{}", SERVERS.fetch_add(1, Ordering::Relaxed));
        Mcp::stdio(era, person, &self.folder.path().join(name), &args)
    }

    /// A command on the data folder.
    pub(super) fn cli(&self, args: &[&str]) -> Finished {
        self.folder.trackway(args)
    }

    /// A command that prints JSON.
    pub(super) fn json(&self, args: &[&str]) -> Value {
        self.cli(&[args, &["--json"]].concat()).expect(0).json()
    }
}

/// A workflow with this id and these steps.
pub(super) fn workflow(id: &str, steps: Value) -> Value {
    json!({
        "id": id, "name": format!("The {id}"), "description": "A workflow of a test.",
        "version": "1.0.0", "steps": steps,
    })
}

/// A step with nothing but a prompt.
pub(super) fn step(id: &str) -> Value {
    json!({ "id": id, "title": format!("Title of {id}"), "prompt": format!("Do {id}.") })
}

/// Three plain steps: `first`, `second`, `third`.
pub(super) fn three() -> Value {
    workflow("three", json!([step("first"), step("second"), step("third")]))
}
