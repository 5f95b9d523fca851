//! A served workspace: its workflows over `/mcp`, for callers with a key.

use serde_json::{Value, json};

use super::{
    client::{ConfirmationReply, McpTestClient, ProtocolRevision},
    mcp_workspace::{McpWorkspace, prompt_step, three_step_workflow, workflow_definition},
    obedient_agent::drive_to_end,
};
use crate::support::{ServerUnderTest, trackway_command};

const CONFIG: &str = "[auth]\nrequired = true\n[mcp]\ncheckpoints = true\n";

/// A workspace whose workflows are found only by their folder.
struct Site {
    shop: McpWorkspace,
    server: ServerUnderTest,
}

impl Site {
    fn new() -> Self {
        let mut notes = prompt_step("notes");
        notes["outputContract"] = json!({ "contractRef": "wr.contracts.loop_control" });
        let mut each = json!({ "id": "each", "type": "loop", "title": "Each", "body": [prompt_step("one")] });
        each["loop"] = json!({
            "type": "forEach", "items": "names", "itemVar": "name", "maxIterations": 5,
        });
        let longer =
            workflow_definition("longer", json!([prompt_step("first"), each, notes, prompt_step("last")]));
        let shop = McpWorkspace::with_workflows(&[three_step_workflow(), longer]);
        std::fs::write(shop.path().join("trackway.toml"), CONFIG).unwrap();
        let workspace = shop.path().to_str().unwrap();
        let server = ServerUnderTest::start_with_env(&shop.data(), &[("TRACKWAY_WORKSPACE", workspace)]);
        Self { shop, server }
    }

    fn key(&self, tenant: &str) -> String {
        let args = ["keys", "create", "--tenant", tenant, "--user", "u", "--scope", "*"];
        let made = trackway_command(&args).env("TRACKWAY_DATA", self.shop.data()).run_to_end("").expect(0);
        made.stdout.trim_end().to_owned()
    }

    fn agent(&self, era: ProtocolRevision, key: &str) -> McpTestClient {
        McpTestClient::http_as(era, ConfirmationReply::Unasked, &format!("{}/mcp", self.server.url), key)
    }

    /// The runs that a caller sees over REST.
    async fn runs(&self, key: &str) -> Vec<Value> {
        let request = self.server.http.get(format!("{}/api/runs", self.server.url));
        let list: Value = request.bearer_auth(key).send().await.unwrap().json().await.unwrap();
        list["runs"].as_array().unwrap_or_else(|| panic!("{list}")).clone()
    }
}

fn names(tools: &[Value]) -> Vec<&str> {
    let mut names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    names.sort_unstable();
    names
}

/// Proves T1, T9, X6: the six tools of a served workspace with a key, in both revisions, and whole
/// workflows to their end.
#[tokio::test]
async fn a_served_workspace_is_walked_to_its_end() {
    let site = Site::new();
    let key = site.key("acme");
    for era in [ProtocolRevision::Newest, ProtocolRevision::Legacy] {
        let mut agent = site.agent(era, &key);
        assert_eq!(
            names(&agent.tools()),
            [
                "workflow_advance",
                "workflow_checkpoint",
                "workflow_inspect",
                "workflow_list",
                "workflow_resume",
                "workflow_start"
            ]
        );
        let list = agent.list();
        let listed = list.json["workflows"].as_array().unwrap();
        let listed: Vec<&str> = listed.iter().map(|it| it["workflowId"].as_str().unwrap()).collect();
        assert!(["three", "longer"].iter().all(|id| listed.contains(id)), "{listed:?}");
        assert!(!agent.inspect("longer").is_error);

        let first = agent.start_run("three", json!({}));
        assert!(!agent.checkpoint(&first.state_token(), "So far, so good.").is_error);
        let second = agent.advance(&first, json!({ "notesMarkdown": "Done." }));
        let third = agent.advance(&second, json!({}));
        assert_eq!((second.step_id(), third.step_id()), ("second", "third"));
        assert!(agent.advance(&third, json!({})).is_complete());

        let driven = drive_to_end(&mut agent, "longer", json!({ "names": ["Ann", "Bob"] }));
        assert!(driven.end.is_complete(), "{driven:#?}");
    }
    let states: Vec<Value> = site.runs(&key).await.iter().map(|run| run["state"].clone()).collect();
    assert_eq!(states, ["completed"; 4], "they are runs like any other");
}

/// Proves X6, T2: tokens are useless to another tenant, whose tools show nothing of what they name.
#[tokio::test]
async fn tokens_of_another_tenant_are_of_no_use() {
    let site = Site::new();
    let (acme, bolt) = (site.key("acme"), site.key("bolt"));
    let mut owner = site.agent(ProtocolRevision::Newest, &acme);
    let start = owner.start_run("three", json!({ "sessionId": "shared", "secret": "plan" }));
    let mut other = site.agent(ProtocolRevision::Newest, &bolt);
    let refused = [
        other.look(&start.state_token()),
        other.advance(&start, json!({ "notesMarkdown": "n" })),
        other.checkpoint(&start.state_token(), "notes"),
    ];
    for answer in refused {
        assert_eq!(answer.error_code(), "unknown-run");
        assert!(!answer.text.contains("Do first."), "{answer:#?}");
    }
    assert_eq!(site.runs(&bolt).await, [] as [Value; 0]);
    // A session of the same name is another one.
    let own = other.start_run("three", json!({ "sessionId": "shared" }));
    assert!(other.advance(&own, json!({})).step_id() == "second");
    assert_eq!((site.runs(&acme).await.len(), site.runs(&bolt).await.len()), (1, 1));
    let second = owner.advance(&start, json!({}));
    assert_eq!((second.step_id(), &second.json["branch"]["forked"]), ("second", &json!(false)));
}

/// Proves T14, X6: over HTTP a new chat finds its own runs again, and no others.
#[tokio::test]
async fn a_run_is_found_again_by_its_owner_alone() {
    let site = Site::new();
    let (mine, theirs) = (site.key("acme"), site.key("other"));
    let mut agent = site.agent(ProtocolRevision::Newest, &mine);
    let start = agent.start_run("three", json!({ "ticketId": "ACE-7" }));
    let second = agent.advance(&start, json!({ "notesMarkdown": "Half done." }));
    for era in [ProtocolRevision::Newest, ProtocolRevision::Legacy] {
        for query in ["ACE-7", "half done", ""] {
            let found = site.agent(era, &mine).resume(query);
            assert_eq!(found.json["items"][0]["stateToken"], second.state_token(), "{found:#?}");
            let nothing = site.agent(era, &theirs).resume(query);
            assert_eq!(nothing.json["items"], json!([]), "{nothing:#?}");
        }
    }
}
