//! Conversations of two callers on one server, in the same context.

use serde_json::{Value, json};

use super::agent_workspace::{
    AgentWorkspace, dispatched_task, joined_text_response, last_state, statuses_with_references,
};
use crate::a2a::support::{A2aClient, JsonRpcError, StreamEvent, data_message, text_message};

const CONTEXT: &str = "shared";
const FILES: [(&str, &str); 2] = [
    ("trackway.toml", "[auth]\nrequired = true\n[defaults]\nagent = \"helper\"\n"),
    ("agents/helper.md", "---\nname: helper\ntools: [\"artifact_*\"]\n---\nYou help.\n"),
];
/// A user of another tenant, and another user of the same tenant.
const OTHERS: [(&str, &str); 2] = [("bolt", "ann"), ("acme", "bob")];
const NOT_FOUND: i64 = -32_001;

/// Two callers who talk to `helper`; the first has a waiting review and an artifact.
struct Case {
    desk: AgentWorkspace,
    /// Keys of the first and of the second.
    keys: [String; 2],
    turn: Vec<StreamEvent>,
    review: Value,
}

impl Case {
    /// With this second caller; the first is `ann` of `acme`.
    async fn with(tenant: &str, user: &str) -> Self {
        let desk = AgentWorkspace::open(&FILES).await;
        let keys = [desk.create_key("acme", "ann"), desk.create_key(tenant, user)];
        desk.queue_tool_calls(&[
            ("c1", "dispatch_workflow_review", json!({ "subject": "the secret" })),
            ("c2", "artifact_write", json!({ "name": "plan.md", "text": "The secret plan." })),
        ]);
        desk.queue_text("It waits for you.");
        let helper = desk.server.agent_with_key("helper", &keys[0]);
        let turn = helper.stream_message(&text_message("Review it.").in_context(&json!(CONTEXT))).await;
        assert_eq!(last_state(&turn), "completed");
        let review = dispatched_task(&turn, 0);
        let case = Self { desk, keys, turn, review };
        let mut waiting = case.reviews(0).subscribe(&case.review, Some(0)).await;
        waiting.read_until(|event| event["status"]["state"] == "input-required").await;
        case
    }

    fn helper(&self, caller: usize) -> A2aClient {
        self.desk.server.agent_with_key("helper", &self.keys[caller])
    }

    fn reviews(&self, caller: usize) -> A2aClient {
        self.desk.server.agent_with_key("review", &self.keys[caller])
    }

    /// All runs that the caller sees.
    async fn runs(&self, caller: usize) -> Vec<Value> {
        let server = &self.desk.server;
        let request = server.http().get(server.url("/api/runs")).bearer_auth(&self.keys[caller]);
        let list: Value = request.send().await.unwrap().json().await.unwrap();
        list["runs"].as_array().unwrap_or_else(|| panic!("{list}")).clone()
    }

    /// The review still waits.
    async fn assert_open(&self) {
        let review = self.reviews(0).get_task(&self.review).await;
        assert_eq!(review["status"]["state"], "input-required", "{review}");
    }
}

fn not_found(answer: Result<Value, JsonRpcError>) {
    let refused = answer.expect_err("it is somebody else's");
    assert_eq!(refused.code, NOT_FOUND, "{refused:?}");
    assert!(!format!("{refused:?}").contains("secret"), "{refused:?}");
}

/// Proves X6: turn, child and context of one caller do not exist for another.
#[tokio::test]
async fn a_turn_of_another_caller_does_not_exist() {
    for (tenant, user) in OTHERS {
        let case = Case::with(tenant, user).await;
        let turn = json!({ "id": case.turn[0].result["id"] });
        for (agent, task) in [(case.helper(1), &turn), (case.reviews(1), &case.review)] {
            for method in ["tasks/get", "tasks/cancel", "GetTask", "CancelTask"] {
                not_found(agent.call(method, task.clone()).await);
            }
            let list = agent.call("ListTasks", json!({ "contextId": CONTEXT })).await.unwrap();
            assert_eq!(list["tasks"], json!([]), "{list}");
        }
        assert_eq!(case.runs(1).await, [] as [Value; 0]);
        assert_eq!(case.runs(0).await.len(), 2, "the turn and its child");
        case.assert_open().await;
    }
}

/// Proves X6: in the same context another caller begins a new conversation: the model gets nothing of the
/// first one, and its tools find nothing.
#[tokio::test]
async fn the_same_context_of_another_caller_is_another_conversation() {
    for (tenant, user) in OTHERS {
        let case = Case::with(tenant, user).await;
        let asked = case.desk.model.requests().len();
        case.desk.queue_tool_calls(&[
            ("c1", "artifact_list", json!({})),
            ("c2", "artifact_read", json!({ "name": "plan.md" })),
            ("c3", "artifact_read", json!({ "name": "risk.json", "taskId": case.review["id"] })),
            ("c4", "answer_task", json!({ "taskId": case.review["id"], "input": { "confirmed": true } })),
        ]);
        case.desk.queue_text("There is nothing.");
        let events =
            case.helper(1).stream_message(&text_message("What is there?").in_context(&json!(CONTEXT))).await;
        assert_eq!(
            (last_state(&events).as_str(), joined_text_response(&events).as_str()),
            ("completed", "There is nothing.")
        );
        let told = case.desk.model_messages(asked);
        assert_eq!(told.len(), 2, "the prompt and the question: {told:#?}");
        let first = case.desk.model.requests()[asked].body.to_string();
        let known = [case.review["id"].as_str().unwrap(), "secret", "It waits for you."];
        assert!(known.iter().all(|word| !first.contains(word)), "{first}");
        assert_eq!(case.desk.tool_result(asked + 1, "c1")["artifacts"], json!([]));
        for call in ["c2", "c3", "c4"] {
            let result = case.desk.tool_result(asked + 1, call).to_string();
            assert!(!result.contains("secret") && !result.contains("recommend"), "{result}");
        }
        assert_eq!(statuses_with_references(&events), [] as [Value; 0]);
        case.assert_open().await;

        // For its owner, everything still exists.
        case.desk.queue_tool_calls(&[("c1", "artifact_list", json!({}))]);
        case.desk.queue_text("A plan.");
        case.helper(0)
            .stream_message(&text_message("Which artifacts are there?").in_context(&json!(CONTEXT)))
            .await;
        let listed = case.desk.tool_result(asked + 3, "c1").to_string();
        assert!(listed.contains("plan.md") && listed.contains("risk.json"), "{listed}");
        let told = case.desk.model_messages(asked + 2);
        assert!(!format!("{told:?}").contains("What is there?"), "{told:#?}");
    }
}

/// Proves X6, D5: a caller cannot answer an open question of another caller in the same context, neither by
/// a plain yes, nor by data that fits, nor by naming its task.
#[tokio::test]
async fn another_caller_does_not_answer_an_open_question() {
    for (tenant, user) in OTHERS {
        let case = Case::with(tenant, user).await;
        let names = json!([case.review["id"]]);
        for reply in [
            text_message("yes"),
            data_message(json!({ "confirmed": true })),
            text_message("yes").with_field("referenceTaskIds", names),
        ] {
            case.desk.queue_text("I do not know what you mean.");
            let events = case.helper(1).stream_message(&reply.in_context(&json!(CONTEXT))).await;
            assert_eq!(joined_text_response(&events), "I do not know what you mean.");
            assert_eq!(statuses_with_references(&events), [] as [Value; 0]);
            case.assert_open().await;
        }
        let direct = data_message(json!({ "confirmed": true })).for_task(&case.review);
        not_found(case.reviews(1).send_and_wait(&direct).await);
        case.assert_open().await;

        case.desk.queue_text("Confirmed.");
        let events = case.helper(0).stream_message(&text_message("yes").in_context(&json!(CONTEXT))).await;
        assert_eq!(joined_text_response(&events), "Confirmed.");
        let review = case.reviews(0).subscribe(&case.review, Some(0)).await.read_to_end().await;
        assert_eq!(last_state(&review), "completed");
    }
}
