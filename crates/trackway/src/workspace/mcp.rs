//! `mcp.json`: the servers whose tools agents may use.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde_json::Value;
pub use trackway_agent::SERVER_MARK as JOINT;
use trackway_agent::{ConfigProblem, McpConfig, Missing, in_plain_letters};
use trackway_definition::{Format, Located, locate};

use super::front::escaped;
use crate::workspace::{finding::Finding, reference::Variables};

pub const FILE: &str = "mcp.json";

/// The file, as it was read.
#[derive(Debug, Default)]
pub struct McpFile {
    pub path: PathBuf,
    /// The servers to run.
    pub config: McpConfig,
    /// Every server in the file.
    pub servers: Vec<Named>,
}

/// A server in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    pub name: String,
    pub line: Option<u32>,
}

impl McpFile {
    pub(super) fn read(workspace: &Path, variables: Variables<'_>) -> (Self, Vec<Finding>) {
        let path = workspace.join(FILE);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Default::default(),
            Err(error) => {
                let unread = Finding::error(format!("it cannot be read: {error}")).file(&path);
                return (Self::default(), vec![unread]);
            }
        };
        let located = match locate(&text, Format::Json) {
            Ok(located) => located,
            Err(fault) => {
                let finding = Finding::error(fault.message).file(&path).line(fault.line);
                return (Self { path, ..Self::default() }, vec![finding]);
            }
        };
        let resolve = |name: &str| variables(name).ok_or_else(|| Missing { name: name.to_owned() });
        let servers = servers(&located);
        match McpConfig::parse(&text, &resolve) {
            Ok(config) => (Self { path, config, servers }, Vec::new()),
            Err(problems) => {
                let findings = problems.iter().map(|problem| finding(&path, &located, problem));
                let findings = findings.collect();
                (Self { path, config: McpConfig::default(), servers }, findings)
            }
        }
    }
}

fn finding(path: &Path, located: &Located, problem: &ConfigProblem) -> Finding {
    // For a name with a dot, this finds the line of the enclosing entry.
    let pointer: String =
        problem.key.split('.').map(|token| format!("/{}", escaped(token))).collect();
    let line = if problem.key.is_empty() { Some(1) } else { located.line(&pointer) };
    let finding = Finding::error(&problem.message).file(path).line(line);
    finding.key(&problem.key).meant(problem.suggestion.as_deref())
}

fn servers(located: &Located) -> Vec<Named> {
    let mut servers = Vec::new();
    for list in ["mcpServers", "servers"] {
        let Some(Value::Object(entries)) = located.value.get(list) else { continue };
        for name in entries.keys() {
            let line = located.line(&format!("/{list}/{}", escaped(name)));
            servers.push(Named { name: name.clone(), line });
        }
    }
    servers
}

impl Named {
    /// The prefix of its tool names, with only the characters that models accept.
    pub fn prefix(&self) -> String {
        in_plain_letters(&self.name)
    }
}
