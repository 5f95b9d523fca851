//! How workspaces are read, and the findings about wrong ones.

mod limits;

use std::fs;

use tempfile::TempDir;
use trackway_agent::{TOOL_CALLS_DEFAULT, ToolPermission};

use super::{reference_check::AvailableCapabilities, *};

/// A folder with these files.
pub(super) fn workspace_with_files(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for (name, text) in files {
        let file = folder.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    folder
}

fn load_workspace(files: &[(&str, &str)], variables: &[(&str, &str)]) -> (Workspace, Vec<Finding>) {
    let folder = workspace_with_files(files);
    let variable = |name: &str| {
        let found = variables.iter().find(|(known, _)| *known == name)?;
        Some(found.1.to_owned())
    };
    let (workspace, mut findings) = Workspace::load_workspace(folder.path(), &variable);
    let there = AvailableCapabilities {
        workflows: ["echo", "invest", "review"].map(str::to_owned).to_vec(),
        unavailable_workflows: [("guided".to_owned(), "it has prompts".to_owned())].into(),
        tools: [&ASSISTANT_TOOLS[..], &["ledger_enter"]].concat().into_iter().map(str::to_owned).collect(),
    };
    findings.extend(reference_check::check_workspace(&workspace, &there));
    // Without the folder, which differs each time.
    let shown = folder.path().display().to_string();
    for finding in &mut findings {
        finding.file = finding.file.take().map(|file| file.replace(&format!("{shown}/"), ""));
        finding.message = finding.message.replace(&format!("{shown}/"), "");
    }
    (workspace, findings)
}

/// The findings, one line each, with the hints below.
fn render_findings(files: &[(&str, &str)], variables: &[(&str, &str)]) -> String {
    let (_, findings) = load_workspace(files, variables);
    let lines = findings.iter().filter(|finding| finding.level != FindingLevel::Note).map(|finding| {
        let hint = finding.suggestion.as_ref().map(|hint| format!("\n  hint: {hint}"));
        format!("{}: {finding}{}", finding.level, hint.unwrap_or_default())
    });
    lines.collect::<Vec<_>>().join("\n")
}

const WHOLE: &str = r#"---
name: broker
description: Buys and sells.
model: fast
tools: ["time_now", "files__*"]
workflows: [invest, "re*"]
approvals: { "files__*": ask, time_now: deny }
budgets: { calls: 5, tokens: 1000, seconds: 60, cost: 0.5 }
skills:
  - name: Trading
    description: Buys what ${env:WHO} wants.
    tags: [money]
    examples: ["Buy one"]
---

You are a broker.
"#;

const MODELS: &str = r#"
[defaults]
agent = "broker"

[models.fast]
provider = "openai"
base_url = "http://127.0.0.1:9000/v1/"
api_key = "${env:FAST_KEY}"
model = "small"
headers = { "x-team" = "blue" }
price = { input = 1, output = 2.5 }

[dispatch]
first_answer_timeout = "250ms"
"#;

const SERVERS: &str = "{\n  \"mcpServers\": {\n    \"files\": { \"command\": \"files\" }\n  }\n}\n";

#[test]
fn everything_that_can_be_said_is_read() {
    let files = [("agents/a.md", WHOLE), ("trackway.toml", MODELS), ("mcp.json", SERVERS)];
    let (workspace, findings) = load_workspace(&files, &[("WHO", "Ann"), ("FAST_KEY", "hush")]);
    assert!(findings.iter().all(|finding| finding.level == FindingLevel::Note), "{findings:#?}");
    let spec = &workspace.agents[0].spec;
    assert_eq!((spec.name.as_str(), spec.description.as_str()), ("broker", "Buys and sells."));
    assert_eq!(spec.prompt, "You are a broker.");
    assert_eq!(spec.tools, ["time_now", "files__*"]);
    assert_eq!(spec.workflows, ["invest", "re*"]);
    assert_eq!(spec.approvals["files__*"], ToolPermission::Ask);
    assert_eq!(spec.approvals["time_now"], ToolPermission::Deny);
    let budgets = TurnBudgets {
        calls: 5,
        tool_calls: TOOL_CALLS_DEFAULT,
        tokens: Some(1000),
        seconds: Some(60),
        cost: Some(0.5),
    };
    assert_eq!(spec.budgets, budgets);
    assert_eq!(spec.skills[0].description, "Buys what Ann wants.");
    assert_eq!(
        (&spec.skills[0].tags[..], &spec.skills[0].examples[..]),
        (&["money".to_owned()][..], &["Buy one".to_owned()][..])
    );
    assert_eq!(workspace.default_agent, "broker");
    let fast = &workspace.models.all["fast"];
    assert_eq!(fast.model_label(), "openai/small");
    assert_eq!(fast.base_url.as_ref().unwrap().0, "http://127.0.0.1:9000/v1");
    assert_eq!(fast.api_key.as_ref().unwrap().0.expose_secret(), "hush");
    assert_eq!(fast.headers[0].1.expose_secret(), "blue");
    assert_eq!(fast.price.unwrap().output, 2.5);
    assert_eq!(workspace.config.dispatch.first_answer_timeout.as_millis(), 250);
    assert!(!format!("{workspace:?}").contains("hush"), "it can be logged");
}

#[test]
fn little_has_to_be_said() {
    let (workspace, findings) = load_workspace(&[("agents/helper.md", "---\n---\nHelp.")], &[]);
    assert!(findings.iter().all(|finding| finding.level == FindingLevel::Note), "{findings:#?}");
    let spec = &workspace.agents[0].spec;
    assert_eq!((spec.name.as_str(), spec.prompt.as_str()), ("helper", "Help."));
    assert_eq!((&spec.tools[..], &spec.workflows[..]), (&[][..], &["*".to_owned()][..]));
    assert_eq!(spec.budgets, TurnBudgets::default());
    assert_eq!(workspace.default_agent, "helper");
}

/// An empty folder is a workspace with one agent, and no model.
#[test]
fn nothing_has_to_be_there() {
    let (workspace, findings) = load_workspace(&[], &[("TRACKWAY_MODEL", "")]);
    assert_eq!(workspace.default_agent, "assistant");
    assert_eq!(workspace.agents[0].spec.workflows, ["*"]);
    let model = &workspace.models.all[&workspace.models.default];
    assert_eq!(model.model_label(), "offline-rules/1");
    assert_eq!(findings.len(), 1, "{findings:#?}");
    assert!(findings[0].message.contains("offline-rules/1"), "{findings:#?}");
}

/// Proves X5: all mistakes are reported at once, with file, line, key and what was meant.
#[test]
fn mistakes_in_an_agent_are_told_together() {
    let agent = r#"---
name: two words
desciption: x
model: [fast]
tools: time_now
approvals: { time_now: alow, ledger_enter: sometimes, read_file: always, write_file: never }
budgets: { calls: 0, token: 5, cost: -1 }
skills: [{ name: x, tag: [] }]
peers: ["${env:NOBODY}"]
---
"#;
    insta::assert_snapshot!(render_findings(&[("agents/a.md", agent)], &[]), @r#"
    error: agents/a.md, line 3: desciption: there is no key "desciption"
      hint: did you mean "description"?
    error: agents/a.md, line 2: name: "two words" cannot name an agent
      hint: use letters, digits, `-`, `_` and single dots inside, at most 64
    error: agents/a.md, line 4: model: it is not a string
    error: agents/a.md, line 5: tools: it is not a list
    error: agents/a.md, line 9: peers[0]: the environment has no variable "NOBODY"
      hint: set it, or write the value instead of ${env:NOBODY}
    error: agents/a.md, line 6: approvals.ledger_enter: it is "sometimes"
      hint: write allow, ask or deny
    error: agents/a.md, line 6: approvals.read_file: it is "always"
      hint: did you mean "allow"?
    error: agents/a.md, line 6: approvals.time_now: it is "alow"
      hint: did you mean "allow"?
    error: agents/a.md, line 6: approvals.write_file: it is "never"
      hint: did you mean "deny"?
    error: agents/a.md, line 7: budgets.token: there is no key "token"
      hint: did you mean "tokens"?
    error: agents/a.md, line 7: budgets.calls: it is not a whole number, 1 or more
    error: agents/a.md, line 7: budgets.cost: it is not a number above 0
    error: agents/a.md, line 8: skills[0].tag: there is no key "tag"
      hint: did you mean "tags"?
    error: agents/a.md, line 8: skills[0]: it needs `description`
    "#);
}

#[test]
fn files_that_are_no_agents_are_told() {
    let files = [
        ("agents/a.md", "You are somebody."),
        ("agents/b.md", "---\nname: x\n"),
        ("agents/c.md", "---\nname: [x\n---\n"),
        ("agents/d.md", "---\nname: same\n---\n"),
        ("agents/e.md", "---\nname: same\n---\n"),
        ("agents/f.md", "---\nname: one\nname: two\n---\n"),
        ("agents/g.md", "---\njust words\n---\n"),
        ("agents/notes.txt", "x"),
        ("agents/.hidden.md", "x"),
    ];
    insta::assert_snapshot!(render_findings(&files, &[]), @r#"
    unused: agents/notes.txt: it is not read: agents are the files *.md of this folder itself
    error: agents/a.md, line 1: there is no front matter
      hint: an agent's file begins with a line `---`, its settings, and another line `---`
    error: agents/b.md, line 1: there is no front matter
      hint: an agent's file begins with a line `---`, its settings, and another line `---`
    error: agents/c.md, line 2: this is not YAML: unclosed bracket '[' (column 7)
    error: agents/e.md, line 2: name: agents/d.md has the name "same" too
    error: agents/f.md, line 3: name: the key "name" is given twice; the first time on line 2
      hint: keep one of the two
    error: agents/g.md, line 2: it is not a list of `key: value` lines
    "#);
}

#[test]
fn names_that_nobody_has_are_told() {
    let agent = r#"---
name: echo
model: fst
tools: [tim_now, file__read, "x*", "files__*"]
workflows: [invst, guided, "nothing-*"]
peers: ["billing"]
approvals: { ledger_enter: ask }
---
"#;
    let config = r#"
[defaults]
agent = "ecko"
model = "fast"
[a2a]
default_agent = "nobody-at-all"
[models.fast]
provider = "openai"
base_url = "http://127.0.0.1:1/v1"
model = "m"
[models.slow]
provider = "offline"
"#;
    let servers = "{\"mcpServers\": {\"files\": {\"command\": \"x\"},\n \"web\": {\"command\": \"y\"}}}";
    let files = [("agents/a.md", agent), ("trackway.toml", config), ("mcp.json", servers)];
    insta::assert_snapshot!(render_findings(&files, &[]), @r#"
    error: agents/a.md, line 3: model: there is no model "fst"
      hint: did you mean "fast"?
    error: trackway.toml, line 3: defaults.agent: there is no agent "ecko"
      hint: did you mean "echo"?
    error: agents/a.md, line 2: name: there is a workflow "echo" too; both would have one address
      hint: give the agent another name
    error: agents/a.md, line 4: tools[0]: there is no tool "tim_now"
      hint: did you mean "time_now"?
    error: agents/a.md, line 4: tools[1]: there is no MCP server "file"
      hint: did you mean "files"?
    unused: agents/a.md, line 4: tools[2]: no tool fits "x*"
    unused: agents/a.md, line 7: approvals.ledger_enter: "echo" may not use "ledger_enter" at all
    error: agents/a.md, line 5: workflows[0]: there is no workflow "invst"
      hint: did you mean "invest"?
    error: agents/a.md, line 5: workflows[1]: the workflow "guided" cannot be dispatched: it has prompts
    unused: agents/a.md, line 5: workflows[2]: no workflow fits "nothing-*"
    error: trackway.toml, line 6: a2a.default_agent: there is no workflow "nobody-at-all" to be the default agent, and no such agent
      hint: there are: echo, invest, review
    unused: trackway.toml, line 11: models.slow: no agent uses this model
    unused: mcp.json, line 2: no agent may use the tools of MCP server "web"
      hint: an agent allows them with tools: ["web__*"]
    "#);
}

/// Proves X5: a variable that is missing is named, with its file and key.
#[test]
fn mistakes_in_models_are_told_together() {
    let config = r#"
[defaults]
model = "gone"
mode = 1
[models.a]
provider = "opnai"
[models.b]
provider = "openai"
api_key = "${env:NOT_SET}"
base_url = "ftp://x"
[models.c]
provider = "anthropic"
model = "m"
base_url = "https://me:pw@example.com"
file = "x"
[models."d/e"]
provider = "offline"
model = "m"
[models.f]
provider = "scripted"
file = "gone.json"
[models.g]
model = "m"
prvider = "x"
[models.h]
provider = "gemini"
model = "m"
price = { input = -1, output = 1 }
headers = { "a b" = "c" }
[models.i]
provider = 7
[dispatch]
first_answer_timeout = "soon"
"#;
    insta::assert_snapshot!(render_findings(&[("trackway.toml", config)], &[]), @r#"
    error: trackway.toml, line 4: defaults.mode: unknown field `mode`, expected `agent` or `model`
      hint: did you mean "model"?
    error: trackway.toml, line 6: models.a.provider: there is no provider "opnai"
      hint: did you mean "openai"?
    error: trackway.toml, line 8: models.b: provider "openai" needs `model`
    error: trackway.toml, line 9: models.b.api_key: the environment has no variable "NOT_SET"
      hint: set it, or write the value instead of ${env:NOT_SET}
    error: trackway.toml, line 10: models.b.base_url: it must begin with http:// or https://
    error: trackway.toml, line 14: models.c.base_url: it has a name or password: a key goes into api_key, other things into headers
    error: trackway.toml, line 15: models.c.file: provider "anthropic" does not use it
    error: trackway.toml, line 16: models.d/e: a name has no `/`: it would be taken for provider/model
    error: trackway.toml, line 18: models.d/e.model: provider "offline" does not use it
    error: trackway.toml, line 22: models.g: missing field `provider`
    error: trackway.toml, line 24: models.g.prvider: unknown field `prvider`, expected one of `provider`, `base_url`, `api_key`, `model`, `headers`, `price`, `images`, `record`, `file`
      hint: did you mean "provider"?
    error: trackway.toml, line 28: models.h.price: a price is a number, 0 or more
    error: trackway.toml, line 29: models.h.headers.a b: no header can have this name
    error: trackway.toml, line 31: models.i.provider: invalid type: integer `7`, expected a string
    error: trackway.toml, line 33: dispatch.first_answer_timeout: it is not a length of time
      hint: write a number and ms, s, m, h, d or w, for example 90d
    error: trackway.toml, line 19: models.f.file: there is no file gone.json
    error: trackway.toml, line 3: defaults.model: there is no model "gone"
      hint: name one of [models] in trackway.toml, or write provider/model with the provider openai, openai-responses, anthropic or gemini, or offline
    unused: trackway.toml, line 19: models.f: no agent uses this model
    "#);
}

type Variables<'a> = &'a [(&'a str, &'a str)];

/// Models from the environment: a table of variables, the default model, its address and its key.
#[test]
fn models_come_from_the_environment() {
    let table: &[(Variables<'_>, &str, Option<&str>, Option<&str>)] = &[
        (&[], "offline-rules/1", None, None),
        (&[("OPENAI_API_KEY", "k")], "offline-rules/1", None, None),
        (&[("TRACKWAY_MODEL", "openai/m"), ("OPENAI_API_KEY", "k")], "openai/m", None, Some("k")),
        (
            &[("TRACKWAY_MODEL", "openai/org/m"), ("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")],
            "openai/org/m",
            Some("http://127.0.0.1:1/v1"),
            None,
        ),
        (
            &[
                ("TRACKWAY_MODEL", "openai-responses/m"),
                ("OPENAI_BASE_URL", "http://127.0.0.1:1/v1/"),
                ("OPENAI_API_KEY", "k"),
            ],
            "openai-responses/m",
            Some("http://127.0.0.1:1/v1"),
            Some("k"),
        ),
        (
            &[("TRACKWAY_MODEL", "anthropic/m"), ("ANTHROPIC_API_KEY", "a"), ("OPENAI_API_KEY", "k")],
            "anthropic/m",
            None,
            Some("a"),
        ),
        (&[("TRACKWAY_MODEL", "gemini/m"), ("GEMINI_API_KEY", "g")], "gemini/m", None, Some("g")),
        (&[("TRACKWAY_MODEL", "offline/rules")], "offline-rules/1", None, None),
    ];
    for (variables, label, url, key) in table {
        let (workspace, findings) = load_workspace(&[], variables);
        assert!(!findings.iter().any(Finding::is_error_level), "{variables:?}: {findings:#?}");
        let model = &workspace.models.all[&workspace.models.default];
        assert_eq!(model.model_label(), *label, "{variables:?}");
        let (found_url, found_key) = (model.base_url.as_ref(), model.api_key.as_ref());
        assert_eq!(found_url.map(|(url, _)| url.as_str()), *url, "{variables:?}");
        assert_eq!(found_key.map(|(key, _)| key.expose_secret()), *key, "{variables:?}");
    }
}

#[test]
fn the_environment_goes_before_the_file() {
    let config = "[defaults]\nmodel = \"own\"\n[models.own]\nprovider = \"offline\"\n[models.other]\nprovider = \"openai\"\nmodel = \"m\"\nbase_url = \"http://127.0.0.1:1\"\n";
    let files = [("trackway.toml", config)];
    assert_eq!(load_workspace(&files, &[]).0.models.default, "own");
    let key = ("OPENAI_API_KEY", "k");
    let (workspace, _) = load_workspace(&files, &[("TRACKWAY_MODEL", "other"), key]);
    assert_eq!(workspace.models.default, "other");
    let other = &workspace.models.all["other"];
    assert_eq!(other.api_key, None, "a key is not sent to an address that it is not for");
}

#[test]
fn mistakes_in_the_environment_are_told() {
    for (variables, says) in [
        (&[("TRACKWAY_MODEL", "gpt")][..], r#"TRACKWAY_MODEL: there is no model "gpt""#),
        (&[("TRACKWAY_MODEL", "openai/")], r#"TRACKWAY_MODEL: there is no model "openai/""#),
        (&[("TRACKWAY_MODEL", "scripted/x")], r#"there is no model "scripted/x""#),
        (&[("TRACKWAY_MODEL", "openai/m")], r#"TRACKWAY_MODEL: model "openai/m" has no key"#),
        (
            &[("TRACKWAY_MODEL", "openai/m"), ("OPENAI_BASE_URL", "localhost")],
            "OPENAI_BASE_URL: it is not an address",
        ),
        (
            &[("TRACKWAY_MODEL", "openai/m"), ("OPENAI_API_KEY", "a\nb")],
            "OPENAI_API_KEY: it has characters that no header can have",
        ),
    ] {
        let told = render_findings(&[], variables);
        assert!(told.starts_with(&format!("error: {says}")) || told.contains(says), "{told}");
    }
}

/// A cost budget has no effect if the model has no price, also for a model from the environment.
#[test]
fn a_budget_without_a_price_is_told() {
    let agent = "---\nbudgets: { cost: 1 }\n---\n";
    let files = [("agents/a.md", agent)];
    assert_eq!(render_findings(&files, &[]), "", "rules cost nothing");
    let variables =
        [(resolved_models::MODEL_VARIABLE, "openai/m"), ("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")];
    insta::assert_snapshot!(render_findings(&files, &variables), @r#"
    warning: agents/a.md, line 2: budgets.cost: the model "openai/m" has no price, so that no cost is counted
      hint: give it a price in a section [models.NAME] of trackway.toml
    "#);
    let config = "[models.m]\nprovider = \"openai\"\nmodel = \"m\"\nprice = { input = 1, output = 2 }\n";
    let files = [("agents/a.md", agent), ("trackway.toml", config)];
    let variables = [(resolved_models::MODEL_VARIABLE, "m"), ("OPENAI_API_KEY", "k")];
    assert_eq!(render_findings(&files, &variables), "");
}

/// Proves X6: what is shown of a configuration holds no secret, and says where each value came from.
#[test]
fn what_is_shown_holds_no_secret() {
    let config = format!(
        "{MODELS}\n[push]\nsecret = \"sign-with-this\"\n[auth.jwt]\njwks_file = \"k\"\nissuer = \"${{env:WHO}}\"\naudience = \"us\"\n"
    );
    let files = [("agents/a.md", WHOLE), ("trackway.toml", &config), ("mcp.json", SERVERS)];
    let folder = workspace_with_files(&files);
    let variable = |name: &str| (name != resolved_models::MODEL_VARIABLE).then(|| format!("value-of-{name}"));
    let (workspace, _) = Workspace::load_workspace(folder.path(), &variable);
    let shown: Vec<String> = workspace_settings::effective_settings(&workspace)
        .iter()
        .map(|setting| format!("{} = {}  # {}", setting.key, setting.value, setting.from))
        .collect();
    let shown = shown.join("\n").replace(&format!("{}/", folder.path().display()), "");
    insta::assert_snapshot!(shown, @r#"
    a2a.grpc_in_card = true  # default
    a2a.grpc_reflection = false  # default
    agents.broker.approvals = {"files__*":"ask","time_now":"deny"}  # agents/a.md, line 7
    agents.broker.budgets = {"calls":5,"cost":0.5,"seconds":60,"tokens":1000,"tool_calls":100}  # agents/a.md, line 8
    agents.broker.description = "Buys and sells."  # agents/a.md, line 3
    agents.broker.model = "fast"  # agents/a.md, line 4
    agents.broker.peers = []  # default
    agents.broker.prompt = "17 bytes"  # agents/a.md
    agents.broker.skills = ["Trading"]  # agents/a.md, line 9
    agents.broker.tools = ["time_now","files__*"]  # agents/a.md, line 5
    agents.broker.workflows = ["invest","re*"]  # agents/a.md, line 6
    artifacts.max_bytes = 67108864  # default
    artifacts.quota_bytes = 4294967296  # default
    auth.jwt.audience = "us"  # trackway.toml, line 21
    auth.jwt.issuer = "${env:WHO}"  # trackway.toml, line 20
    auth.jwt.jwks_file = "k"  # trackway.toml, line 19
    auth.required = false  # default
    defaults.agent = "broker"  # trackway.toml, line 3
    defaults.model = "offline"  # default
    dispatch.depth_max = 8  # default
    dispatch.first_answer_timeout = "250ms"  # trackway.toml, line 14
    dispatch.runs_max = 100  # default
    mcp.checkpoints = false  # default
    mcp.session_checkpoints = false  # default
    mcpServers.files = "files"  # mcp.json, line 3
    mesh.max_depth = 8  # default
    mesh.namespace = "trackway"  # default
    mesh.reconnect = "30s"  # default
    mesh.refresh = "30s"  # default
    mesh.timeout = "600s"  # default
    models.fast.api_key = "(hidden)"  # trackway.toml, line 8
    models.fast.base_url = "http://127.0.0.1:9000/v1"  # trackway.toml, line 7
    models.fast.headers.x-team = "(hidden)"  # trackway.toml, line 10
    models.fast.images = true  # default
    models.fast.model = "small"  # trackway.toml, line 9
    models.fast.price = {"input":1.0,"output":2.5}  # trackway.toml, line 5
    models.fast.provider = "openai"  # trackway.toml, line 6
    models.offline.provider = "offline"  # default
    outgoing.allow = []  # default
    outgoing.allow_loopback = false  # default
    push.secret = "(hidden)"  # trackway.toml, line 17
    retention.days = 60  # default
    retention.enabled = true  # default
    server.blocking_timeout = "600s"  # default
    server.body_max_bytes = 10485760  # default
    server.body_timeout = "90s"  # default
    server.header_timeout = "10s"  # default
    server.idle_timeout = "120s"  # default
    server.max_connections = 4096  # default
    workflows.folders = ["workflows"]  # default
    "#);
    let secrets = ["sign-with-this", "value-of-", "blue"];
    assert!(!secrets.iter().any(|secret| shown.contains(secret)), "{shown}");
}
