//! `trackway doctor`, `trackway config show`, and a server that refuses what the doctor reports as an
//! error.

use std::fs;

use serde_json::{Value, json};

use crate::support::{CommandOutput, TestFolder, trackway_command};

/// A workspace next to a data folder.
struct DoctorWorkspace {
    folder: TestFolder,
}

impl DoctorWorkspace {
    fn new(files: &[(&str, &str)]) -> Self {
        Self { folder: TestFolder::with_files(files) }
    }

    fn trackway(&self, args: &[&str], env: &[(&str, &str)]) -> CommandOutput {
        let mut command = trackway_command(args)
            .env("TRACKWAY_DATA", self.folder.data_path())
            .env("TRACKWAY_WORKSPACE", self.folder.path());
        for (name, value) in env {
            command = command.env(name, value);
        }
        command.run_to_end("")
    }

    fn doctor(&self) -> Value {
        self.trackway(&["doctor", "--json"], &[]).json()
    }
}

const AGENT: &str = "---\ndescription: Helps.\ntools: [time_now]\n---\nHelp.\n";

/// Proves X5: a workspace without any mistake, and without a model.
#[test]
fn an_empty_folder_can_be_used() {
    let desk = DoctorWorkspace::new(&[]);
    let healthy = desk.trackway(&["doctor"], &[]).expect(0);
    assert!(healthy.stdout.contains("offline-rules/1"), "{healthy:?}");
    assert!(healthy.stdout.contains("The workspace can be used"), "{healthy:?}");
    let report = desk.doctor();
    assert_eq!(report["usable"], true);
    assert_eq!(report["defaultModel"], "offline-rules/1");
    assert_eq!(report["agents"], json!(["assistant"]));
    assert!(!desk.folder.data_path().exists(), "looking makes nothing");
    let report = desk
        .trackway(
            &["doctor", "--json"],
            &[("TRACKWAY_MODEL", "openai/m"), ("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")],
        )
        .expect(0)
        .json();
    assert_eq!(report["defaultModel"], "openai/m");
}

/// Proves X5: unused things are named, but not as errors.
#[test]
fn what_nobody_uses_is_named() {
    let config = "[models.spare]\nprovider = \"offline\"\n";
    let desk = DoctorWorkspace::new(&[
        ("trackway.toml", config),
        ("agents/helper.md", AGENT),
        ("mcp.json", r#"{"mcpServers": {"files": {"command": "true"}}}"#),
    ]);
    let report = desk.trackway(&["doctor"], &[]).expect(0);
    for line in ["unused: ", "models.spare", "\"files\""] {
        assert!(report.stdout.contains(line), "{line}: {report:?}");
    }
    let report = desk.doctor();
    let unused = report["findings"].as_array().unwrap().iter();
    assert_eq!(unused.filter(|finding| finding["level"] == "unused").count(), 2, "{report}");
    assert_eq!(report["defaultAgent"], "helper");
}

/// Proves X5: each mistake is reported with file, key and suggestion, by the doctor and by a server that
/// does not start.
#[test]
fn a_server_refuses_what_the_doctor_finds() {
    for (name, text, key, says) in [
        ("trackway.toml", "[defaults]\nagnt = \"x\"\n", "defaults.agnt", "did you mean \"agent\"?"),
        (
            "trackway.toml",
            "[models.m]\nprovider = \"openai\"\nmodel = \"m\"\napi_key = \"${env:NOT_SET_HERE}\"\n",
            "models.m.api_key",
            "NOT_SET_HERE",
        ),
        ("trackway.toml", "[defaults]\nagent = \"helpr\"\n", "defaults.agent", "helper"),
        ("trackway.toml", "[defaults]\nmodel = \"gone\"\n", "defaults.model", "provider/model"),
        ("agents/b.md", "---\ntool: []\n---\n", "tool", "did you mean \"tools\"?"),
        ("agents/b.md", "---\ntools: [time_nw]\n---\n", "tools[0]", "time_now"),
        ("agents/b.md", "---\nworkflows: [ecko]\n---\n", "workflows[0]", "echo"),
        ("agents/b.md", "---\nmodel: \"${env:NOT_SET_HERE}\"\n---\n", "model", "NOT_SET_HERE"),
        ("agents/echo.md", "---\n---\n", "name", "another name"),
        ("agents/b.md", "---\ntools: [web__get]\n---\n", "tools[0]", "mcp.json"),
        ("mcp.json", "{", "", ""),
        (
            "mcp.json",
            r#"{"mcpServers": {"web": {"url": "https://me:pw@web.example/mcp"}}}"#,
            "mcpServers.web.url",
            "Authorization",
        ),
        (
            "trackway.toml",
            "[models.m]\nprovider = \"scripted\"\nfile = \"agents/helper.md\"\n",
            "models.m",
            "helper.md",
        ),
    ] {
        let desk = DoctorWorkspace::new(&[("agents/helper.md", AGENT), (name, text)]);
        let report = desk.trackway(&["doctor", "--json"], &[]).expect(2).json();
        assert_eq!(report["usable"], false);
        let findings = report["findings"].as_array().unwrap();
        let found = findings.iter().find(|finding| finding["level"] == "error").unwrap();
        assert!(found["file"].as_str().unwrap().ends_with(name), "{found}");
        assert_eq!(found["key"].as_str().unwrap_or_default(), key, "{found}");
        assert!(found.to_string().replace("\\\"", "\"").contains(says), "{says}: {found}");
        let listen = ["serve", "--listen", "127.0.0.1:0"];
        let refused = desk.trackway(&listen, &[]).expect(2);
        assert_eq!(refused.stdout, "");
        let message = found["message"].as_str().unwrap();
        assert!(refused.stderr.contains(message), "{message}: {refused:?}");
        assert!(!desk.folder.data_path().exists(), "nothing was made");
    }
}

/// Proves X5: what an agent may use is not reported as unused: workflows with approval, and workflows with
/// steps for agents.
#[test]
fn what_is_used_is_not_called_unused() {
    let careful = "---\nname: careful\nworkflows: [echo, rates, \"inv*\"]\n\
                   approvals: { dispatch_workflow_echo: ask, rates: ask, \"invest\": deny }\n---\n";
    let rates = "id: rates\nname: Rates\ndescription: Rates.\nversion: \"1\"\nsteps:\n\
                 \x20 - { id: rate, agent: helper, prompt: Rate it. }\n";
    let files =
        [("agents/helper.md", AGENT), ("agents/careful.md", careful), ("workflows/rates.yaml", rates)];
    let desk = DoctorWorkspace::new(&files);
    let report = desk.doctor();
    assert_eq!(report["usable"], true, "{report}");
    let findings = report["findings"].as_array().unwrap();
    let is_about_names = |finding: &&Value| finding["level"] != "note" || finding["file"].is_string();
    assert_eq!(findings.iter().filter(is_about_names).count(), 0, "{report}");
    // An agent with the name of a workflow is still refused.
    desk.folder.write_file("agents/rates.md", "---\nname: rates\n---\n");
    let report = desk.trackway(&["doctor", "--json"], &[]).expect(2);
    assert!(report.stdout.contains("give the agent another name"), "{report:?}");
}

/// A wrong workflow is reported; the others are still served.
#[test]
fn a_wrong_workflow_is_told() {
    let desk = DoctorWorkspace::new(&[("workflows/odd.yaml", "id: odd\nname: Odd\nsteps: 7\n")]);
    let report = desk.trackway(&["doctor"], &[]).expect(2);
    assert!(report.stdout.contains("odd.yaml, line 3: steps: "), "{report:?}");
}

/// Keys that other users can read are a warning.
#[cfg(unix)]
#[test]
fn keys_that_others_can_read_are_told() {
    use std::os::unix::fs::PermissionsExt as _;
    let desk = DoctorWorkspace::new(&[]);
    let create = ["keys", "create", "--tenant", "t", "--user", "u", "--scope", "*"];
    desk.trackway(&create, &[]).expect(0);
    let warned = |desk: &DoctorWorkspace| desk.doctor().to_string().contains("chmod 600");
    assert!(!warned(&desk));
    let file = desk.folder.data_path().join("keys.json");
    fs::set_permissions(file, fs::Permissions::from_mode(0o644)).unwrap();
    assert!(warned(&desk));
}

/// An MCP server in a few lines of shell.
const SHELL_SERVER: &str = r#"
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9][0-9]*\).*/\1/p')
  case "$line" in
    *'"initialize"'*) result='{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}' ;;
    *'"tools/list"'*) result='{"tools":[{"name":"danger ","inputSchema":{"type":"object"}},{"name":"good","inputSchema":{"type":"object"}}]}' ;;
    *) continue ;;
  esac
  echo '{"jsonrpc":"2.0","id":'$id',"result":'$result'}'
done
"#;

/// Issue 11, E8: the servers of `mcp.json` are tried, and one that does not run is named with its reason.
#[test]
fn servers_that_do_not_run_are_named() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let servers = json!({"mcpServers": {
        "dead": {"command": "sh", "args": ["-c", "echo the disk is full >&2; exit 3"]},
        "away": {"url": format!("http://{free}/mcp")},
        "good": {"command": "sh", "args": ["-c", SHELL_SERVER]},
    }});
    let desk = DoctorWorkspace::new(&[("mcp.json", &servers.to_string())]);
    let report = desk.trackway(&["doctor", "--json"], &[]).expect(0).json();
    let findings = report["findings"].as_array().unwrap();
    for (level, server, why) in [
        ("warning", "\"dead\" does not run", "the disk is full"),
        ("warning", "\"dead\" does not run", "exit status: 3"),
        ("warning", "\"away\" does not run", "no connection"),
        ("note", "\"good\" runs", "offers 1 tools"),
        ("warning", "\"good\" are left out", "\"danger \""),
    ] {
        let says = |finding: &&Value| {
            let message = finding["message"].as_str().unwrap();
            finding["level"] == level && message.contains(server) && message.contains(why)
        };
        assert!(findings.iter().any(|finding| says(&finding)), "{server} {why}: {report:#}");
    }
    let page = desk.trackway(&["doctor"], &[]).expect(0).stdout;
    assert!(page.contains("warning: ") && page.contains("the disk is full"), "{page}");
}

/// Proves X6: the effective values and where they came from, without secrets.
#[test]
fn the_configuration_is_shown_without_secrets() {
    let config = "[push]\nsecret = \"in-the-file\"\n[models.m]\nprovider = \"openai\"\nmodel = \"m\"\n";
    let servers = r#"{"mcpServers": {"web": {"url": "https://web.example/s/${env:PASS}/mcp"}}}"#;
    let desk = DoctorWorkspace::new(&[
        ("trackway.toml", config),
        ("agents/helper.md", AGENT),
        ("mcp.json", servers),
    ]);
    let env = [("TRACKWAY_MODEL", "m"), ("OPENAI_API_KEY", "in-the-environment"), ("PASS", "in-the-address")];
    let shown = desk.trackway(&["config", "show"], &env).expect(0);
    assert!(shown.stdout.contains("https://web.example/…"), "{shown:?}");
    for secret in ["in-the-file", "in-the-environment", "in-the-address"] {
        assert!(!shown.stdout.contains(secret), "{shown:?}");
    }
    let json = desk.trackway(&["config", "show", "--json"], &env).expect(0).json();
    let setting = |key: &str| {
        let mut settings = json["settings"].as_array().unwrap().iter();
        let found = settings.find(|setting| setting["key"] == key);
        found.unwrap_or_else(|| panic!("{key}: {json}")).clone()
    };
    assert_eq!(setting("defaults.model")["from"], "TRACKWAY_MODEL");
    assert_eq!(setting("models.m.api_key")["from"], "OPENAI_API_KEY");
    assert_eq!(setting("models.m.api_key")["value"], "(hidden)");
    assert!(setting("push.secret")["from"].as_str().unwrap().ends_with("trackway.toml, line 2"));
    assert_eq!(setting("dispatch.first_answer_timeout")["value"], "5s");
    assert_eq!(setting("agents.helper.workflows")["from"], "default");
    desk.folder.write_file("trackway.toml", "[push]\nsecrt = 1\n");
    let refused = desk.trackway(&["config", "show"], &env).expect(2);
    assert!(refused.stderr.contains("did you mean \"secret\"?"), "{refused:?}");
}
