//! One server of `mcp.json`, read key by key.

use std::{collections::BTreeMap, time::Duration};

use reqwest::{
    Url,
    header::{HeaderName, HeaderValue},
};
use serde_json::{Map, Value};

use super::{McpConfigFinding, McpServerConfig, McpServerTransport, unknown_key_finding};

const STDIO_KEYS: [&str; 7] = ["command", "args", "env", "cwd", "type", "disabled", "timeoutSeconds"];
const HTTP_KEYS: [&str; 5] = ["url", "headers", "type", "disabled", "timeoutSeconds"];

/// Longest allowed time for a call: a day. More is probably a wrong unit.
/// Limit (Tools): time that the file may give one call.
const CALL_SECONDS_MAX: u64 = 24 * 60 * 60;

/// A server, or none if it is switched off.
pub(super) fn parse_server_entry(
    location: &str,
    value: Value,
    resolve_env_var: &dyn Fn(&str) -> Result<String, MissingEnvVar>,
) -> Result<Option<McpServerConfig>, Vec<McpConfigFinding>> {
    let Value::Object(map) = value else {
        return Err(vec![McpConfigFinding::new(location, "it must be an object with `command` or `url`")]);
    };
    let mut entry = ServerEntryParser { at: location, map, resolve: resolve_env_var, problems: Vec::new() };
    let is_off = entry.take_bool("disabled");
    let call_timeout = entry.take_duration("timeoutSeconds");
    let kind = entry.take_string("type");
    let reach = match (entry.map.contains_key("command"), entry.map.contains_key("url")) {
        (true, false) => entry.parse_stdio_transport(kind.as_deref()),
        (false, true) => entry.parse_http_transport(kind.as_deref()),
        (true, true) => {
            entry.report_unusable_entry("it has both `command` and `url`; a server is one of them")
        }
        (false, false) => entry.report_unusable_entry("it has neither `command` nor `url`"),
    };
    // A server that is switched off must not prevent a start, for example because of an unset variable.
    if is_off {
        return Ok(None);
    }
    match reach {
        Some(reach) if entry.problems.is_empty() => {
            Ok(Some(McpServerConfig { transport: reach, call_timeout }))
        }
        _ => Err(entry.problems),
    }
}

/// The keys of an entry that are still unread, and the problems so far.
struct ServerEntryParser<'a> {
    at: &'a str,
    map: Map<String, Value>,
    resolve: &'a dyn Fn(&str) -> Result<String, MissingEnvVar>,
    problems: Vec<McpConfigFinding>,
}

impl ServerEntryParser<'_> {
    fn parse_stdio_transport(&mut self, kind: Option<&str>) -> Option<McpServerTransport> {
        if let Some(kind) = kind.filter(|kind| *kind != "stdio") {
            self.report_key_finding("type", format!("a `command` is of type `stdio`, not `{kind}`"));
        }
        let command = self.take_string("command").unwrap_or_default();
        if command.is_empty() {
            self.report_key_finding("command", "it is empty");
        }
        let args = self.take_string_list("args");
        let env = self.take_string_map("env");
        for name in env.keys().filter(|name| name.is_empty() || name.contains(['=', '\0'])) {
            let message = format!("`{name}` is no name of a variable");
            self.problems.push(McpConfigFinding::new(format!("{}.env", self.at), message));
        }
        let cwd = self.take_string("cwd").map(Into::into);
        self.report_unknown_keys(&STDIO_KEYS);
        Some(McpServerTransport::Stdio { command, args, env, cwd })
    }

    fn parse_http_transport(&mut self, kind: Option<&str>) -> Option<McpServerTransport> {
        match kind {
            None | Some("http" | "streamable-http" | "streamableHttp") => {}
            Some("sse") => {
                let message = "the transport `sse` was replaced by Streamable HTTP and is not \
                               spoken; ask for the server's address of type `http`";
                self.report_key_finding("type", message);
            }
            Some(kind) => {
                self.report_key_finding("type", format!("a `url` is of type `http`, not `{kind}`"));
            }
        }
        let url = self.take_string("url").unwrap_or_default();
        match Url::parse(&url) {
            Ok(url) if !matches!(url.scheme(), "http" | "https") => {
                self.report_key_finding("url", "it is neither http nor https");
            }
            Ok(url) if !url.username().is_empty() || url.password().is_some() => {
                let message = "it has a name or password: write `Authorization` into `headers`";
                self.report_key_finding("url", message);
            }
            Ok(_) => {}
            Err(_) => self.report_key_finding("url", "it is not a URL"),
        }
        let headers = self.take_string_map("headers");
        for (name, value) in &headers {
            let is_usable = HeaderName::try_from(name).is_ok() && HeaderValue::try_from(value).is_ok();
            if !is_usable {
                // The value may be a secret.
                let message = "its name or value cannot be a header";
                let key = format!("{}.headers.{name}", self.at);
                self.problems.push(McpConfigFinding::new(key, message));
            }
        }
        self.report_unknown_keys(&HTTP_KEYS);
        Some(McpServerTransport::Http { url, headers })
    }

    fn report_unusable_entry(&mut self, message: &str) -> Option<McpServerTransport> {
        self.problems.push(McpConfigFinding::new(self.at, message));
        let known: Vec<&str> = STDIO_KEYS.into_iter().chain(["url", "headers"]).collect();
        self.map.retain(|key, _| !known.contains(&&**key));
        self.report_unknown_keys(&known);
        None
    }

    fn report_key_finding(&mut self, key: &str, message: impl Into<String>) {
        self.problems.push(McpConfigFinding::new(format!("{}.{key}", self.at), message));
    }

    /// Keys that were not read.
    fn report_unknown_keys(&mut self, known: &[&str]) {
        for key in self.map.keys() {
            self.problems.push(unknown_key_finding(self.at, key, known));
        }
    }

    fn take_bool(&mut self, key: &str) -> bool {
        match self.map.remove(key) {
            None => false,
            Some(Value::Bool(flag)) => flag,
            Some(_) => {
                self.report_key_finding(key, "it must be `true` or `false`");
                false
            }
        }
    }

    fn take_duration(&mut self, key: &str) -> Option<Duration> {
        let value = self.map.remove(key)?;
        match value.as_u64() {
            Some(seconds) if (1..=CALL_SECONDS_MAX).contains(&seconds) => Some(Duration::from_secs(seconds)),
            _ => {
                let message = format!("it must be a number of seconds, 1 to {CALL_SECONDS_MAX}");
                self.report_key_finding(key, message);
                None
            }
        }
    }

    fn take_string(&mut self, key: &str) -> Option<String> {
        match self.map.remove(key)? {
            Value::String(text) => self.expand_env_or_report(key, &text),
            _ => {
                self.report_key_finding(key, "it must be a text");
                None
            }
        }
    }

    fn take_string_list(&mut self, key: &str) -> Vec<String> {
        let Some(value) = self.map.remove(key) else { return Vec::new() };
        let Value::Array(items) = value else {
            self.report_key_finding(key, "it must be a list of texts");
            return Vec::new();
        };
        let mut texts = Vec::new();
        for (index, item) in items.into_iter().enumerate() {
            match item {
                Value::String(text) => {
                    texts.extend(self.expand_env_or_report(&format!("{key}[{index}]"), &text))
                }
                _ => self.report_key_finding(&format!("{key}[{index}]"), "it must be a text"),
            }
        }
        texts
    }

    fn take_string_map(&mut self, key: &str) -> BTreeMap<String, String> {
        let Some(value) = self.map.remove(key) else { return BTreeMap::new() };
        let Value::Object(items) = value else {
            self.report_key_finding(key, "it must be an object of texts");
            return BTreeMap::new();
        };
        let mut texts = BTreeMap::new();
        for (name, item) in items {
            let at = format!("{key}.{name}");
            // Numbers and booleans are often written without quotes, and have only one text form.
            let text = match item {
                Value::String(text) => self.expand_env_or_report(&at, &text),
                Value::Number(number) => Some(number.to_string()),
                Value::Bool(flag) => Some(flag.to_string()),
                _ => {
                    self.report_key_finding(&at, "it must be a text");
                    None
                }
            };
            texts.extend(text.map(|text| (name, text)));
        }
        texts
    }

    fn expand_env_or_report(&mut self, key: &str, text: &str) -> Option<String> {
        match expand_env_placeholders(text, self.resolve) {
            Ok(text) => Some(text),
            Err(message) => {
                self.report_key_finding(key, message);
                None
            }
        }
    }
}

/// A variable that is not set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the environment variable `{name}` is not set")]
pub struct MissingEnvVar {
    pub name: String,
}

/// The text with every `${env:NAME}` replaced. Other placeholders are rejected: a server that starts
/// with a literal `${HOME}` would only fail later, with a less clear error.
fn expand_env_placeholders(
    text: &str,
    resolve_env_var: &dyn Fn(&str) -> Result<String, MissingEnvVar>,
) -> Result<String, String> {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        filled.push_str(before);
        let Some((inner, behind)) = after.split_once('}') else {
            return Err("a `${` is not closed".to_owned());
        };
        match inner.strip_prefix("env:") {
            Some(name) if !name.is_empty() => {
                filled.push_str(&resolve_env_var(name).map_err(|missing| missing.to_string())?);
            }
            _ => return Err(format!("`${{{inner}}}` is not known; write `${{env:NAME}}`")),
        }
        rest = behind;
    }
    filled.push_str(rest);
    Ok(filled)
}
