//! `mcp.json`: the list of MCP servers. The format is the one that MCP clients commonly use: an object
//! `mcpServers` (or `servers`) of commands and addresses by name.
//!
//! Anything unknown is an error. A setting that is silently ignored is worse than none.

mod server_entry_parser;

use std::{collections::BTreeMap, fmt, path::PathBuf, time::Duration};

use reqwest::Url;
use serde_json::{Map, Value};
use trackway_definition::nearest_known_word;

pub use server_entry_parser::MissingEnvVar;
use server_entry_parser::parse_server_entry;

/// Most servers in one file. Each may be a process; a file with more is a mistake.
/// Limit (Tools): tool servers of one file.
const SERVERS_MAX: usize = 64;

/// The servers of a workspace, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct McpConfig {
    pub servers: BTreeMap<String, McpServerConfig>,
    /// Configured but switched off.
    pub disabled: Vec<String>,
}

/// One server. A server that is equal to a running one is not restarted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpServerConfig {
    pub transport: McpServerTransport,
    /// How long a call may take; the default if absent.
    pub call_timeout: Option<Duration>,
}

/// How a server is reached.
#[derive(Clone, PartialEq, Eq)]
pub enum McpServerTransport {
    /// A local process that speaks on its standard input and output.
    Stdio {
        command: String,
        args: Vec<String>,
        env: BTreeMap<String, String>,
        /// Its working directory; the workspace if absent.
        cwd: Option<PathBuf>,
    },
    /// An address that speaks Streamable HTTP.
    Http { url: String, headers: BTreeMap<String, String> },
}

/// Values are often secrets. Arguments and everything after the host of an address may be too. They
/// stay out of logs.
impl fmt::Debug for McpServerTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdio { command, env, cwd, .. } => f
                .debug_struct("Stdio")
                .field("command", command)
                .field("env", &env.keys().collect::<Vec<_>>())
                .field("cwd", cwd)
                .finish_non_exhaustive(),
            Self::Http { url, headers } => f
                .debug_struct("Http")
                .field("url", &redact_url_to_origin(url))
                .field("headers", &headers.keys().collect::<Vec<_>>())
                .finish(),
        }
    }
}

impl fmt::Display for McpServerTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdio { command, .. } => f.write_str(command),
            Self::Http { url, .. } => f.write_str(&redact_url_to_origin(url)),
        }
    }
}

/// Only the host: queries and paths may contain keys.
fn redact_url_to_origin(url: &str) -> String {
    let Ok(url) = Url::parse(url) else { return "(no address)".to_owned() };
    let origin = url.origin().ascii_serialization();
    if url.path() == "/" && url.query().is_none() { origin } else { format!("{origin}/…") }
}

/// An error in the file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}{}", finding_location_prefix(key), suggestion_suffix(suggestion.as_deref()))]
pub struct McpConfigFinding {
    /// The location: `mcpServers.files.command`; empty for the whole file.
    pub key: String,
    pub message: String,
    /// The key that was probably intended.
    pub suggestion: Option<String>,
}

fn finding_location_prefix(key: &str) -> String {
    if key.is_empty() { String::new() } else { format!("{key}: ") }
}

fn suggestion_suffix(suggestion: Option<&str>) -> String {
    suggestion.map_or_else(String::new, |word| format!(" (did you mean `{word}`?)"))
}

impl McpConfigFinding {
    fn new(key: impl Into<String>, message: impl Into<String>) -> Self {
        Self { key: key.into(), message: message.into(), suggestion: None }
    }
}

impl McpConfig {
    /// Parses the file. `resolve` returns the value of `${env:NAME}`. All problems are reported at
    /// once.
    pub fn parse_mcp_config(
        text: &str,
        resolve_env_var: &dyn Fn(&str) -> Result<String, MissingEnvVar>,
    ) -> Result<Self, Vec<McpConfigFinding>> {
        let whole = serde_json::from_str::<Value>(text)
            .map_err(|error| vec![McpConfigFinding::new("", format!("it is not JSON: {error}"))])?;
        let Value::Object(whole) = whole else {
            return Err(vec![McpConfigFinding::new("", "it is not a JSON object")]);
        };
        let mut problems = Vec::new();
        let mut config = Self::default();
        let mut seen = None;
        for (key, value) in whole {
            match (&*key, value) {
                ("mcpServers" | "servers", Value::Object(servers)) => {
                    if let Some(other) = seen.replace(key.clone()) {
                        let message = format!("`{other}` is there too: one list is enough");
                        problems.push(McpConfigFinding::new(key.clone(), message));
                    }
                    config.parse_server_entries(&key, servers, resolve_env_var, &mut problems);
                }
                ("mcpServers" | "servers", _) => {
                    let message = "it must be an object of servers by name";
                    problems.push(McpConfigFinding::new(key, message));
                }
                ("$schema", Value::String(_)) => {}
                ("inputs", _) => {
                    let message = "inputs are not supported; write `${env:NAME}` instead";
                    problems.push(McpConfigFinding::new(key, message));
                }
                _ => problems.push(unknown_key_finding("", &key, &["mcpServers", "servers"])),
            }
        }
        if problems.is_empty() { Ok(config) } else { Err(problems) }
    }

    fn parse_server_entries(
        &mut self,
        location: &str,
        servers: Map<String, Value>,
        resolve_env_var: &dyn Fn(&str) -> Result<String, MissingEnvVar>,
        problems: &mut Vec<McpConfigFinding>,
    ) {
        if servers.len() > SERVERS_MAX {
            let message = format!("there are more than {SERVERS_MAX} servers");
            problems.push(McpConfigFinding::new(location, message));
            return;
        }
        for (name, value) in servers {
            let at = format!("{location}.{name}");
            if name.is_empty() {
                problems.push(McpConfigFinding::new(at, "a server has no name"));
                continue;
            }
            match parse_server_entry(&at, value, resolve_env_var) {
                Ok(Some(server)) => {
                    self.servers.insert(name, server);
                }
                Ok(None) => self.disabled.push(name),
                Err(found) => problems.extend(found),
            }
        }
    }
}

fn unknown_key_finding(location: &str, key: &str, known: &[&str]) -> McpConfigFinding {
    let at = if location.is_empty() { key.to_owned() } else { format!("{location}.{key}") };
    McpConfigFinding {
        suggestion: nearest_known_word(key, known.iter().copied()).map(str::to_owned),
        ..McpConfigFinding::new(at, "there is no such key")
    }
}

#[cfg(test)]
mod tests;
