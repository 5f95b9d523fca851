//! Typical files, and files with errors.

use super::*;

fn resolve(name: &str) -> Result<String, MissingEnvVar> {
    match name {
        "TOKEN" => Ok("s3cret".to_owned()),
        "PORT" => Ok("8080".to_owned()),
        _ => Err(MissingEnvVar { name: name.to_owned() }),
    }
}

fn parse(text: &str) -> McpConfig {
    McpConfig::parse_mcp_config(text, &resolve).unwrap()
}

fn problems(text: &str) -> Vec<String> {
    let problems = McpConfig::parse_mcp_config(text, &resolve).unwrap_err();
    problems.iter().map(ToString::to_string).collect()
}

#[test]
fn commands_and_addresses_are_read_with_their_variables() {
    let config = parse(
        r#"{"mcpServers": {
            "files": {"command": "npx", "args": ["-y", "files", "--key=${env:TOKEN}"],
                      "env": {"KEY": "${env:TOKEN}", "LEVEL": 3}, "cwd": "data"},
            "web": {"url": "http://localhost:${env:PORT}/mcp",
                    "headers": {"Authorization": "Bearer ${env:TOKEN}"}, "timeoutSeconds": 7},
            "old": {"command": "x", "env": {"A": "${env:UNSET}"}, "disabled": true}
        }}"#,
    );
    let files = &config.servers["files"];
    assert_eq!(
        files.transport,
        McpServerTransport::Stdio {
            command: "npx".to_owned(),
            args: ["-y", "files", "--key=s3cret"].map(String::from).to_vec(),
            env: [("KEY", "s3cret"), ("LEVEL", "3")].map(|(k, v)| (k.into(), v.into())).into(),
            cwd: Some("data".into()),
        }
    );
    let web = &config.servers["web"];
    assert_eq!(web.call_timeout, Some(Duration::from_secs(7)));
    assert_eq!(
        web.transport,
        McpServerTransport::Http {
            url: "http://localhost:8080/mcp".to_owned(),
            headers: [("Authorization".to_owned(), "Bearer s3cret".to_owned())].into(),
        }
    );
    assert_eq!(config.disabled, ["old"]);
}

#[test]
fn the_other_spelling_of_the_list_is_read_too() {
    let config = parse(r#"{"servers": {"web": {"type": "http", "url": "https://a.example/mcp"}}}"#);
    assert_eq!(config.servers.len(), 1);
    assert_eq!(parse("{}"), McpConfig::default());
}

/// Every accepted key has an effect, and all errors are reported at once.
#[test]
fn unknown_keys_are_reported_with_a_suggestion() {
    for (text, expected) in [
        ("[]", "it is not a JSON object"),
        ("{", "it is not JSON"),
        (r#"{"mcpServer": {}}"#, "mcpServer: there is no such key (did you mean `mcpServers`?)"),
        (r#"{"servers": {}, "inputs": []}"#, "inputs: inputs are not supported"),
        (
            r#"{"servers": {"a": {"command": "x", "arg": []}}}"#,
            "servers.a.arg: there is no such key (did you mean `args`?)",
        ),
        (
            r#"{"servers": {"a": {"comand": "x"}}}"#,
            "servers.a.comand: there is no such key (did you mean `command`?)",
        ),
        (r#"{"servers": {"a": {"command": "x", "url": "http://x"}}}"#, "both `command` and `url`"),
        (r#"{"servers": {"a": {"command": "x", "headers": {}}}}"#, "servers.a.headers: there is no such key"),
        (r#"{"servers": {"a": {"url": "http://x/", "env": {}}}}"#, "servers.a.env: there is no such key"),
        (r#"{"servers": {"a": {"url": "http://x/", "type": "sse"}}}"#, "replaced by Streamable HTTP"),
        (r#"{"servers": {"a": {"url": "ftp://x/"}}}"#, "neither http nor https"),
        (
            r#"{"servers": {"a": {"url": "http://me:${env:TOKEN}@x/"}}}"#,
            "servers.a.url: it has a name or password",
        ),
        (r#"{"servers": {"a": {"url": "http://x/", "headers": {"a b": "c"}}}}"#, "cannot be a header"),
        (r#"{"servers": {"a": {"command": "x", "args": "y"}}}"#, "servers.a.args: it must be a list"),
        (r#"{"servers": {"a": {"command": "x", "timeoutSeconds": 0}}}"#, "a number of seconds"),
        (
            r#"{"servers": {"a": {"command": "${env:NOPE}"}}}"#,
            "servers.a.command: the environment variable `NOPE` is not set",
        ),
        (
            r#"{"servers": {"a": {"command": "x", "env": {"K": "${HOME}"}}}}"#,
            "servers.a.env.K: `${HOME}` is not known",
        ),
        (
            r#"{"servers": {"a": {"command": "x", "args": ["${env:"]}}}"#,
            "servers.a.args[0]: a `${` is not closed",
        ),
    ] {
        let told = problems(text);
        assert!(told.iter().any(|problem| problem.contains(expected)), "{text}: {told:?}");
    }
    let both = problems(r#"{"servers": {"a": {"command": 1}, "b": {}}}"#);
    assert!(both.iter().any(|told| told.starts_with("servers.a")), "{both:?}");
    assert!(both.iter().any(|told| told.starts_with("servers.b")), "{both:?}");
}

#[test]
fn secrets_stay_out_of_what_is_logged() {
    let config = parse(
        r#"{"servers": {
            "a": {"command": "x", "args": ["${env:TOKEN}"], "env": {"K": "${env:TOKEN}"}},
            "b": {"url": "http://x/?key=${env:TOKEN}", "headers": {"K": "${env:TOKEN}"}},
            "c": {"url": "https://x.example:8443/s/${env:TOKEN}/mcp"}
        }}"#,
    );
    assert_eq!(config.servers["c"].transport.to_string(), "https://x.example:8443/…");
    assert!(!format!("{config:?}").contains("s3cret"));
    for server in config.servers.values() {
        assert!(!server.transport.to_string().contains("s3cret"));
    }
}
