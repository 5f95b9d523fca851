//! `mcp.json`: the servers whose tools agents may use.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde_json::Value;
pub use trackway_agent::SERVER_SEPARATOR as JOINT;
use trackway_agent::{McpConfig, McpConfigFinding, MissingEnvVar, sanitize_tool_name};
use trackway_definition::{FileFormat, LocatedValue, parse_located};

use super::front_matter::escape_pointer_token;
use crate::workspace::{env_reference::EnvLookup, finding::Finding};

pub const FILE: &str = "mcp.json";

/// The file, as it was read.
#[derive(Debug, Default)]
pub struct McpFile {
    pub path: PathBuf,
    /// The servers to run.
    pub config: McpConfig,
    /// Every server in the file.
    pub servers: Vec<NamedServer>,
}

/// A server in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedServer {
    pub name: String,
    pub line: Option<u32>,
}

impl McpFile {
    pub(super) fn load(workspace: &Path, variables: EnvLookup<'_>) -> (Self, Vec<Finding>) {
        let path = workspace.join(FILE);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Default::default(),
            Err(error) => {
                let unread = Finding::error(format!("it cannot be read: {error}")).with_file(&path);
                return (Self::default(), vec![unread]);
            }
        };
        let located = match parse_located(&text, FileFormat::Json) {
            Ok(located) => located,
            Err(fault) => {
                let finding = Finding::error(fault.message).with_file(&path).with_line(fault.line);
                return (Self { path, ..Self::default() }, vec![finding]);
            }
        };
        let resolve = |name: &str| variables(name).ok_or_else(|| MissingEnvVar { name: name.to_owned() });
        let servers = named_servers(&located);
        match McpConfig::parse(&text, &resolve) {
            Ok(config) => (Self { path, config, servers }, Vec::new()),
            Err(problems) => {
                let findings = problems.iter().map(|problem| config_finding(&path, &located, problem));
                let findings = findings.collect();
                (Self { path, config: McpConfig::default(), servers }, findings)
            }
        }
    }
}

fn config_finding(path: &Path, located: &LocatedValue, problem: &McpConfigFinding) -> Finding {
    // For a name with a dot, this finds the line of the enclosing entry.
    let pointer: String =
        problem.key.split('.').map(|token| format!("/{}", escape_pointer_token(token))).collect();
    let line = if problem.key.is_empty() { Some(1) } else { located.line_of(&pointer) };
    let finding = Finding::error(&problem.message).with_file(path).with_line(line);
    finding.with_key(&problem.key).with_nearest_name(problem.suggestion.as_deref())
}

fn named_servers(located: &LocatedValue) -> Vec<NamedServer> {
    let mut servers = Vec::new();
    for list in ["mcpServers", "servers"] {
        let Some(Value::Object(entries)) = located.value.get(list) else { continue };
        for name in entries.keys() {
            let line = located.line_of(&format!("/{list}/{}", escape_pointer_token(name)));
            servers.push(NamedServer { name: name.clone(), line });
        }
    }
    servers
}

impl NamedServer {
    /// The prefix of its tool names, with only the characters that models accept.
    pub fn tool_prefix(&self) -> String {
        sanitize_tool_name(&self.name)
    }
}
