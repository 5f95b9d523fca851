//! `mcp.json`: the servers whose tools agents may use.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use serde_json::Value;
use trackway_definition::{Format, Located, locate};

use super::front::escaped;
use crate::{finding::Finding, reference::Variables};

pub(crate) const FILE: &str = "mcp.json";
/// What stands between the name of a server and that of its tool.
pub(crate) const JOINT: &str = "__";

/// The servers that the file names.
#[derive(Debug, Default)]
pub(crate) struct McpFile {
    pub(crate) path: PathBuf,
    /// By name, the line.
    pub(crate) servers: BTreeMap<String, Option<u32>>,
}

impl McpFile {
    pub(super) fn read(workspace: &Path, _variables: Variables<'_>) -> (Self, Vec<Finding>) {
        let path = workspace.join(FILE);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Default::default(),
            Err(error) => {
                let unread = Finding::error(format!("it cannot be read: {error}")).file(&path);
                return (Self::default(), vec![unread]);
            }
        };
        match locate(&text, Format::Json) {
            Ok(located) => (Self { servers: servers(&located), path }, Vec::new()),
            Err(fault) => {
                let finding = Finding::error(fault.message).file(&path).line(fault.line);
                (Self { path, ..Self::default() }, vec![finding])
            }
        }
    }
}

fn servers(located: &Located) -> BTreeMap<String, Option<u32>> {
    let mut servers = BTreeMap::new();
    for list in ["mcpServers", "servers"] {
        let Some(Value::Object(entries)) = located.value.get(list) else { continue };
        for name in entries.keys() {
            let line = located.line(&format!("/{list}/{}", escaped(name)));
            servers.insert(name.clone(), line);
        }
    }
    servers
}
