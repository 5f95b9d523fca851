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
pub struct McpConfigFile {
    pub path: PathBuf,
    /// The servers to run.
    pub config: McpConfig,
    /// Every server in the file.
    pub servers: Vec<NamedMcpServer>,
}

/// A server in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedMcpServer {
    pub name: String,
    pub line: Option<u32>,
}

impl McpConfigFile {
    pub(super) fn load_mcp_file(workspace: &Path, variables: EnvLookup<'_>) -> (Self, Vec<Finding>) {
        let path = workspace.join(FILE);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Default::default(),
            Err(error) => {
                let unread =
                    Finding::error_finding(format!("it cannot be read: {error}")).located_in_file(&path);
                return (Self::default(), vec![unread]);
            }
        };
        let located = match parse_located(&text, FileFormat::Json) {
            Ok(located) => located,
            Err(fault) => {
                let finding =
                    Finding::error_finding(fault.message).located_in_file(&path).located_at_line(fault.line);
                return (Self { path, ..Self::default() }, vec![finding]);
            }
        };
        let resolve = |name: &str| variables(name).ok_or_else(|| MissingEnvVar { name: name.to_owned() });
        let servers = named_mcp_servers(&located);
        match McpConfig::parse_mcp_config(&text, &resolve) {
            Ok(config) => (Self { path, config, servers }, Vec::new()),
            Err(problems) => {
                let findings = problems.iter().map(|problem| mcp_config_finding(&path, &located, problem));
                let findings = findings.collect();
                (Self { path, config: McpConfig::default(), servers }, findings)
            }
        }
    }
}

fn mcp_config_finding(path: &Path, located: &LocatedValue, problem: &McpConfigFinding) -> Finding {
    // For a name with a dot, this finds the line of the enclosing entry.
    let pointer: String =
        problem.key.split('.').map(|token| format!("/{}", escape_pointer_token(token))).collect();
    let line = if problem.key.is_empty() { Some(1) } else { located.line_of_pointer(&pointer) };
    let finding = Finding::error_finding(&problem.message).located_in_file(path).located_at_line(line);
    finding.located_at_key(&problem.key).with_nearest_name_suggestion(problem.suggestion.as_deref())
}

fn named_mcp_servers(located: &LocatedValue) -> Vec<NamedMcpServer> {
    let mut servers = Vec::new();
    for list in ["mcpServers", "servers"] {
        let Some(Value::Object(entries)) = located.value.get(list) else { continue };
        for name in entries.keys() {
            let line = located.line_of_pointer(&format!("/{list}/{}", escape_pointer_token(name)));
            servers.push(NamedMcpServer { name: name.clone(), line });
        }
    }
    servers
}

impl NamedMcpServer {
    /// The prefix of its tool names, with only the characters that models accept.
    pub fn tool_prefix(&self) -> String {
        sanitize_tool_name(&self.name)
    }
}
