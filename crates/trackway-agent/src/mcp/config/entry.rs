//! One server of `mcp.json`, read key by key.

use std::{collections::BTreeMap, time::Duration};

use reqwest::{
    Url,
    header::{HeaderName, HeaderValue},
};
use serde_json::{Map, Value};

use super::{ConfigProblem, Reach, ServerConfig, unknown};

const STDIO_KEYS: [&str; 7] =
    ["command", "args", "env", "cwd", "type", "disabled", "timeoutSeconds"];
const HTTP_KEYS: [&str; 5] = ["url", "headers", "type", "disabled", "timeoutSeconds"];

/// Longest allowed time for a call: a day. More is probably a wrong unit.
/// Limit (Tools): time that the file may give one call.
const CALL_SECONDS_MAX: u64 = 24 * 60 * 60;

/// A server, or none if it is switched off.
pub(super) fn read_server(
    at: &str,
    value: Value,
    resolve: &dyn Fn(&str) -> Result<String, Missing>,
) -> Result<Option<ServerConfig>, Vec<ConfigProblem>> {
    let Value::Object(map) = value else {
        return Err(vec![ConfigProblem::new(at, "it must be an object with `command` or `url`")]);
    };
    let mut entry = Entry { at, map, resolve, problems: Vec::new() };
    let is_off = entry.flag("disabled");
    let call_timeout = entry.seconds("timeoutSeconds");
    let kind = entry.text("type");
    let reach = match (entry.map.contains_key("command"), entry.map.contains_key("url")) {
        (true, false) => entry.stdio(kind.as_deref()),
        (false, true) => entry.http(kind.as_deref()),
        (true, true) => entry.neither("it has both `command` and `url`; a server is one of them"),
        (false, false) => entry.neither("it has neither `command` nor `url`"),
    };
    // A server that is switched off must not prevent a start, for example because of an unset variable.
    if is_off {
        return Ok(None);
    }
    match reach {
        Some(reach) if entry.problems.is_empty() => Ok(Some(ServerConfig { reach, call_timeout })),
        _ => Err(entry.problems),
    }
}

/// The keys of an entry that are still unread, and the problems so far.
struct Entry<'a> {
    at: &'a str,
    map: Map<String, Value>,
    resolve: &'a dyn Fn(&str) -> Result<String, Missing>,
    problems: Vec<ConfigProblem>,
}

impl Entry<'_> {
    fn stdio(&mut self, kind: Option<&str>) -> Option<Reach> {
        if let Some(kind) = kind.filter(|kind| *kind != "stdio") {
            self.problem("type", format!("a `command` is of type `stdio`, not `{kind}`"));
        }
        let command = self.text("command").unwrap_or_default();
        if command.is_empty() {
            self.problem("command", "it is empty");
        }
        let args = self.list("args");
        let env = self.texts("env");
        for name in env.keys().filter(|name| name.is_empty() || name.contains(['=', '\0'])) {
            let message = format!("`{name}` is no name of a variable");
            self.problems.push(ConfigProblem::new(format!("{}.env", self.at), message));
        }
        let cwd = self.text("cwd").map(Into::into);
        self.leftovers(&STDIO_KEYS);
        Some(Reach::Stdio { command, args, env, cwd })
    }

    fn http(&mut self, kind: Option<&str>) -> Option<Reach> {
        match kind {
            None | Some("http" | "streamable-http" | "streamableHttp") => {}
            Some("sse") => {
                let message = "the transport `sse` was replaced by Streamable HTTP and is not \
                               spoken; ask for the server's address of type `http`";
                self.problem("type", message);
            }
            Some(kind) => {
                self.problem("type", format!("a `url` is of type `http`, not `{kind}`"));
            }
        }
        let url = self.text("url").unwrap_or_default();
        match Url::parse(&url) {
            Ok(url) if !matches!(url.scheme(), "http" | "https") => {
                self.problem("url", "it is neither http nor https");
            }
            Ok(url) if !url.username().is_empty() || url.password().is_some() => {
                let message = "it has a name or password: write `Authorization` into `headers`";
                self.problem("url", message);
            }
            Ok(_) => {}
            Err(_) => self.problem("url", "it is not a URL"),
        }
        let headers = self.texts("headers");
        for (name, value) in &headers {
            let is_usable =
                HeaderName::try_from(name).is_ok() && HeaderValue::try_from(value).is_ok();
            if !is_usable {
                // The value may be a secret.
                let message = "its name or value cannot be a header";
                let key = format!("{}.headers.{name}", self.at);
                self.problems.push(ConfigProblem::new(key, message));
            }
        }
        self.leftovers(&HTTP_KEYS);
        Some(Reach::Http { url, headers })
    }

    fn neither(&mut self, message: &str) -> Option<Reach> {
        self.problems.push(ConfigProblem::new(self.at, message));
        let known: Vec<&str> = STDIO_KEYS.into_iter().chain(["url", "headers"]).collect();
        self.map.retain(|key, _| !known.contains(&&**key));
        self.leftovers(&known);
        None
    }

    fn problem(&mut self, key: &str, message: impl Into<String>) {
        self.problems.push(ConfigProblem::new(format!("{}.{key}", self.at), message));
    }

    /// Keys that were not read.
    fn leftovers(&mut self, known: &[&str]) {
        for key in self.map.keys() {
            self.problems.push(unknown(self.at, key, known));
        }
    }

    fn flag(&mut self, key: &str) -> bool {
        match self.map.remove(key) {
            None => false,
            Some(Value::Bool(flag)) => flag,
            Some(_) => {
                self.problem(key, "it must be `true` or `false`");
                false
            }
        }
    }

    fn seconds(&mut self, key: &str) -> Option<Duration> {
        let value = self.map.remove(key)?;
        match value.as_u64() {
            Some(seconds) if (1..=CALL_SECONDS_MAX).contains(&seconds) => {
                Some(Duration::from_secs(seconds))
            }
            _ => {
                let message = format!("it must be a number of seconds, 1 to {CALL_SECONDS_MAX}");
                self.problem(key, message);
                None
            }
        }
    }

    fn text(&mut self, key: &str) -> Option<String> {
        match self.map.remove(key)? {
            Value::String(text) => self.filled(key, &text),
            _ => {
                self.problem(key, "it must be a text");
                None
            }
        }
    }

    fn list(&mut self, key: &str) -> Vec<String> {
        let Some(value) = self.map.remove(key) else { return Vec::new() };
        let Value::Array(items) = value else {
            self.problem(key, "it must be a list of texts");
            return Vec::new();
        };
        let mut texts = Vec::new();
        for (index, item) in items.into_iter().enumerate() {
            match item {
                Value::String(text) => texts.extend(self.filled(&format!("{key}[{index}]"), &text)),
                _ => self.problem(&format!("{key}[{index}]"), "it must be a text"),
            }
        }
        texts
    }

    fn texts(&mut self, key: &str) -> BTreeMap<String, String> {
        let Some(value) = self.map.remove(key) else { return BTreeMap::new() };
        let Value::Object(items) = value else {
            self.problem(key, "it must be an object of texts");
            return BTreeMap::new();
        };
        let mut texts = BTreeMap::new();
        for (name, item) in items {
            let at = format!("{key}.{name}");
            // Numbers and booleans are often written without quotes, and have only one text form.
            let text = match item {
                Value::String(text) => self.filled(&at, &text),
                Value::Number(number) => Some(number.to_string()),
                Value::Bool(flag) => Some(flag.to_string()),
                _ => {
                    self.problem(&at, "it must be a text");
                    None
                }
            };
            texts.extend(text.map(|text| (name, text)));
        }
        texts
    }

    fn filled(&mut self, key: &str, text: &str) -> Option<String> {
        match fill(text, self.resolve) {
            Ok(text) => Some(text),
            Err(message) => {
                self.problem(key, message);
                None
            }
        }
    }
}

/// A variable that is not set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the environment variable `{name}` is not set")]
pub struct Missing {
    pub name: String,
}

/// The text with every `${env:NAME}` replaced. Other placeholders are rejected: a server that starts
/// with a literal `${HOME}` would only fail later, with a less clear error.
fn fill(text: &str, resolve: &dyn Fn(&str) -> Result<String, Missing>) -> Result<String, String> {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        filled.push_str(before);
        let Some((inner, behind)) = after.split_once('}') else {
            return Err("a `${` is not closed".to_owned());
        };
        match inner.strip_prefix("env:") {
            Some(name) if !name.is_empty() => {
                filled.push_str(&resolve(name).map_err(|missing| missing.to_string())?);
            }
            _ => return Err(format!("`${{{inner}}}` is not known; write `${{env:NAME}}`")),
        }
        rest = behind;
    }
    filled.push_str(rest);
    Ok(filled)
}
