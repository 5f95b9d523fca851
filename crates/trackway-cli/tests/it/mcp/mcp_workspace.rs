//! A folder with workflows and a data folder, as a user of `trackway mcp` has.

use std::{
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
};

use serde_json::{Value, json};

use super::client::{ConfirmationReply, McpTestClient, ProtocolRevision};
use crate::support::{CommandOutput, TestFolder};

#[derive(Debug)]
pub(super) struct McpWorkspace {
    folder: TestFolder,
    workflows: PathBuf,
}

impl McpWorkspace {
    /// With these workflows, each in a file named by its id.
    pub(super) fn with_workflows(definitions: &[Value]) -> Self {
        let folder = TestFolder::new();
        let workflows = folder.path().join("workflows");
        std::fs::create_dir(&workflows).unwrap();
        let shop = Self { folder, workflows };
        definitions.iter().for_each(|definition| shop.write_workflow(definition));
        shop
    }

    /// On an existing folder of workflows.
    pub(super) fn on_folder(workflows: &Path) -> Self {
        Self { folder: TestFolder::new(), workflows: workflows.to_owned() }
    }

    /// Another data folder with the same workflows.
    pub(super) fn with_other_data_folder(&self) -> Self {
        Self { folder: TestFolder::new(), workflows: self.workflows.clone() }
    }

    /// Writes or replaces a workflow.
    pub(super) fn write_workflow(&self, definition: &Value) {
        let file = format!("{}.json", definition["id"].as_str().unwrap());
        std::fs::write(self.workflows.join(file), definition.to_string()).unwrap();
    }

    /// A file of any text.
    pub(super) fn write_text(&self, file: &str, text: &str) {
        std::fs::write(self.workflows.join(file), text).unwrap();
    }

    pub(super) fn remove_workflow(&self, workflow: &str) {
        std::fs::remove_file(self.workflows.join(format!("{workflow}.json"))).unwrap();
    }

    pub(super) fn data(&self) -> PathBuf {
        self.folder.data_path()
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(super) fn workflows(&self) -> &str {
        self.workflows.to_str().unwrap()
    }

    /// A client of the newest revision that cannot ask a person.
    pub(super) fn connect(&self) -> McpTestClient {
        self.connect_as(ProtocolRevision::Newest, ConfirmationReply::Unasked)
    }

    pub(super) fn connect_as(&self, era: ProtocolRevision, person: ConfirmationReply) -> McpTestClient {
        self.connect_with(era, person, &["--checkpoints", "on"])
    }

    pub(super) fn connect_with(
        &self,
        era: ProtocolRevision,
        person: ConfirmationReply,
        more: &[&str],
    ) -> McpTestClient {
        let data = self.data();
        let mut args = vec!["mcp", "--data", data.to_str().unwrap()];
        args.extend(["--workflows", self.workflows()]);
        args.extend(more);
        static SERVERS: AtomicU32 = AtomicU32::new(0);
        let name = format!("pid-{}", SERVERS.fetch_add(1, Ordering::Relaxed));
        McpTestClient::stdio(era, person, &self.folder.path().join(name), &args)
    }

    /// A command on the data folder.
    pub(super) fn run_command(&self, args: &[&str]) -> CommandOutput {
        self.folder.run_command(args)
    }

    /// A command that prints JSON.
    pub(super) fn run_json_command(&self, args: &[&str]) -> Value {
        self.run_command(&[args, &["--json"]].concat()).expect(0).json()
    }
}

/// A workflow with this id and these steps.
pub(super) fn workflow_definition(id: &str, steps: Value) -> Value {
    json!({
        "id": id, "name": format!("The {id}"), "description": "A workflow of a test.",
        "version": "1.0.0", "steps": steps,
    })
}

/// A step with only a prompt.
pub(super) fn prompt_step(id: &str) -> Value {
    json!({ "id": id, "title": format!("Title of {id}"), "prompt": format!("Do {id}.") })
}

/// Three plain steps: `first`, `second`, `third`.
pub(super) fn three_step_workflow() -> Value {
    workflow_definition("three", json!([prompt_step("first"), prompt_step("second"), prompt_step("third")]))
}
